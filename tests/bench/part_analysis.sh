# SPDX-License-Identifier: GPL-2.0-or-later
#
# The cost of reading: analysis, symbols. Sourced by run.sh.
#
# shellcheck shell=bash

bench_analysis()
{
	local i n theirs ours rss perf_time
	step "analysis of 1,000,000 samples"
	"$bench/gen_experiment" big.er 1000000 20000 30 || return
	# gprofng runs twice for half a minute, er_print before and after it, because the
	# machine's speed varies.
	for i in 1 2; do
		"$measure" "print_ours.$i" "$er_print" -functions big.er >/dev/null
		"$measure" "print_theirs.$i" gprofng display text -functions big.er >/dev/null 2>&1
		"$measure" "print_ours.after$i" "$er_print" -functions big.er >/dev/null
	done
	ours=$(column 1 print_ours.* | median) rss=$(column 3 print_ours.* | sort -g | tail -n1)
	theirs=$(column 1 print_theirs.* | median)
	row "er_print -functions, 1,000,000 samples, 20,000 stacks × 30" "1/100 of gprofng's time" \
		"$(calc "$ours" %.3f) s against $(calc "$theirs" %.1f) s, $(calc "$theirs / $ours" %.0f) times" \
		"$ours * 100 <= $theirs"
	row "… memory" "200 MB" "$(calc "$rss / 1024" %.0f) MB" "$rss <= 200 * 1024"

	step "perf report on as many samples"
	mixed_load
	perf_record -F 25000 -o many.data -- sleep 22
	stop_jobs
	n=$(perf report --stdio --no-children -i many.data 2>/dev/null |
		awk '/^# Samples:/ { v = $3; m = v ~ /K/ ? 1e3 : v ~ /M/ ? 1e6 : 1; print v * m }')
	for i in $(seq "$rounds"); do
		"$measure" "report.$i" perf report --stdio --children -i many.data >/dev/null 2>&1
	done
	perf_time=$(calc "$(column 1 report.* | median) * 1e6 / $n" %.3f)
	rm -f many.data
	row "… against perf report --stdio --children" "1/5 of its time" \
		"$(calc "$ours" %.3f) s against $perf_time s (scaled from $n samples)" \
		"$ours * 5 <= $perf_time"
}

bench_symbols()
{
	local ns binary rate ms kernel
	step "symbols"
	binary=$(gcc -print-prog-name=cc1)
	"$bench/bench_symbols" "$binary" "$er_print" >symbols.out 2>&1
	cat symbols.out >&2
	ns=$(awk '/^symtab_find/ { print $2 }' symbols.out)
	row "symbols, 20,000 addresses of cc1, $(calc "$(stat -Lc %s "$binary") / 1e6" %.0f) MB" "2 µs per address" \
		"$(calc "${ns:-nan} / 1000" %.3f) µs" "${ns:-9999} <= 2000"
	ns=$(awk '/^lines_find/ { print $2 }' symbols.out)
	row "lines with inlined calls, for addresses of er_print" "12 µs per address" \
		"$(calc "${ns:-nan} / 1000" %.3f) µs" "${ns:-99999} <= 12000"
	rate=$(awk '/^lines_build/ { print $2 }' symbols.out)
	row "… reading its DWARF" "10 MB/s" "${rate:-nan} MB/s" "${rate:-0} >= 10"
	ms=$(awk '/^ksyms_open/ { print $2 }' symbols.out)
	row "kernel symbols, an experiment of 120,000" "50 ms" "${ms:-nan} ms" "${ms:-999} <= 50"
	ms=$(awk '/^kallsyms_load/ { print $2 }' symbols.out)
	kernel=$(awk '/^kallsyms_kernel/ { print $2 }' symbols.out)
	row "… the whole of /proc/kallsyms" "50 ms" \
		"${ms:-nan} ms, ${kernel:-nan} ms of it in the kernel" "${ms:-999} <= 50"
}

section "Reading: small things" analysis symbols
