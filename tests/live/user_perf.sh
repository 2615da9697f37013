#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# collect by plain perf events, started by a user without privileges: it attaches to that user's processes,
# counts events of user mode, and samples more often than the kernel ticks. CPU time is what the kernel counted.
. "$(dirname "$0")/../lib/live.sh"
. "$top/tests/lib/as_user.sh" || exit 1

level=/proc/sys/kernel/perf_event_paranoid
before=$(cat $level)
restore() { echo "$before" >$level; }
on_exit=restore
echo 2 >$level || skip_all "kernel.perf_event_paranoid cannot be set"

# Wait until the command succeeds, half a minute at most.
until_true()
{
	local tries=0

	until "$@" || [ $((tries += 1)) -gt 600 ]; do sleep 0.05; done
}

# attach NAME OPTIONS -- COMMAND…: start the command, which waits until collect is attached to it. Its output is in
# NAME.out, the experiment is NAME.er.
attach()
{
	local name=$1 options= target
	shift
	while [ "$1" != -- ]; do options="$options $1"; shift; done
	shift
	as_user sh -c 'echo $$ >"$0"; until [ -e "$0.go" ]; do kill -STOP $$; done; exec "$@"' "$tmp/$name.pid" "$@" >"$name.out" 2>&1 &
	until_true [ -s "$name.pid" ]
	target=$(cat "$name.pid")
	as_user timeout 300 "$collect" $options -P "$target" -o "$name.er" >"$name.said" 2>"$name.err" &
	collector=$!
	until_true [ -e "$name.er/recorder.xml" ] # it is written when recording has begun
	earlier=$(awk '{ print $1 / 1e9 }' "/proc/$target/schedstat")
	: >"$name.pid.go"
	until ! kill -CONT "$target" 2>/dev/null || ! grep -qs '^State:.T' "/proc/$target/status"; do sleep 0.05; done
	wait $collector
	status=$?
}

# true_cpu NAME EXPERIMENT SECONDS [ENDS [OTHERS]]: within half a percent. The program's own figure lacks its end, and has what
# its process used before the recording: $earlier, or, if collect starts it, what its fork took. ENDS: seconds in the
# kernel of processes that end. Some of them are for giving their memory back, and newer kernels have stopped their perf
# events by then. OTHERS: seconds of processes that are not in SECONDS.
true_cpu()
{
	local got want
	got=$(metric "$2" e.totalcpu '<Total>') want=$(awk "BEGIN { print $3 - ${earlier:-0} }")
	check_that "$1: CPU time is what getrusage says" \
		"$got >= 0.995 * $want - ${earlier:+0.002 + 0*}0.015 - ${4:-0} && $got <= 1.005 * $want + 0.015 + ${5:-0} && $want > 0" \
		"$got, rusage $3, of which ${earlier:-0} before the recording"
}

attach spin -- "$syn/spin" -t 2 'outer>alpha:0.6' beta:0.6
check_that "-P: collect's status is 0" "$status == 0" "$status; $(cat spin.err)"
check_that "-P: it says in one sentence what is missing" \
	"$(wc -l <spin.err) == 1 && $(grep -c 'user stacks of user mode; waits and kernel stacks are missing.*setcap' spin.err) == 1" \
	"$(cat spin.err)"
true_cpu -P spin.er "$(truth spin.out cpu)"
for name in alpha beta; do
	got=$(metric spin.er i.totalcpu $name)
	want=$(truth spin.out $name)
	# Time in the kernel has no function, and a sample's share may be the next function's.
	check_that "-P: $name has its time" "$got >= 0.85 * $want - 0.05 && $got <= $want + 0.1" "$got of $want"
done
got=$(metric spin.er i.totalcpu _start)
check_that "-P: stacks of programs without frame pointers reach _start" "$got >= 0.45" "$got"
check_that "-P: the header says how it was recorded" \
	"$("$er_print" -header spin.er | grep -c 'task-clock event of each thread') == 1" "$("$er_print" -header spin.er)"

attach system -- "$syn/sysload" zero:0.5
true_cpu system system.er "$(truth system.out cpu)"
got=$(metric system.er e.system '<Unsampled-CPU>')
want=$(truth system.out system)
check_that "system: time in the kernel has no function" "$got >= 0.5 * $want && $got <= 1.05 * $want + 0.02" "$got of $want"

attach threads -- "$syn/fates" "$tmp/threads.cpu" 0.8 threads
true_cpu threads threads.er "$(truth threads.cpu cpu)"
got=$(query 'distinct(THRID) from packets where ON_CPU' threads.er)
check_that "threads: each of 40 short threads is recorded" "$got >= 40" "$got"

attach many -- "$syn/many" 150 4 5
true_cpu many many.er "$(awk '/cpu/ { s += $2 } END { print s }' many.out)" "$(truth many.out children-system)"

# A target that goes on is left as it was.
as_user sh -c 'echo $$ >"$0"; exec "$@"' "$tmp/target" "$syn/spin" alpha:1000 >/dev/null &
until_true [ -s target ]
target=$(cat target)
until_true grep -qs spin "/proc/$target/comm"
as_user timeout 300 "$collect" -t 0.5 -P $target -o part.er 2>part.err
status=$?
check_that "-t: the target goes on" "$status == 0 && $(kill -0 $target && echo 1) == 1" "$(cat part.err)"
got=$(metric part.er e.totalcpu '<Total>')
check_that "-t: only that time is recorded" "$got > 0 && $got <= 0.75" "$got"
as_user timeout 300 "$collect" -y USR1 -t 1 -P $target -o paused.er 2>paused.err
got=$("$er_print" -printmode , -metrics e.totalcpu:name -functions paused.er 2>&1 | csv_rows | awk -F'\t' '$2 == "<Total>" { print $1 }')
check_that "-y: nothing of a pause is recorded" "${got:-0} == 0" "$got $(cat paused.err)"
kill $target
wait $! 2>/dev/null

# Programs that collect starts.
earlier=
as_user timeout 300 "$collect" -p 1 -o often.er "$syn/spin" 'outer>alpha:0.6' >often.out 2>often.err
true_cpu "-p 1" often.er "$(truth often.out cpu)"
got=$(query 'count() from packets where ON_CPU' often.er)
check_that "-p 1: samples are closer than the kernel's ticks allow a timer" "$got >= 300" "$got"
check_that "-p 1: nothing is said of ticks" "$(grep -c tick often.err) == 0" "$(cat often.err)"

touch spins && chmod 666 spins
cat >family.sh <<END
"$syn/spin" alpha:0.3 >>spins
sh -c '"$syn/spin" beta:0.3 >>spins; exit 0'
"$syn/spin" beta:0.3 >>spins &
exit 3
END
as_user timeout 300 "$collect" -p 1 -o family.er sh family.sh 2>family.err
status=$?
check_that "family: the status is the founder's" "$status == 3" "$status; $(cat family.err)"
"$er_print" -experiment_list family.er >list
for part in _f1_x1 _f2_x1_f1_x1 _f3_x1; do
	check_that "family: $part is there" "$(grep -c "family.er/$part.er\$" list) == 1" "$(cat list)"
done
true_cpu family family.er "$(truth spins cpu)" 0 0.05 # of the shells
as_user timeout 300 "$collect" -p 1 -F off -o off.er sh family.sh 2>off.err
until_true [ "$(grep -c '^cpu' spins)" = 6 ]
check_that "-F off: no descendant is recorded" "$(metric off.er i.totalcpu alpha) == 0" "$(cat off.err)"

# The heap, by the library, as the program counts it itself.
as_user timeout 300 "$collect" -H on -o heap.er "$syn/heap" >heap.out 2>heap.err
for f in before_main leak churn grow zeroed aligned map; do
	for what in allocs bytes leaks leaked; do
		awk -F'\t' -v n="$f.$what" '$1 == n { printf "%d ", $2 }' heap.out
	done | sed "s/^/$f /; s/ \$/\n/"
done >expected
"$er_print" -metrics e.heapalloccnt:e.heapallocbytes:e.heapleakcnt:e.heapleakbytes:name -functions heap.er 2>&1 |
	awk 'NF == 5 { print $5, $1, $2, $3, $4 }' >rows
check_that "-H: allocations and leaks by function" "$(grep -cxFf expected rows) == 7" "$(cat expected rows heap.err)"
as_user timeout 300 "$collect" -p off -H on -o heaponly.er "$syn/heap" >heap.out 2>heap.err
check_that "-H -p off: the message does not speak of CPU time" \
	"$(grep -c 'without privileges: waits' heap.err) == 1 && $(wc -l <heap.err) == 1" "$(cat heap.err)"
echo 'int main(void) { return 0; }' >none.c
if gcc -static none.c -o bin/none 2>/dev/null; then
	rm -rf no.er
	as_user "$collect" -H on -o no.er bin/none 2>no.err
	check_that "-H of a static program: refused with the remedy" \
		"$? == 1 && $(grep -c 'static.*leave -H out, or run as root' no.err) == 1" "$(cat no.err)"
fi

# Counters: one page a fault, one interval of slack.
as_user timeout 300 "$collect" -h page-faults,100 -o faults.er "$syn/faults" 3000 0 >faults.out 2>faults.err
got=$("$er_print" -printmode , -metrics i+page-faults:name -functions faults.er 2>&1 | csv_rows |
	awk -F'\t' '$2 == "touch_pages" { print $1 }')
want=$(truth faults.out touch_pages)
check_that "-h: page faults are counted" "${got:-0} >= $want - 200 && ${got:-0} <= $want + 200" "$got of $want; $(cat faults.err)"
check_that "-h: no metric of the kernel's events, which are not counted" \
	"$("$er_print" -metric_list faults.er | grep -c K_page) == 0"
check_that "-h: the counter counted all the time" "$("$er_print" -header full faults.er | grep -c 'shared the unit') == 0"
attach counted -h page-faults,100 -- "$syn/faults" 3000 0
got=$("$er_print" -printmode , -metrics i+page-faults:name -functions counted.er 2>&1 | csv_rows |
	awk -F'\t' '$2 == "touch_pages" { print $1 }')
check_that "-h -P: page faults are counted" "${got:-0} >= 2800 && ${got:-0} <= 3200" "$got; $(cat counted.err)"

# A program that begins threads all the time, also while its events are opened, and for which the ring is
# too small. The kernel's count for each thread is known.
as_user sh -c 'echo $$ >"$0"; exec "$@"' "$tmp/born.pid" "$syn/born" 5 >born.out &
until_true [ -s born.pid ]
target=$(cat born.pid)
begun() { [ "$(ls "/proc/$target/task" | wc -l)" -gt 100 ]; }
until_true begun
as_user timeout 300 "$collect" -h page-faults,5 -P "$target" -o born.er 2>born.err
wait $!
want=$(awk '{ n += $2 } END { print n }' born.out)
query 'events seen from counter' born.er >counted
read -r events seen <counted
lost=$(query 'sum(lost) from counterring' born.er)
# The main thread's own are not in the list: a few for each thread that it begins.
most=$(awk "BEGIN { print $want + 10 * $(wc -l <born.out) }")
check_that "born: the kernel's count is at most that of the threads" "${events:-0} > 0 && ${events:-0} <= $most" \
	"$events of $want, at most $most"
# Each thread has an event for each CPU, whose last events make no sample.
rest=$(awk "BEGIN { print 5 * $(nproc) * $(wc -l <born.out) }")
check_that "born: what the kernel counted is recorded, counted as lost, or less than an interval" \
	"${seen:-0} + 5 * ${lost:-0} <= 1.01 * ${events:-0} && ${seen:-0} + 5 * ${lost:-0} + $rest >= ${events:-0}" \
	"$seen + 5 * $lost of $events"
check_that "born: no clock sample is said to be lost" "$(query 'sum(produced) from ring' born.er) == 0" "$(cat born.err)"

# refused WHAT TEXT ARGUMENTS…: one sentence with the remedy, and nothing is written
refused()
{
	local what=$1 text=$2
	shift 2
	rm -rf no.er
	as_user "$collect" -o no.er "$@" >no.out 2>no.err
	status=$?
	check_that "$what: refused with the remedy" \
		"$status == 1 && $(grep -c -- "$text" no.err) == 1 && $(wc -l <no.err) == 1" "$status; $(cat no.err)"
	check_that "$what: nothing is written" "$(ls -d no.er 2>/dev/null | wc -l) == 0"
}
refused "-P of another user's process" 'only a process of your own.*setcap' -P $$
refused "-P of no process" 'there is no such process' -P 4194300
refused "-h context-switches" 'happen in the kernel.*setcap' -h context-switches true
if as_user "$collect" -o cycles.er -h cycles true 2>cycles.err; then
	skip "-h cycles" "this machine has that counter"
else
	check_that "-h cycles: where there is none, a sentence says so" \
		"$(grep -c 'no such hardware counter.*that -h alone lists$' cycles.err) == 1 && $(wc -l <cycles.err) == 1" "$(cat cycles.err)"
fi
echo 3 >$level
if [ "$(cat $level)" = 3 ]; then
	refused "perf events are forbidden" 'perf_event_paranoid is 3: as root: sysctl kernel.perf_event_paranoid=2' -P $$
else
	skip "perf events are forbidden" "this kernel has no such level"
fi
echo 2 >$level
check_that "--check says what is possible" \
	"$(as_user "$collect" --check | grep -c '^yes  -P of your own processes, counters of user mode') == 1"
