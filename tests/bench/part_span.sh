# SPDX-License-Identifier: GPL-2.0-or-later
#
# Spans: what a call of an empty function costs with a span, beside perf's pair of probes, bpftrace's
# histogram of the same durations, and an empty pair of probes, in the same run. Sourced by run.sh.
#
# shellcheck shell=bash

# The program prints the ns of CPU time of a call and those that passed.
span_recorders()
{
	local p=$syn/spans
	echo "none env"
	echo "record $O/bin/er_kernel -o RUN.record.er -q 0 -p lo -A off --span f=$p:empty -- "
	echo "sums $O/bin/er_kernel -o RUN.sums.er -q 0 -p lo -A off --span-limit 10 --span f=$p:empty -- "
	[ -z "$span_bpftrace" ] || printf '%s\n' "latency span_under latency" "pair span_under pair"
	[ -z "$span_perf" ] || echo "perf perf record -q -o RUN.perf -e probe_bench:span_in -e probe_bench:span_out__return "
}

# span_cost NAME: the least ns of a call above those without a recorder.
span_cost() { calc "$(awk '{ print $1 }' "span_$1" | least) - $(awk '{ print $1 }' span_none | least)" %.0f; }

# span_under SCRIPT COMMAND…: run the command under bpftrace.
span_under()
{
	local script=$1
	shift
	bpftrace "$script.bt" -c "$*"
}

# bpftrace's own way to the histogram of a function's durations; and a pair of programs that do nothing.
span_scripts()
{
	command -v bpftrace >/dev/null || return
	cat >latency.bt <<-END
		uprobe:$syn/spans:empty { @began[tid] = nsecs; }
		uretprobe:$syn/spans:empty /@began[tid]/ { @ns = hist(nsecs - @began[tid]); delete(@began[tid]); }
	END
	printf "%s:$syn/spans:empty { 1 }\n" uprobe uretprobe >pair.bt
	span_bpftrace=yes
}

span_perf_probes()
{
	command -v perf >/dev/null || return
	perf probe -q -x "$syn/spans" --add probe_bench:span_in=empty --add probe_bench:span_out=empty%return 2>/dev/null &&
		span_perf=yes
}

bench_span()
{
	local i name command calls ours span_perf span_bpftrace peers= sums pair=
	step "spans"
	span_perf= span_bpftrace=
	span_scripts
	calls=$((QUICK ? 100000 : 400000))
	span_perf_probes
	for i in $(seq $((QUICK ? 3 : rounds * 3))); do
		while read -r name command; do
			# shellcheck disable=SC2086
			${command//RUN/$i} "$syn/spans" churn $calls </dev/null 2>/dev/null | grep '^[0-9]' >>"span_$name"
			[ "$name" != sums ] || "$O/bin/er_print" -header full "$i.sums.er" 2>/dev/null |
				sed -n 's/.*BPF program er_span: .* \([0-9]*\) ns each.*/\1/p' >>span_ours
			rm -rf "$i".*
		done < <(span_recorders)
	done
	[ -z "$span_perf" ] || perf probe -q --del 'probe_bench:*' 2>/dev/null
	ours=$(calc "2 * $(least <span_ours)" %.0f)
	[ ! -s span_perf ] || peers="; perf probe and record $(span_cost perf) ns"
	row "a span: our part, begin and end" "250 ns" "$ours ns" "$ours <= 250"
	row "a span: CPU time of a call, with a record for 10000 a second" "half of perf's" \
		"$(span_cost record) ns$peers" "$(span_cost record) <= 0.5 * $(span_cost perf)"
	[ ! -s span_pair ] || pair=" (of which an empty pair of probes $(span_cost pair) ns)"
	sums="$(span_cost sums) <= $(span_cost record)"
	row "a span: the same with sums only" "" "$(span_cost sums) ns$pair" "$sums"
	[ ! -s span_latency ] || row "a span: histogram of all calls" "bpftrace's" \
		"$(span_cost sums) ns; bpftrace $(span_cost latency) ns" "$(span_cost sums) <= $(span_cost latency)"
}

section "Spans" span
