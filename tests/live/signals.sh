#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Signals end a recording cleanly, with and without a load. The experiment is always closed.
. "$(dirname "$0")/../lib/live.sh"

# A background job of sh ignores SIGINT; er_kernel must still end by it.
ended_by()
{
	local name=$1 signal=$2
	shift 2
	env --default-signal=INT,QUIT "$er_kernel" -o "$signal.er" -p high "$@" >out 2>err &
	local pid=$!
	until [ -s "$signal.er/log.xml" ] || ! kill -0 $pid 2>/dev/null; do sleep 0.05; done
	sleep 0.7
	kill -"$signal" $pid
	wait $pid
	local status=$?
	grep -q 'kind="exit"' "$signal.er/log.xml" &&
		ok "$name closes the experiment" || not_ok "$name closes the experiment" "$(cat err)"
	"$er_print" -header full "$signal.er" 2>&1 | grep -qi 'not closed' &&
		not_ok "$name: the header reports no trouble" || ok "$name: the header reports no trouble"
	check_that "$name: nothing but the last line is printed where there is no terminal" "$(grep -c . out) <= 5" "$(cat out)"
	rm -rf "$signal.er"
	return $status
}

for signal in INT TERM QUIT; do
	ended_by "SIG$signal" $signal
	check_that "SIG$signal: status 0" "$? == 0" "$(cat err)"
done
# 16 is STKFLT, a name that dash's kill does not know.
for signal in HUP USR1 USR2 ALRM VTALRM PROF IO PWR 16 XCPU RTMIN RTMAX; do
	ended_by "SIG$signal" $signal
	check_that "SIG$signal: status 0, and is named" "$? == 0 && $(grep -c 'signal [0-9]* came' err) == 1" \
		"$(cat err)"
done
# A signal that the caller ignored stays ignored.
env --ignore-signal=USR1 "$er_kernel" -o ignored.er -t 1 >out 2>err &
pid=$!
until [ -s ignored.er/log.xml ] || ! kill -0 $pid 2>/dev/null; do sleep 0.05; done
kill -USR1 $pid
wait $pid
status=$?
check_that "an ignored signal stays ignored" "$(grep -c came err) == 0 && $status == 0" "$(cat err)"
ended_by "SIGINT with a load" INT -- sleep 3
ended_by "SIGTERM with a load" TERM -- sleep 3
