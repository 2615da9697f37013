#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Spans beside clocks (tests/synprog/spanclocks.c). The parts of a million calls, each counted by itself, add up
# to the duration by the clock. The CPU time of calls that compute is that of the thread's own clock. The
# percentiles of the histogram are those of the sorted durations.
# Time limit: 300 s
. "$(dirname "$0")/../lib/live.sh"

p=$syn/spanclocks
median() { sort -n | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }

# SPANSTOLEN is the duration by CLOCK_MONOTONIC less the kernel's run time and less the times off the CPU, as they
# were measured. It is negative where these are longer. A hypervisor or interrupts may take time, too, where the
# kernel counts that.
must_record mixed.er -q 0 -p lo -A off --span-limit unlimited --span "mixed=$p:mixed" -- "$p" mixed 1000000
query 'count() sum(SPANWAITS>0) sum(SPANSTOLEN>200) sum(SPANSTOLEN<-200) from spans where RETURNED' \
	mixed.er >parts
read -r calls waits over under <parts
check_that "a million calls have records, and many of them left the CPU" "$calls == 1000000 && $waits >= 5000" "$(cat parts)"
check_that "their parts are not longer than the duration by 200 ns, but for one in 100,000" "$under <= 10" "$(cat parts)"
counts_irqs() { { zcat /proc/config.gz || cat "/boot/config-$(uname -r)"; } 2>/dev/null | grep -q '^CONFIG_IRQ_TIME_ACCOUNTING=y'; }
if [ "$(steal)" = 0 ] && ! counts_irqs; then
	# A thread that blocks sleeps while its CPU looks for other work (clock_left in bpf/profile.bpf.c). If the CPU
	# finds some on another CPU the kernel does not tell when that began.
	check_that "nor shorter, but for one in 300 of those that left the CPU" "$over * 300 <= $waits" "$(cat parts)"
else
	skip "nor shorter, but for one in 300 of those that left the CPU" "the kernel counts stolen time or that of interrupts: $over of $calls"
fi

# What a span adds to a call that computes is known from the empty call just before. It varies with what else runs
# on the processor. A call that left the CPU may differ by more: the kernel dates a preemption at the wakeup
# that caused it, and the thread runs on until its CPU notices.
must_record cpu.er -q 0 -p lo -A off --span-limit unlimited --span "pair=$p:pair" --span "cpu=$p:cpu" -- "$p" cpu 10000
query 'TSTAMP SPANRUN SPANWAITS from spans where RETURNED' cpu.er | sort -n | cut -f2- >spans
cut -f2 record.out | paste spans - | awk 'NR % 2 { run = $1; waits = $2; read = $3; next }
	{ print ($1 - $3) - (run - read), waits + $2 }' >both
check_that "all computing calls have records" "$(wc -l <both) == 10000 && $(wc -l <spans) == 20000" "$(wc -l both spans)"
check_that "their CPU time is the thread's clock, in the median within 0.3 us" \
	"$(awk '{ print $1 }' both | median) <= 300 && $(awk '{ print $1 }' both | median) >= -300" "$(head both)"
awk '{ d = $1 < 0 ? -$1 : $1; near += d <= 1000; if ($2) { left++; far_left += d > 1000 } } END {
	print NR, near, left + 0, far_left + 0 }' both >shares
read -r calls near left far_left <shares
check_that "and within 1 us for three of four" "$near >= 0.75 * $calls" \
	"of $calls calls $near are within 1 us; $left left the CPU, of which $far_left are not within 1 us"

# percentiles NAME NUMBER: p50, p90 and p99, of the sorted records and of the histogram in spans.xml.
percentiles()
{
	query "SPANDUR from spans where SPAN == $2 && RETURNED" wide.er | sort -n >durations
	awk '{ v[NR] = $1 } END { for (i = split("0.5 0.9 0.99", share, " "); i; i--) {
		at = share[i] * NR; rank = int(at); rank += rank < at; print v[rank] } }' durations >exact
	perl - "$1" wide.er/spans.xml <<'END' >histogram
my ($name, $xml) = @ARGV;
open my $x, '<', $xml; my ($hist) = join('', <$x>) =~ /name="\Q$name\E"[^>]*hist="([^"]*)"/;
my ($bucket, $n, @bucket) = (0, 0);
for (split ' ', $hist) {
	my ($distance, $count) = split /:/; $bucket += $distance; $n += $count; push @bucket, [$bucket, $count];
}
for my $share (0.99, 0.9, 0.5) {
	my ($below, $rank) = (0, $share * $n);
	for (@bucket) {
		my ($i, $count) = @$_;
		next if ($below += $count) < $rank;
		my $octave = ($i >> 6) - 1;
		print $i < 64 ? $i : (64 + ($i & 63) + 0.5) * 2 ** $octave, "\n";
		last;
	}
}
END
	paste exact histogram >both
	check_that "$1: percentiles of the histogram are within 2 % of exact ones" \
		"$(awk '{ d = $1 - $2; if ((d < 0 ? -d : d) > 0.02 * $1) bad++ } END { print bad + 0 }' both) == 0 &&
		$(wc -l <both) == 3 && $(wc -l <durations) == $(query "count from span where name eq '$1'" wide.er)" "$(cat both)"
}
must_record wide.er -q 0 -p lo -A off --span-limit unlimited --span "one=$p:one" --span "few=$p:few" --span "two=$p:two" \
	--span "wide=$p:wide" -- "$p" wide 1200
percentiles one 1
percentiles few 2
percentiles two 3
percentiles wide 4
check_that "the wide ones are from 1 us to 1 s" "$(head -n 1 durations) < 10000 && $(tail -n 1 durations) > 500000000" \
	"$(head -n 1 durations) $(tail -n 1 durations)"
