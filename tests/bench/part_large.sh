# SPDX-License-Identifier: GPL-2.0-or-later
#
# Reading large experiments: large (ten million samples), callers (a million rows), stacks (with
# very many pcs), waits (a million), compare (two experiments), open (a thousand
# sub-experiments), processes (a hundred thousand). Sourced by run.sh.
#
# shellcheck shell=bash

# print_cost NAME ARGUMENTS…: run er_print `rounds` times; sets elapsed (median) and rss_mb
# (maximum).
print_cost()
{
	local name=$1 i
	shift
	for i in $(seq "$rounds"); do
		"$measure" "print_$name.$i" "$er_print" "$@" >/dev/null 2>&1
	done
	elapsed=$(column 1 "print_$name".* | median)
	rss_mb=$(calc "$(column 3 "print_$name".* | sort -g | tail -n1) / 1024" %.0f)
}

bench_large()
{
	local list
	step "10,000,000 samples"
	"$bench/gen_experiment" large.er 10000000 20000 30 >/dev/null || return
	print_cost large -functions large.er
	row "er_print -functions, 10,000,000 samples, 20,000 stacks × 30" "1.5 s, 300 MB" \
		"$(calc "$elapsed" %.3f) s, $rss_mb MB" "$elapsed <= 1.5 && $rss_mb <= 300"
	for list in callers-callees calltree threads cpus processes seconds samples objects overview header; do
		print_cost "large_$list" "-$list" large.er
		row "… -$list" "3 s, 600 MB" "$(calc "$elapsed" %.3f) s, $rss_mb MB" \
			"$elapsed <= 3 && $rss_mb <= 600"
	done
	print_cost large_filter -filters 'THRID==103' -functions large.er
	row "… -filters THRID==103 -functions" "3 s, 600 MB" "$(calc "$elapsed" %.3f) s, $rss_mb MB" \
		"$elapsed <= 3 && $rss_mb <= 600"
	rm -rf large.er
}

bench_callers()
{
	step "callers and callees of 1,000,000 samples"
	"$bench/gen_experiment" callers.er 1000000 20000 30 >/dev/null || return
	print_cost callers -callers-callees callers.er
	row "er_print -callers-callees, 1,000,000 samples, $("$er_print" -callers-callees callers.er |
		wc -l | sed ':a;s/\B[0-9]\{3\}\>/,&/;ta') lines" "1 s" \
		"$(calc "$elapsed" %.3f) s" "$elapsed <= 1"
	rm -rf callers.er
}

bench_open()
{
	local i
	step "an experiment of 1,000 processes"
	"$bench/gen_experiment" open.er 10000 2000 30 >/dev/null || return
	for i in $(seq 1000); do
		"$bench/gen_experiment" "open.er/_p_PID_$i.1.er" 1000 50 30 50 >/dev/null || return
	done
	print_cost open -experiment_list open.er
	row "opening an experiment of 1,000 processes" "1 s" "$(calc "$elapsed" %.3f) s, $rss_mb MB" \
		"$elapsed <= 1"
	print_cost open_functions -functions open.er
	row "… and er_print -functions" "" "$(calc "$elapsed" %.3f) s, $rss_mb MB" 1
	rm -rf open.er
}

# Each target is seconds, or megabytes, or both; - is none.
reading()
{
	local what=$1 seconds=$2 mb=$3 target
	shift 3
	print_cost reading "$@"
	target="$([ "$seconds" = - ] || echo "$seconds s, ")$([ "$mb" = - ] || echo "$mb MB, ")"
	row "$what" "${target%, }" "$(calc "$elapsed" %.3f) s, $rss_mb MB" \
		"$elapsed <= ${seconds/#-/1e9} && $rss_mb <= ${mb/#-/1e9}"
}

bench_processes()
{
	local list
	step "100,000 processes"
	"$bench/gen_processes" processes.er 100000 >/dev/null || return
	reading "er_print -functions, 100,000 processes of 50 programs" 3 500 -functions processes.er
	for list in processes threads; do
		reading "… -$list" 3 500 "-$list" processes.er
	done
	rm -rf processes.er
}

# Stacks are walks through a graph of calls, as those of programs.
bench_stacks()
{
	local which="1,000,000 samples, 400,000 stacks × 40"
	step "400,000 stacks"
	"$bench/gen_experiment" stacks.er 1000000 400000 40 62500 0 16 >/dev/null || return
	reading "er_print -functions, $which, 1 M pcs" 2 - -functions stacks.er
	reading "… -callers-callees" 4 600 -callers-callees stacks.er
	rm -rf stacks.er
	"$bench/gen_experiment" stacks.er 1000000 400000 40 62500 0 256 >/dev/null || return
	reading "er_print -functions, $which, 16 M pcs" - 1000 -functions stacks.er
	rm -rf stacks.er
}

bench_waits()
{
	local list
	step "1,000,000 waits"
	"$bench/gen_experiment" waits.er 100000 20000 30 3000 1000000 >/dev/null || return
	for list in microstates waits runqueue locks wakers "wakechain 1001"; do
		# shellcheck disable=SC2086 # a command and its argument
		print_cost "waits_${list%% *}" -$list waits.er
		row "er_print -$list, 1,000,000 waits of 1,000 threads" "3 s, 600 MB" \
			"$(calc "$elapsed" %.3f) s, $rss_mb MB" "$elapsed <= 3 && $rss_mb <= 600"
	done
	rm -rf waits.er
}

bench_compare()
{
	local list
	step "two experiments of 1,000,000 samples"
	"$bench/gen_experiment" one.er 1000000 20000 30 >/dev/null &&
		"$bench/gen_experiment" two.er 1000000 20000 30 >/dev/null || return
	for list in functions lines pcs callers-callees; do
		print_cost "compare_$list" -compare delta "-$list" one.er two.er
		row "er_print -compare delta -$list, twice 1,000,000 samples" "3 s, 600 MB" \
			"$(calc "$elapsed" %.3f) s, $rss_mb MB" "$elapsed <= 3 && $rss_mb <= 600"
	done
	rm -rf one.er two.er
}

section "Reading large experiments" large callers stacks waits compare open processes
