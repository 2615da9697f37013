#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# -l and -y: signals that take a usage sample, pause and resume.
. "$(dirname "$0")/../lib/live.sh"

# start EXPERIMENT ARGUMENTS…: a recorder in the background, $pid, once its experiment exists.
start()
{
	local exp=$1
	shift
	"$er_kernel" -o "$exp" "$@" >"$exp.out" 2>"$exp.err" &
	pid=$!
	until grep -qs 'label="start"' "$exp/log.xml" || ! kill -0 $pid 2>/dev/null; do sleep 0.05; done
	kill -0 $pid || { not_ok "records ($*)" "$(cat "$exp.err")"; exit 1; }
}

# Wait until the log has so many events of the kind.
await_events()
{
	local i=0
	until [ "$(grep -c "kind=\"$2\"" "$1/log.xml")" -ge "$3" ] || [ $((i += 1)) -gt 200 ]; do
		sleep 0.05
	done
}
events() { query "count() from event where kind eq '$2'" "$1"; }

# Without ,r it begins paused; each signal changes the state.
start toggled.er -p high -l USR1 -y SIGUSR2
sleep 1.2
kill -USR1 $pid
await_events toggled.er 'sample" tstamp="[0-9.]*" id="[0-9]*" label="signal' 1
kill -USR2 $pid
await_events toggled.er resume 1
sleep 1
kill -USR2 $pid
await_events toggled.er pause 2
sleep 0.5
kill -INT $pid
wait $pid
check_that "the recorder's status is 0" "$? == 0" "$(cat toggled.er.err)"
check_that "-y: the recording began paused, and two signals resumed and paused it" \
	"$(events toggled.er pause) == 2 && $(events toggled.er resume) == 1" "$(grep event toggled.er/log.xml)"
check_that "the signal took a sample, while paused" \
	"$(query 'count() from event where label eq "signal"' toggled.er) == 1" "$(grep event toggled.er/log.xml)"
resumed=$(event_time toggled.er resume) paused=$(event_time toggled.er pause)
read -r first last n <<END
$(query "min(TSTAMP) max(TSTAMP) count() from packets" toggled.er)
END
start=$(event_time toggled.er run)
"$er_print" -header toggled.er >header 2>&1
told=$(sed -n 's/^Began paused: the first \([0-9.]*\) sec. are in no .*/\1/p' header)
check_that "-y: the short header tells of the pause at the beginning" "(${told:-99} - $resumed)^2 < 0.002^2" "$(cat header)"
check_that "-y: packets are only between resume and pause" "$n > 0 && $first / 1e9 >= $start + $resumed &&
	$last / 1e9 <= $start + $paused + 0.5" "$n from $first to $last; $start + $resumed to $paused"
"$er_print" -header full toggled.er >header
check_that "the header has the time that was recorded" "$(grep -c 'Recorded for .* without the pauses' header) == 1" \
	"$(cat header)"

# With ,r it records at once. A real-time signal is queued: two of them change nothing.
start running.er -p high -y RTMIN,r
sleep 0.7
kill -STOP $pid
kill -RTMIN $pid
kill -RTMIN $pid
kill -CONT $pid
await_events running.er resume 1
kill -INT $pid
wait $pid
check_that "-y with ,r: the recording begins at once; two signals pause and resume it" \
	"$(events running.er pause) == 1 && $(events running.er resume) == 1" "$(grep event running.er/log.xml)"
check_that "-y with ,r: the first pause is not at the start" "$(event_time running.er pause) > 0.5"

# Never resumed: nothing is recorded, and the experiment says so by its pause.
start never.er -p high -y USR1
sleep 0.5
kill -INT $pid
wait $pid
check_that "never resumed: no packets, and a complete experiment" \
	"$(query 'count() from packets' never.er) == 0 && $(events never.er exit) == 1" "$(cat never.er.err)"

# The signals of the load are its own.
record load.er -l USR1 -q 0 -- sh -c 'trap "echo caught" USR1; kill -USR1 $$; echo done'
check_that "the load's signals are its own" "$(grep -c -x -e caught -e done record.out) == 2" \
	"$(cat record.out record.err)"
