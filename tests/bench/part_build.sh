# SPDX-License-Identifier: GPL-2.0-or-later
#
# What a recording costs a build: make -j of many short processes. Part build. Sourced by run.sh.
#
# shellcheck shell=bash

build_recorders()
{
	cat <<END
build_ours $er_kernel -A off -o RUN.er -p on
build_perf perf record -q -a -g -F 99 -o RUN.data
END
}

# Builds ten times, and compiles each time $units times a function of a few lines: gcc, cc1 and as. A line for each build:
# elapsed time and CPU time.
build_turn()
{
	local i
	for i in $(seq 10); do
		"$measure" build_time make -s -B -j"$(nproc)" -C build >/dev/null 2>&1
		awk '{ print $1, $2 }' build_time
	done
}

bench_build()
{
	local units=$((QUICK ? 34 : 334)) before n elapsed cpu
	step "a build of many short processes"
	mkdir -p build
	echo 'int twice(int x) { int sum = 0; for (int i = 0; i < 2; i++) sum += x; return sum; }' >build/unit.c
	printf '%s\n' "units := \$(patsubst %,unit%.o,\$(shell seq $units))" 'all: $(units)' '$(units): unit.c' \
		'	gcc -O1 -c -o $@ unit.c' >build/Makefile
	before=$(begun)
	build_turn >/dev/null
	n=$(($(begun) - before))
	in_turn build_turn $((QUICK ? 1 : rounds)) build_recorders
	elapsed=$(calc "($(median <ratio_build_ours) - 1) * 100" %.2f)
	cpu=$(calc "($(column 2 ratio_build_ours | median) - 1) * 100" %.2f)
	row "make -j of $n processes, in ten builds, takes longer by" "1 %" \
		"$elapsed % ($(wc -l <ratio_build_ours) pairs), its CPU time $cpu %; the recorder took $(calc "100 * $(median <share_build_ours)" %.2f) % of the CPUs; perf $(calc "($(median <ratio_build_perf) - 1) * 100" %.2f) %" \
		"$elapsed <= 1"
	rm -rf build
}
section "A build" build
quick+=(build)
