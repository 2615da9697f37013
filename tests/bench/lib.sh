# SPDX-License-Identifier: GPL-2.0-or-later
#
# What all parts of make bench share; sourced by run.sh, which sets O, work,
# rounds and seconds and changes into $work.
# shellcheck shell=bash

step() { echo "… $*" >&2; }
median() { sort -g | awk '{ v[NR] = $1 } END { print NR ? v[int((NR + 1) / 2)] : "nan" }'; }
# What others on the machine take comes on top; the least of many runs has least of it.
least() { sort -g | head -n 1; }
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
