# SPDX-License-Identifier: GPL-2.0-or-later
#
# Spans: what a call of an empty function costs with a span, beside perf's pair of probes, bpftrace's
# histogram of the same durations, and an empty pair of probes, in the same run. And our part alone, beside
# what the clock alone takes on this machine. Sourced by run.sh.
#
# shellcheck shell=bash

# The program prints the ns of CPU time of a call and those that passed.
span_recorders()
{
	local p=$syn/spans
	echo "none env"
	echo "record $O/bin/er_kernel -o RUN.record.er -q 0 -p lo -A off --span f=$p:empty -- "
	echo "sums $O/bin/er_kernel -o RUN.sums.er -q 0 -p lo -A off --span-limit 10 --span f=$p:empty -- "
	echo "pair span_attached pair.o"
	[ -z "$span_bpftrace" ] || echo "latency span_latency"
	[ -z "$span_perf" ] || echo "perf perf record -q -o RUN.perf -e probe_bench:span_in -e probe_bench:span_out__return "
}

# span_cost NAME: the least ns of a call above those without a recorder.
span_cost() { calc "$(awk '{ print $1 }' "span_$1" | least) - $(awk '{ print $1 }' span_none | least)" %.0f; }
# span_beyond NAME: the same above an empty pair of probes, which costs the kernel's part alone.
span_beyond() { calc "$(awk '{ print $1 }' "span_$1" | least) - $(awk '{ print $1 }' span_pair | least)" %.0f; }

# bpftrace's own way to the histogram of a function's durations.
span_latency()
{
	cat >latency.bt <<-END
		uprobe:$syn/spans:empty { @began[tid] = nsecs; }
		uretprobe:$syn/spans:empty /@began[tid]/ { @ns = hist(nsecs - @began[tid]); delete(@began[tid]); }
	END
	bpftrace latency.bt -c "$*"
}

# span_attached OBJECT COMMAND…: run the command with the object's programs at the function.
span_attached()
{
	local object=$1 attached status
	shift
	"$bench/attach" "$object" >/dev/null 2>&1 &
	attached=$!
	until span_programs | grep -q .; do
		kill -0 $attached 2>/dev/null || return
		sleep 0.1
	done
	"$@"
	status=$?
	span_programs >programs
	kill $attached
	wait $attached 2>/dev/null
	return $status
}

# The programs at the begin and at the end of a call: name, ns by the kernel's count, runs.
span_programs()
{
	bpftool prog show 2>/dev/null | awk '/ name (er_span|bench)_(enter|leave) / {
		ns = runs = 0
		for (i = 1; i < NF; i++) {
			if ($i == "name") name = $(i + 1)
			if ($i == "run_time_ns") ns = $(i + 1)
			if ($i == "run_cnt") runs = $(i + 1)
		}
		print name, ns, runs }'
}

# span_pair OBJECT EXPRESSION: build a pair of programs that do no more than return the expression.
span_pair()
{
	clang -O2 -g -target bpf -I"/usr/include/$(uname -m)-linux-gnu" -x c -c - -o "$1" <<-END
		#include <linux/bpf.h>
		#include <bpf/bpf_helpers.h>
		char LICENSE[] SEC("license") = "GPL";
		SEC("uprobe/$syn/spans:empty") int bench_enter(void *ctx) { return $2; }
		SEC("uretprobe/$syn/spans:empty") int bench_leave(void *ctx) { return $2; }
	END
}

# span_counted NAME COMMAND…: add to parts_NAME what a begin and an end take together, by the kernel's count.
span_counted()
{
	local name=$1
	shift
	"$@" "$syn/spans" churn $((calls / 4)) >/dev/null 2>&1 </dev/null
	[ -s programs ] || return
	awk -v least=$((calls / 8)) '$3 > least { ns += $2 / $3; n++ } END { if (n == 2) printf "%.1f\n", ns }' programs >>"parts_$name"
	rm -rf programs counted.er
}

# Run by er_kernel as its load: the program, and then the kernel's count.
span_ours()
{
	"$O/bin/er_kernel" -o counted.er -q 0 -p lo -A off --span-limit 10 --span "f=$syn/spans:empty" -- \
		bash -c "$(declare -f span_programs)"'; "$@"; span_programs >programs' load "$@"
}

# Our part: what the kernel counts of our two programs beyond two empty ones. The clock costs much more there than
# in a loop, as its code and data are in no cache behind a breakpoint, so it is measured there, too.
span_parts()
{
	local i ours
	echo 1 >/proc/sys/kernel/bpf_stats_enabled
	for i in $(seq $((QUICK ? 3 : rounds * 3))); do
		span_counted ours span_ours
		span_counted pair span_attached pair.o
		span_counted clock span_attached clock.o
	done
	echo "$stats" >/proc/sys/kernel/bpf_stats_enabled
	ours=$(calc "$(least <parts_ours) - $(least <parts_pair)" %.0f)
	row "a span: our part, begin and end, beyond an empty pair of programs" "250 ns" \
		"$ours ns (a pair that reads the clock: $(calc "$(least <parts_clock) - $(least <parts_pair)" %.0f) ns)" "$ours <= 250"
}

span_perf_probes()
{
	command -v perf >/dev/null || return
	perf probe -q --del 'probe_bench:*' 2>/dev/null # of a run that was killed: perf would add no others of these names
	perf probe -q -x "$syn/spans" --add probe_bench:span_in=empty --add probe_bench:span_out=empty%return 2>/dev/null &&
		span_perf=yes
}

bench_span()
{
	local i name command calls span_perf span_bpftrace
	step "spans"
	span_perf= span_bpftrace=
	command -v bpftrace >/dev/null && span_bpftrace=yes
	span_pair pair.o 0
	span_pair clock.o "bpf_ktime_get_ns() == 1"
	calls=$((QUICK ? 100000 : 400000))
	span_parts
	span_perf_probes
	for i in $(seq $((QUICK ? 3 : rounds * 3))); do
		while read -r name command; do
			# shellcheck disable=SC2086
			${command//RUN/$i} "$syn/spans" churn $calls </dev/null 2>/dev/null | grep '^[0-9]' >>"span_$name"
			rm -rf "$i".*
		done < <(span_recorders)
	done
	[ -z "$span_perf" ] || perf probe -q --del 'probe_bench:*' 2>/dev/null
	[ ! -s span_perf ] ||
		row "a span: CPU time beyond an empty pair of probes, with a record for 10000 a second" "half of perf's" \
			"$(span_beyond record) ns; perf probe and record $(span_beyond perf) ns" \
			"$(span_beyond record) <= 0.5 * $(span_beyond perf)"
	row "a span: whole CPU time, with a record for 10000 a second" "" \
		"$(span_cost record) ns (of which an empty pair of probes $(span_cost pair) ns)" "$(span_cost record) > 0"
	[ ! -s span_latency ] || row "a span: histogram of all calls" "bpftrace's" \
		"$(span_cost sums) ns; bpftrace $(span_cost latency) ns" "$(span_cost sums) <= $(span_cost latency)"
}

section "Spans" span
