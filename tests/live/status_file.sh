#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# --status FILE: a file in Prometheus's text format, kept up to date and always complete.
. "$(dirname "$0")/../lib/live.sh"

value() { awk -v n="er_kernel_$2" '$1 == n { print $2 }' "$1"; }

"$er_kernel" -o run.er -p high -q 0 --status er.prom -- "$syn/spin" alpha:5.5 >out 2>err &
pid=$!
until [ -s er.prom ] || ! kill -0 $pid 2>/dev/null; do sleep 0.02; done
# Every reading finds a whole file. One that was opened before a change keeps its content.
ln er.prom first
broken=0 read=0
while [ "$(value er.prom running)" = 1 ] && kill -0 $pid 2>/dev/null; do
	cp er.prom seen && read=$((read + 1))
	[ -n "$(value seen processes_total)" ] && [ -n "$(value seen updated_timestamp_seconds)" ] ||
		broken=$((broken + 1))
	sleep 0.01
done
check_that "every reading finds a whole file" "$broken == 0 && $read > 0" "$broken of $read"
check_that "the status file is replaced, not rewritten" \
	"$(value first running) == 1 && $(value first elapsed_seconds_total) < $(value seen elapsed_seconds_total)" \
	"$(cat first)"
check_that "the status file is replaced while the recorder runs" "$(value seen elapsed_seconds_total) >= 4.9 &&
	$(value seen paused) == 0" "$(cat seen)"
wait $pid
status=$?
check_that "the last status says that the recording has ended" "$(value er.prom running) == 0" "$(cat er.prom err); $status"
check_that "the status has as many samples as the header" \
	"$(value er.prom 'records_total{kind="sample"}') == $(query 'sum(recorded) from ring' run.er)" "$(cat er.prom)"
cost=$("$er_print" -header full run.er | sed -n 's/^Recording cost.*er_kernel \([0-9.]*\) sec.*BPF \([0-9.]*\).*/\1 \2/p')
check_that "the status has the header's cost, except for the end" \
	"$(value er.prom cpu_seconds_total) > 0 &&
	 $(value er.prom cpu_seconds_total) <= $(echo "$cost" | awk '{ print $1 + $2 + 0.01 }')" "$cost; $(cat er.prom)"
check_that "elapsed time in the status is the recording's" "$(value er.prom elapsed_seconds_total) >= 5.5" "$(cat er.prom)"
check "no other file is left beside the status file" [ -z "$(find . -maxdepth 1 -name '.er.prom*')" ]

# In a rolled recording the figures are those of all segments.
"$er_kernel" -o roll.1.er -p high -q 0 --roll 1s --status roll.prom -- "$syn/spin" alpha:3 >out 2>err
recorded=$(for s in roll.*.er; do query 'sum(recorded) from ring' "$s"; done | awk '{ n += $1 } END { print n }')
check_that "counters go on from segment to segment" "$(ls -d roll.*.er | wc -l) > 1 &&
	$(value roll.prom 'records_total{kind="sample"}') == $recorded &&
	$(value roll.prom elapsed_seconds_total) >= 3" "recorded $recorded; $(cat roll.prom err)"
lines=$(programs_in roll.*.er | grep -c '^<process ')
spins=$(programs_in roll.*.er | grep -c '^<process .* comm="spin"')
check_that "a process of several segments counts once" \
	"$spins > 1 && $(value roll.prom processes_total) < $lines" "$lines lines, $spins of spin; $(cat roll.prom)"
walked=$(for s in roll.*.er; do query 'built from tables' "$s"; done)
check_that "each segment counts its own unwind tables" \
	"$(echo "$walked" | awk 'NR > 1 && $1 < last { n++ } { last = $1 } END { print n + 0 }') > 0" "$(echo $walked)"

"$er_kernel" -o no.er -t 0.3 --status nowhere/er.prom >out 2>err
check_that "--status in a missing directory is refused with one sentence" "$? == 1 && $(wc -l <err) == 1" "$(cat err)"
check "--status in a missing directory: nothing is recorded" [ ! -e no.er ]
