#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Threads that know which states they are in (tests/synprog/states.c), compared with what was
# recorded: the exact times (threads.xml.gz), er_print's and gprofng's display of them, and the stacks.
# Repeated with each method of capturing stacks of waits that this kernel allows.
# Time limit: 400 s
. "$(dirname "$0")/../lib/live.sh"

# A disk of our own if we may mount one; otherwise a directory on an existing disk.
disk=$tmp
if mount_own_disk; then
	disk=$tmp/mnt
	on_exit=unmount_own_disk
fi

# observe EXPERIMENT KINDS OPTIONS…: record while `states` runs all kinds to their end and parks.
# Its output goes to `out`, with one line for each thread to `truths`.
observe()
{
	local exp=$1 kinds=$2 recorder pid status
	shift 2
	"$er_kernel" -o "$exp" -F on -q 0 "$@" >record.out 2>record.err &
	recorder=$!
	until [ -s "$exp/recorder.xml" ]; do
		kill -0 $recorder 2>/dev/null || { wait $recorder; return 1; }
		sleep 0.05
	done
	rm -f hold && mkfifo hold
	: >out
	"$syn/states" -d "$disk" -p $kinds <hold >out 2>&1 &
	pid=$!
	exec 3>hold
	until grep -q '^parked' out || ! kill -0 $pid 2>/dev/null; do sleep 0.1; done
	kill -INT $recorder 2>/dev/null
	wait $recorder
	status=$?
	exec 3>&-
	wait $pid
	[ $status = 0 ] || return 1
	grep '^thread' out >truths
	pids=$(awk -F'\t' '$1 == "thread" { print $3 }' out | sort -u | tr '\n' ' ')
	[ -s truths ]
}

# thread_times EXPERIMENT: a line with the names of the columns, then a line for each thread, in
# seconds. The columns are its time in each state and `all`, their sum. `moved` is the part of its
# sleep that schedstat counts as waiting for a CPU because the scheduler moved it (bpf/edge.bpf.h).
# `stolen` is the part of its wait in which it had a CPU that was stolen.
thread_times()
{
	echo tid all run user system tfault dfault kfault lock sleep wait stop moved stolen
	query 'tid (end-begin)/1e9 run/1e9 user/1e9 system/1e9 tfault/1e9 dfault/1e9 kfault/1e9
		lock/1e9 sleep/1e9 wait/1e9 stop/1e9 moved/1e9 stolen/1e9 from thread' "$1"
}

# The state that a kind must be in, as a column of thread_times.
column_of()
{
	case $1 in
	tfault | dfault | stop) echo $1 ;;
	futex | mutex) echo lock ;;
	runq) echo wait ;;
	*) echo sleep ;;
	esac
}

# judge NAME CONDITION-OF-AWK: the times of every thread must satisfy the condition. The workload's figures are
# the variables kind pid tid peer must wall cpu user system runq; the recorded times are r["all"] …
# r["stolen"].
judge()
{
	local name=$1 condition=$2 wrong
	wrong=$(awk -F'\t' -v state="$(awk -F'\t' '{ print $2 }' truths | sort -u |
			while read -r k; do echo "$k $(column_of "$k")"; done | tr '\n' ' ')" '
		function abs(x) { return x < 0 ? -x : x }
		function near(a, b, share, room) { return abs(a - b) <= share * b || abs(a - b) <= room }
		BEGIN { n = split(state, s, " "); for (i = 1; i < n; i += 2) at[s[i]] = s[i + 1] }
		FILENAME == "times" && FNR == 1 { columns = split($0, column, " "); next }
		FILENAME == "times" { split($0, f, " "); row[f[1]] = $0; next }
		{ split(row[$4], f, " "); for (i = 1; i <= columns; i++) r[column[i]] = f[i]
		  kind = $2; pid = $3; peer = $5; must = $6; wall = $7
		  cpu = $8; user = $9; sys = $10; runq = $11; named = r[at[kind]]
		  sum = r["run"] + r["tfault"] + r["dfault"] + r["kfault"]
		  sum += r["lock"] + r["sleep"] + r["wait"] + r["stop"]
		  if (!('"$condition"')) print $0 " | " row[$4] }' times truths) || wrong="the condition cannot be judged: $condition $wrong"
	[ -z "$wrong" ] && ok "$name" || not_ok "$name" "truth: kind pid tid peer must wall cpu user system runq | $(head -n 1 times)
$wrong"
}

# exact EXPERIMENT NAME: every thread's times must equal the kernel's figures.
exact()
{
	thread_times "$1" >times
	judge "$2: each thread is there" 'r["tid"] > 0'
	judge "$2: the states add up to the time in the recording" 'near(sum, r["all"], 0.001, 0.000001)'
	judge "$2: time on a CPU is schedstat's" 'near(r["run"], cpu, 0.005, 0.001)'
	judge "$2: time waiting for a CPU is schedstat's and stolen time" \
		'near(r["wait"] - r["stolen"] + r["moved"], runq, 0.005, 0.001)'
	# The program counts stolen time as part of its state. It also counts the time from a wake-up until the thread is
	# in a run queue: 0.3 ms in 3 s of many waits.
	judge "$2: the named state has 98 % of the time that it must" \
		'kind == "runq" ? near(named - r["stolen"] + r["moved"], runq, 0.005, 0.001) : named + r["stolen"] >= 0.98 * must - 0.001'
	judge "$2: and no more" \
		'kind ~ /^(runq|futex|mutex|flock|klock|child)$/ || named <= 1.02 * must + 0.02 + r["moved"]'
	judge "$2: and none is in a fault or stopped that should not be" \
		'r["kfault"] + (kind == "tfault" ? 0 : r["tfault"]) + (kind == "dfault" ? 0 : r["dfault"]) + (kind == "stop" ? 0 : r["stop"]) <= 0.02 * wall + 0.02'
}

# stacks_1_3 EXPERIMENT NAME: function A waits for one millisecond and B for three, in turn. The
# sampled stacks must show this ratio within four standard errors. There is one sample in each
# distance of the sample points, and the recorder may have increased that distance.
stacks_1_3()
{
	local a b p distance
	distance=$(query 'widest_ns/1e9 from capture' "$1")
	a=$(seconds_of alternate_a i.sleep "$1") b=$(seconds_of alternate_b i.sleep "$1")
	p=$(awk -v a="$(truth out part_a)" -v b="$(truth out part_b)" 'BEGIN { print a / (a + b) }')
	check_that "$2: two alternating waits: stacks in proportion to their lengths" \
		"$a > 0 && $b > 0 && ($a / ($a + $b) - $p)^2 <= 16 * $p * (1 - $p) * $distance / ($a + $b)" \
		"got $a and $b, of A must be $p of $(truth out part_a) + $(truth out part_b)"
}

plain='sleep:3 futex:3 alternate:3 pipe:3 event:3 net:3 epoll:3 timeout:3 mutex:3 flock:3 klock:3 child:3 stop:3'
loads='disk:3 fsync:3 dfault:3 tfault:3 runq:3 runq:3 runq:3'
if ! observe all.er "$plain $loads" -p high; then
	not_ok "records" "$(cat record.err out)"
	exit 1
fi
exact all.er "1 ms"
stacks_1_3 all.er "1 ms"

# User and system time. If getrusage itself counts the timer's ticks, both figures are estimates;
# then four times the error of that many ticks is allowed as well.
hz=$( (zcat /proc/config.gz || cat "/boot/config-$(uname -r)") 2>/dev/null | sed -n 's/^CONFIG_HZ=//p')
"$er_print" -printmode csv -microstates threads all.er 2>/dev/null >microstates.csv
awk -F'\t' '{ print $4, $9, $10 }' truths >usage
wrong=$(perl -e '
	my $hz = shift;
	open T, "<", "usage"; my %t = map { my @f = split; $f[0] => [@f[1, 2]] } <T>;
	open C, "<", "microstates.csv"; my @head; my ($seen, $bad) = (0, "");
	while (<C>) {
		my @f = split /,/;
		if (/^Total/) { @head = @f; next }
		my ($tid) = /TID (\d+)/ or next;
		my $t = $t{$tid} or next;
		my %r; @r{@head} = @f; $seen++;
		my ($u, $s) = @$t;
		next if ($u + $s) * $hz < 25; # with so few ticks, which may keep step with timers, no conclusion is possible
		my $room = 4 * sqrt(($u + $s) / 4 * (1 / $hz + 0.001)); # whatever the share
		for (["User CPU (sec.)", $u], ["System CPU (sec.)", $s]) {
			my ($got, $want) = ($r{$$_[0]} || 0, $$_[1]);
			my $off = abs($got - $want);
			$bad .= "$tid $$_[0]: got $got, getrusage $want\n" if $off > 0.03 * $want && $off > 0.02 + $room;
		}
	}
	print "$seen threads only\n" if $seen < keys %t;
	print $bad' "${hz:-100}") || wrong="it cannot be judged: $wrong"
[ -z "$wrong" ] && ok "user and system are getrusage's" || not_ok "user and system are getrusage's" "$wrong"

# gprofng's own display of all ten states, one thread on each row.
if command -v gprofng >/dev/null; then
	ten=e.user:e.system:e.trap:e.textpfault:e.datapfault:e.kernelpfault:e.lock:e.sleep:e.wait:e.stop
	sub=all.er/$(experiment_of "$(pid_of out)" all.er)
	rows() { grep '^"[0-9.]' | sed 's/,"[^"]*"$//' | sort; }
	gprofng_text -printmode , -metrics $ten:name -threads "$sub" 2>/dev/null | rows >theirs
	"$er_print" -printmode , -metrics $ten:name -threads "$sub" 2>/dev/null | rows >ours
	check_that "gprofng shows the ten states of each thread" "$(wc -l <theirs) >= $(wc -l <truths) - 3" \
		"$(cat theirs)"
	cmp -s theirs ours && ok "gprofng's ten states are er_print's" || not_ok "gprofng's ten states are er_print's" "$(diff theirs ours)"
else
	skip "gprofng shows the ten states" "it is not installed"
fi

# The default interval, and each stack method.
for way in best sched_exit_tp finish_task_switch switch-out none; do
	if ! observe $way.er "sleep:2 futex:2 alternate:4 pipe:2 mutex:2 stop:2 runq:2 runq:2 runq:2" \
		--wait-stacks $way; then
		grep -qiE 'not allow|needs|does not|cannot' record.err && skip "$way" "$(head -n 1 record.err)" ||
			not_ok "$way: records" "$(cat record.err out)"
		continue
	fi
	exact $way.er $way
	[ $way = none ] || stacks_1_3 $way.er $way
	[ $way = best ] || "$er_print" -header full $way.er | grep -q "$way" && ok "$way: the header names it" ||
		not_ok "$way: the header names it" "$("$er_print" -header full $way.er)"
done
