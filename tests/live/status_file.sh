#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# --status FILE: a file in Prometheus's text format, kept up to date and always complete.
. "$(dirname "$0")/../lib/live.sh"

value() { awk -v n="er_kernel_$2" '$1 == n { print $2 }' "$1"; }

"$er_kernel" -o run.er -p high -q 0 --status er.prom -- "$syn/spin" alpha:5.5 >out 2>err &
pid=$!
until [ -s er.prom ] || ! kill -0 $pid 2>/dev/null; do sleep 0.02; done
# Every reading finds a whole file.
broken=0 read=0
while [ "$(value er.prom running)" = 1 ] && kill -0 $pid 2>/dev/null; do
	cp er.prom seen && read=$((read + 1))
	[ -n "$(value seen processes_total)" ] && [ -n "$(value seen updated_timestamp_seconds)" ] ||
		broken=$((broken + 1))
	sleep 0.01
done
check_that "every reading finds a whole file" "$broken == 0 && $read > 50" "$broken of $read"
check_that "it is replaced while the recorder runs" "$(value seen elapsed_seconds_total) >= 4.9 &&
	$(value seen paused) == 0" "$(cat seen)"
wait $pid
status=$?
check_that "the last one says that it has ended" "$(value er.prom running) == 0" "$(cat er.prom err); $status"
check_that "as many samples as the header counts" \
	"$(value er.prom 'records_total{kind="sample"}') == $(query 'sum(recorded) from ring' run.er)" "$(cat er.prom)"
cost=$("$er_print" -header full run.er | sed -n 's/^Recording cost.*er_kernel \([0-9.]*\) sec.*BPF \([0-9.]*\).*/\1 \2/p')
check_that "the cost is that of the header, but for the end" \
	"$(value er.prom cpu_seconds_total) > 0 &&
	 $(value er.prom cpu_seconds_total) <= $(echo "$cost" | awk '{ print $1 + $2 + 0.01 }')" "$cost; $(cat er.prom)"
check_that "elapsed is the recording's" "$(value er.prom elapsed_seconds_total) >= 5.5" "$(cat er.prom)"
check "nothing else is left beside it" [ -z "$(find . -maxdepth 1 -name '.er.prom*')" ]

"$er_kernel" -o no.er -t 0.3 --status nowhere/er.prom >out 2>err
check_that "a missing directory is one sentence" "$? == 1 && $(wc -l <err) == 1" "$(cat err)"
check "and nothing is recorded" [ ! -e no.er ]
