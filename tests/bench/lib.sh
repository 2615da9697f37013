# SPDX-License-Identifier: GPL-2.0-or-later
#
# What all parts of make bench share; sourced by run.sh, which sets O, work,
# rounds and seconds and changes into $work.
# shellcheck shell=bash

step() { echo "… $*" >&2; }
median() { sort -g | awk '{ v[NR] = $1 } END { print NR ? v[int((NR + 1) / 2)] : "nan" }'; }
# What others on the machine take comes on top; the least of many runs has least of it.
least() { sort -g | head -n 1; }
# What only one in ten undercuts: others on the machine are in the slow ones, the recorder in all.
tenth() { sort -g | awk '{ v[NR] = $1 } END { print NR ? v[int((NR + 9) / 10)] : "nan" }'; }
# The middle half: from … to …
middle() { sort -g | awk -v f="${1:-%.3f}" '{ v[NR] = $1 } END {
	printf f " … " f, v[int((NR + 3) / 4)], v[int((3 * NR + 3) / 4)] }'; }
calc() { awk "BEGIN { printf \"${2:-%.4g}\\n\", $1 }"; }
# start COMMAND…: a background job with a process group of its own, until stop_jobs.
start() { setsid "$@" >/dev/null 2>&1 & jobs+=($!); }
stop_jobs()
{
	local j
	for j in "${jobs[@]:-}"; do [ -z "$j" ] || kill -- "-$j" 2>/dev/null; done
	[ ${#jobs[@]} = 0 ] || wait "${jobs[@]}" 2>/dev/null
	jobs=()
}

rows=()
# row WHAT TARGET MEASURED CONDITION
row()
{
	local met=no
	awk "BEGIN { exit !($4) }" 2>/dev/null && met=yes
	rows+=("| $1 | $2 | $3 | $met |")
	printf '%-58s %-30s %-44s %s\n' "$1" "$2" "$3" "$met"
}

perf_record() { perf record -q -a -g "$@" >/dev/null 2>&1; }
# column N FILE…: field N of what measure wrote.
column() { local n=$1; shift; cat "$@" | awk -v n="$n" '{ print $n }'; }

# Something that computes, waits, makes system calls and switches; until stop_jobs.
mixed_load()
{
	start "$syn/contend" 1000
	start "$syn/kload" 1000
	start "$syn/spin" 'outer>alpha:1000'
	start perf bench sched messaging -g 4 -l 1000000
}

# --- A load without and with each recorder, in turn ---
#
# A turn prints what slices of a load took, in CPU time: what others on the machine take
# is not in it. Of a turn the tenth percentile counts, of a turn with a recorder its ratio to
# the mean of those before and after it, which have none, and of these ratios the median.

# Nanoseconds that a process has been on a CPU.
cpu_ns() { cat "/proc/$1/task"/*/schedstat 2>/dev/null | awk '{ ns += $1 } END { printf "%.0f\n", ns }'; }

# A recorder is ready when it has come to rest; 1 if it ended.
come_to_rest()
{
	local before now i
	before=$(cpu_ns "$1")
	for i in $(seq 40); do
		sleep 0.3
		kill -0 "$1" 2>/dev/null || return 1
		now=$(cpu_ns "$1")
		[ $((now - before)) -gt 6000000 ] || return 0
		before=$now
	done
}

stop_recorder()
{
	local i
	kill -INT "$1" 2>/dev/null
	for i in $(seq 100); do kill -0 "$1" 2>/dev/null || break; sleep 0.1; done
	kill -KILL "$1" 2>/dev/null
	wait "$1" 2>/dev/null
}

# beside TURN NAME COMMAND…: one turn with this recorder and one without. Into ratio_NAME goes
# the ratio, into share_NAME the part of all CPUs that the recorder used; 1 if it does not run here.
beside()
{
	local turn=$1 name=$2 pid with before=$without from used status=0
	shift 2
	"$@" >recorder.out 2>recorder.err &
	pid=$!
	if come_to_rest $pid; then
		from=$(date +%s%N) used=$(cpu_ns $pid)
		with=$($turn | tenth)
		used=$(($(cpu_ns $pid) - used))
		used=$(calc "$used / ($(date +%s%N) - $from) / $(nproc)" %.6f)
	fi
	if ! kill -0 $pid 2>/dev/null; then
		echo "bench: $name ended early: $(tail -n 1 recorder.err)" >&2
		status=1
	fi
	stop_recorder $pid
	# ext4 is slow to make files where many were deleted in the last minutes.
	[ ! -e RUN.er ] || mv RUN.er "kept.$((kept++)).er"
	rm -f RUN.data*
	without=$($turn | tenth)
	[ $status = 0 ] || return 1
	calc "2 * $with / ($before + $without)" %.5f >>"ratio_$name"
	echo "$used" >>"share_$name"
}
kept=0

# in_turn TURN ROUNDS LIST: LIST prints lines of NAME COMMAND…, each of which records the whole
# system until SIGINT, into RUN.er or RUN.data.
in_turn()
{
	local turn=$1 i name command left=" "
	$turn >/dev/null
	without=$($turn | tenth)
	for i in $(seq "$2"); do
		while read -r name command; do
			case $left in *" $name "*) continue ;; esac
			# shellcheck disable=SC2086
			beside "$turn" "$name" $command || left="$left$name "
		done < <($3)
	done
}

# empty_program SECTION: empty.o, with a program that does nothing, for $bench/attach.
empty_program()
{
	clang -O2 -g -target bpf -I"/usr/include/$(uname -m)-linux-gnu" -x c -c - -o empty.o <<END
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
char LICENSE[] SEC("license") = "GPL";
SEC("$1") int bench_empty(void *ctx) { return 0; }
END
}
