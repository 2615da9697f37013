# SPDX-License-Identifier: GPL-2.0-or-later
#
# Functions that all parts of make bench share. run.sh sources it, sets O, work, rounds and
# seconds, and changes into $work.
#
# shellcheck shell=bash

step() { echo "… $*" >&2; }
median() { sort -g | awk '{ v[NR] = $1 } END { print NR ? v[int((NR + 1) / 2)] : "nan" }'; }
# The minimum of many runs: other programs on the machine only add time.
least() { sort -g | head -n 1; }
# The tenth percentile of each column. Other programs slow down some of the runs; the recorder slows
# down all of them.
tenth()
{
	local all i
	all=$(cat)
	for i in $(seq "$(echo "$all" | awk 'NR == 1 { print NF ? NF : 1 }')"); do
		echo "$all" | awk -v i="$i" '{ print $i }' | sort -g |
			awk 'NF { v[++n] = $1 } END { print n ? v[int((n + 9) / 10)] : "nan" }'
	done | paste -sd' '
}
# beside_ratio WITH BEFORE AFTER: for each column, WITH divided by the mean of the others.
beside_ratio()
{
	printf '%s\n' "$@" | awk '{ for (i = 1; i <= NF; i++) v[NR, i] = $i } END {
		for (i = 1; i <= NF; i++)
			printf "%.5f%s", 2 * v[1, i] / (v[2, i] + v[3, i]), i < NF ? " " : "\n" }'
}
# The first and third quartiles.
middle() { sort -g | awk -v f="${1:-%.3f}" '{ v[NR] = $1 } END {
	printf f " … " f, v[int((NR + 3) / 4)], v[int((3 * NR + 3) / 4)] }'; }
calc() { awk "BEGIN { printf \"${2:-%.4g}\\n\", $1 }"; }
# start COMMAND…: a background job with its own process group, until stop_jobs.
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
	[[ $4 != *nan* ]] && awk "BEGIN { exit !($4) }" 2>/dev/null && met=yes
	rows+=("| $1 | $2 | $3 | $met |")
	printf '%-58s %-30s %-44s %s\n' "$1" "$2" "$3" "$met"
}

perf_record() { perf record -q -a -g "$@" >/dev/null 2>&1; }
# column N FILE…: field N of measure's output.
column() { local n=$1; shift; cat "$@" | awk -v n="$n" '{ print $n }'; }

# A load that computes, waits, makes system calls and switches. It runs until stop_jobs.
mixed_load()
{
	start "$syn/contend" 1000
	start "$syn/kload" 1000
	start "$syn/spin" 'outer>alpha:1000'
	start perf bench sched messaging -g 4 -l 1000000
}

# A turn prints one line for each slice of a load: its CPU time, which excludes other programs, and
# possibly more columns. The result of a turn is the tenth percentile of each column. A turn with a
# recorder is divided by the mean of the turns before and after it, which run without one. The
# result is the median of these ratios.

# The nanoseconds for which a process has run.
cpu_ns() { cat "/proc/$1/task"/*/schedstat 2>/dev/null | awk '{ ns += $1 } END { printf "%.0f\n", ns }'; }

# Wait until a recorder is idle after its start; status 1 if it ended.
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

# beside TURN NAME COMMAND…: one turn with this recorder and one without. Appends the ratio
# to ratio_NAME, and the recorder's share of all CPUs to share_NAME. Status 1 if the
# recorder does not run here.
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
	# ext4 creates files slowly where many were deleted in the last minutes.
	[ ! -e RUN.er ] || mv RUN.er "kept.$((kept++)).er"
	rm -f RUN.data*
	without=$($turn | tenth)
	[ $status = 0 ] || return 1
	beside_ratio "$with" "$before" "$without" >>"ratio_$name"
	echo "$used" >>"share_$name"
}
kept=0

# in_turn TURN ROUNDS LIST: measure several recorders in turn. LIST prints lines "NAME
# COMMAND…"; each command records the whole system until SIGINT, into RUN.er or RUN.data.
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

# empty_program SECTION: build empty.o, a BPF program that does nothing, for $bench/attach.
empty_program()
{
	clang -O2 -g -target bpf -I"/usr/include/$(uname -m)-linux-gnu" -x c -c - -o empty.o <<END
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
char LICENSE[] SEC("license") = "GPL";
SEC("$1") int bench_empty(void *ctx) { return 0; }
END
}
