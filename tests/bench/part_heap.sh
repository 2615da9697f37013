# SPDX-License-Identifier: GPL-2.0-or-later
#
# Heap tracing: what an allocation or a free costs the program, beside gprofng and heaptrack in the
# same run. Sourced by run.sh.
#
# shellcheck shell=bash

# The program makes pairs of malloc and free at a depth of 26 frames; a pair is two events.
heap_recorders()
{
	cat <<END
none env
on $O/bin/collect -A off -p off -o RUN.on.er -H on
sampled $O/bin/collect -A off -p off -o RUN.sampled.er -H sampled
END
	command -v gprofng >/dev/null && echo "gprofng gprofng collect app -a off -p off -o RUN.gprofng.er -H on"
	command -v heaptrack >/dev/null && echo "heaptrack heaptrack -o RUN.heaptrack"
}

# heap_cost NAME COLUMN: the least ns of an event above those without a recorder.
heap_cost() { calc "($(awk "\$1 == \"$2\" { print \$2 }" "heap_$1" | least) - $(awk "\$1 == \"$2\" { print \$2 }" heap_none | least)) / 2" %.1f; }

bench_heap()
{
	local i name command pairs peers=
	step "heap tracing"
	pairs=$((QUICK ? 200000 : 1000000))
	for i in $(seq $((QUICK ? 3 : rounds * 3))); do
		while read -r name command; do
			# shellcheck disable=SC2086
			${command//RUN/$i} "$syn/heap" churn $pairs </dev/null 2>/dev/null >>"heap_$name"
			rm -rf "$i".*
		done < <(heap_recorders)
	done
	for name in gprofng heaptrack; do
		[ ! -s "heap_$name" ] || peers="$peers; $name $(heap_cost $name cpu_ns) ns ($(heap_cost $name elapsed_ns))"
	done
	row "-H on: CPU time (elapsed) of an event, 26 frames" "1000 ns" \
		"$(heap_cost on cpu_ns) ns ($(heap_cost on elapsed_ns))$peers" \
		"$(heap_cost on cpu_ns) <= 1000 && $(heap_cost on elapsed_ns) <= 1000"
	row "-H sampled: likewise" "60 ns" "$(heap_cost sampled cpu_ns) ns ($(heap_cost sampled elapsed_ns))" \
		"$(heap_cost sampled cpu_ns) <= 60"
}

section "Heap tracing" heap
quick+=(heap)
