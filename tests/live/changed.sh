#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Another program cuts or removes files of an experiment while it is recorded. The recording ends
# with one sentence, and the rest can be read. If an experiment is moved, recording continues in its
# new place. er_mv refuses to move it.
. "$(dirname "$0")/../lib/live.sh"

"$syn/spin" alpha:120 >/dev/null &
load=$!
on_exit=stop_load
stop_load() { kill $load; }

# begin: record until the load has packets in a file that is mapped by then, or for a minute.
begin()
{
	local tries=600
	rm -rf x.er y.er
	"$er_kernel" -o x.er -p high -F on >record.out 2>record.err &
	recorder=$!
	while [ -z "$(find x.er/_spin*/data.frameinfo -size +2k 2>/dev/null)" ] &&
		kill -0 $recorder 2>/dev/null && [ $tries -gt 0 ]; do
		sleep 0.1
		tries=$((tries - 1))
	done
}

# finish: prints the exit status; -1 if the recorder did not end within a minute.
finish()
{
	local tries=600
	while kill -0 $recorder 2>/dev/null && [ $tries -gt 0 ]; do
		sleep 0.1
		tries=$((tries - 1))
	done
	kill -0 $recorder 2>/dev/null && kill -INT $recorder
	wait $recorder
	status=$?
	[ $tries -gt 0 ] || status="-1, after a minute and SIGINT"
}

# spoil NAME COMMAND: run the command once; `left` says whether anything can be read
spoil()
{
	begin
	sh -c "$2" >/dev/null 2>&1
	finish
	check_that "$1: ends by itself with a failure" "${status%%,*} == 1" "status $status; $(cat record.err)"
	check_that "$1: one sentence" \
		"$(wc -l <record.err) == 1 && $(grep -c 'another program removed or changed' record.err) == 1" \
		"$(cat record.err)"
	[ "$3" = nothing ] || check "$1: what is left is read" "$er_print" -header -functions x.er
}

spoil "packets cut to nothing" 'truncate -s 0 x.er/_spin*/data.frameinfo' left
spoil "packets cut in the middle" 'truncate -s 1000 x.er/_spin*/data.frameinfo' left
spoil "the kernel's packets cut" 'truncate -s 64 x.er/profile' left
spoil "the log cut" 'truncate -s 100 x.er/log.xml' left
spoil "all files cut" 'find x.er -type f | xargs truncate -s 10' left
spoil "removed" 'until rm -rf x.er && [ ! -e x.er ]; do :; done' nothing

begin
check_that "er_mv refuses" "$("${er_kernel%/*}/er_mv" x.er y.er >mv.out 2>&1; echo $?) != 0 &&
	$(grep -c 'still being recorded' mv.out) == 1" "$(cat mv.out)"
mv x.er y.er
sleep 0.5
size=$(cat y.er/_spin*/data.frameinfo | wc -c)
sleep 1
kill -INT $recorder
finish
check_that "moved: recording continues in the new place" "$status == 0 && $(grep -c 'another program' record.err) == 0 &&
	$(cat y.er/_spin*/data.frameinfo | wc -c) > $size" "status $status; $(cat record.err)"
check "moved: the experiment is complete" sh -c "'$er_print' -header full y.er >header && ! grep 'not closed' header"
