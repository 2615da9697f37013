#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# -T: one thread, one process, one kernel thread; and a target that does not exist.
. "$(dirname "$0")/../lib/live.sh"

"$syn/spin" -t 2 alpha:30 >/dev/null &
spin=$!
"$syn/spin" beta:30 >/dev/null &
other=$!
on_exit=stop_load
watch=
stop_load() { kill $spin $other $watch 2>/dev/null; }
wait_threads $spin 2
thread=$(ls "/proc/$spin/task" | sort -n | tail -n1)

"$syn/cpuwatch" "$spin/task/$thread" >watched &
watch=$!
must_record thread.er -p high -t 2 -T "$spin/$thread"
sleep 0.1
kill $watch
# The kernel's figures are read every 10 ms. They are exact to a tick at both ends, and the first
# packet comes an interval after the beginning.
pids=$spin
got=$(seconds_of alpha i.totalcpu thread.er)
read -r least most <<END
$(ran_between watched $(recorded_from_to thread.er "$thread"))
END
check_that "-T pid/tid: the thread's CPU time is recorded exactly" \
	"$got >= $least - 0.02 && $got <= $most + 0.02 + 0.01 * $most && $most > 0" \
	"got $got, ran $least to $most"
check_that "-T pid/tid records no other thread" \
	"$(query 'distinct(THRID) from packets where ON_CPU' thread.er) == 1"

must_record process.er -p high -t 2 -T "$spin"
check_that "-T pid records all its threads" \
	"$(query 'distinct(THRID) from packets where ON_CPU' process.er) == 2"
check_that "-T pid records no other process" "$(pids=$other; seconds_of beta i.totalcpu process.er) == 0"

# Statistics: the times of the two threads only.
got=$("$er_print" -statistics process.er 2>/dev/null | sed -n 's/^Total Thread Time.*: *//p')
want=$("$er_print" -printmode , -metrics e.total:name -functions process.er 2>/dev/null |
	awk -F'","' '$2 ~ /^<Total>/ { gsub(/"/, "", $1); print $1; exit }')
check_that "statistics are those of the targets" "$want > 0 && (${got:-0} - $want)^2 <= (0.01 * $want + 0.01)^2" \
	"statistics $got, packets $want"

# The thread ends in the middle of the recording; then its process ends. Until the recording has
# begun it is stopped, so that it cannot end before.
"$syn/spin" -t 2 alpha:1.5 >ends.out &
short=$!
wait_threads $short 2
kill -STOP $short
ending=$(ls "/proc/$short/task" | sort -n | tail -n1)
before=$(cpu_of "$short/task/$ending")
"$er_kernel" -o ends.er -p high -T "$short/$ending" >record.out 2>record.err &
recorder=$!
until grep -qs 'label="start"' ends.er/log.xml || ! kill -0 $recorder 2>/dev/null; do sleep 0.05; done
kill -CONT $short
wait $short
wait $recorder
check_that "the recording of a thread ends with it" \
	"$? == 0 && $(grep -cx "er_kernel: thread $short/$ending has ended" record.err) == 1" "$(cat record.err)"
want=$(awk "BEGIN { print $(truth ends.out "thread:$ending") - $before }")
got=$(query "sum(NTICK/1e6) from packets where ON_CPU && THRID == $ending" ends.er)
check_that "a thread that ends during the run: its CPU time is recorded" \
	"($got - $want)^2 <= (0.01 * $want + 0.01)^2 && $want > 0.5" "got $got of $want"
check "-T: the experiment is closed when the thread has ended" grep -q 'kind="exit"' ends.er/log.xml

# A process may end while the list is read. awk stops at a file that has disappeared.
kthread=$(cat /proc/[0-9]*/stat 2>/dev/null | awk '$2 ~ /ksoftirqd\/0|rcu_/ { print $1; exit }')
record kthread.er -p high -t 1 -T "0/$kthread"
check "-T 0/kthread runs" "$er_print" -header full kthread.er
check_that "-T 0/kthread records no other thread" \
	"$(query "count() from packets where ON_CPU && THRID != $kthread" kthread.er) == 0"

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
refused "a process that has ended" $dead
refused "a thread of another process" "$spin/$other"
refused "a process as a kernel thread" "0/$spin"
refused "a kernel thread as a process" "$kthread"
refused "not a number" abc
