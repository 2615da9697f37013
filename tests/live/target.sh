#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# -T: one thread, one process, one kernel thread; and a target that is not there.
. "$(dirname "$0")/../lib/live.sh"

"$syn/spin" -t 2 alpha:30 >/dev/null &
spin=$!
"$syn/spin" beta:30 >/dev/null &
other=$!
on_exit=stop_load
stop_load() { kill $spin $other 2>/dev/null; }
wait_threads $spin 2
thread=$(ls "/proc/$spin/task" | sort -n | tail -n1)

begin=$(date +%s.%N) before=$(cpu_of $spin/task/$thread)
must_record thread.er -p high -t 2 -T "$spin/$thread"
after=$(cpu_of $spin/task/$thread) outer=$(awk "BEGIN { print $(date +%s.%N) - $begin }")
# The window of the recording lies inside the one measured around it, in which
# the kernel says how long the thread ran; one it was not in is startup and end.
pids=$spin
got=$(seconds_of alpha i.totalcpu thread.er)
span=$(event_time thread.er exit)
check_that "-T pid/tid records that thread: not more than it ran" "$got <= $after - $before + 0.02" \
	"got $got of $after - $before"
check_that "and not less, but for the time around the recording" \
	"$got >= ($after - $before) - ($outer - $span) - 0.05 && $got > 0.01" \
	"got $got of $after - $before, $span s of $outer"
check_that "and no other thread" \
	"$(clock_packets_all thread.er | awk '{ t[$4]++ } END { for (k in t) n++; print n + 0 }') == 1"

must_record process.er -p high -t 2 -T "$spin"
check_that "-T pid records all its threads" \
	"$(clock_packets_all process.er | awk '{ t[$4]++ } END { for (k in t) n++; print n + 0 }') == 2"
check_that "and no other process" "$(pids=$other; seconds_of beta i.totalcpu process.er) == 0"

# It ends, and its process after it, in the middle of the recording.
"$syn/spin" -t 2 alpha:1.5 >ends.out &
short=$!
wait_threads $short 2
ending=$(ls "/proc/$short/task" | sort -n | tail -n1)
must_record ends.er -p high -t 3 -T "$short/$ending"
wait $short
check_that "a thread that ends during the run: what it ran is there" \
	"$(clock_packets_all ends.er | awk -v t="$ending" '$4 == t' | wc -l) >= 10"
check "and the experiment is closed" grep -q 'kind="exit"' ends.er/log.xml

kthread=$(awk '$2 ~ /ksoftirqd\/0|rcu_/ { print $1; exit }' /proc/[0-9]*/stat)
record kthread.er -p high -t 1 -T "0/$kthread"
check "-T 0/kthread runs" "$er_print" -header kthread.er
check_that "and records nobody else" \
	"$(clock_packets_all kthread.er | awk -v k="$kthread" '$4 != k' | wc -l) == 0"

refused() # NAME TARGET
{
	record none.er -t 1 -T "$2"
	local status=$?
	[ $status != 0 ] && [ "$(wc -l <record.err)" = 1 ] && [ ! -e none.er ] &&
		ok "$1" || not_ok "$1" "status $status: $(cat record.err; ls -d none.er 2>&1)"
}
sh -c : &
dead=$!
wait $dead
refused "a process that has gone" $dead
refused "a thread of another process" "$spin/$other"
refused "a process as a kernel thread" "0/$spin"
refused "not a number" abc
