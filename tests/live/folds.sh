#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Short-lived threads are folded. Two recorders see the same load: one folds, and the other keeps a
# line for each thread (--each-thread). Their sums are equal.
. "$(dirname "$0")/../lib/live.sh"

# The first process lives for more than five seconds; the other 600 are short-lived, unless the machine
# is very busy. Each is the only thread of its process.
cat >load <<'END'
sleep 5.1
exec "$syn/many" 600 4 0.3
END
stolen=$(steal)
must_record each.er -q 0 --each-thread -- "$er_kernel" -o folded.er -q 0 -- sh load
stolen=$(stolen_since "$stolen")

# sums EXPERIMENT: of the short-lived threads `many`, a line for each number: "name sum".
sums()
{
	threads_of "$1" | perl -ne 'next unless / comm="many"/;
		my %t = map { $_ // 0 } /(\w+)="([^"]*)"/g;
		my $fold = /^<threads /;
		my $lived = $fold ? $t{lived} : $t{end} - ($t{begin} // 0);
		next unless $fold || $t{born} && $t{ended} && $lived < 5e9;
		$n{count} += $fold ? $t{count} : 1;
		$n{lived} += $lived;
		$n{$_} += $t{$_} // 0 for qw(run user system waits preempted minflt sleep wait);
		END { print "$_ $n{$_}\n" for sort keys %n }'
}
sums each.er >each
sums folded.er >folded
of() { awk -v n="$2" '$1 == n { print $2 }' "$1"; }
n=$(of each count)
check_that "most of the load's threads are short-lived" "$n > 500" "$(cat each)"
check_that "--each-thread folds none" "$(threads_of each.er | grep -c '<threads ') == 0"
rows=$(query 'count() from thread where comm eq "many" && born && ended && end - begin < 5e9' folded.er)
check_that "all but the first 16 are folded" "$rows == 16" "$rows are not: $(cat folded)"
for what in count run user system waits preempted minflt; do
	check_that "$what: the folded recording has that of all threads" \
		"$(of folded $what) == $(of each $what)" "folded $(of folded $what), each $(of each $what)"
done
# Each recorder dates the begin and the end of a thread by its own clock reading.
for what in lived sleep wait; do
	check_that "$what: the folded recording has that of all threads" \
		"($(of folded $what) - $(of each $what))^2 <= (0.02 * $(of each lived))^2" \
		"folded $(of folded $what), each $(of each $what)"
done
perl "$top/tests/lib/segments.pl" folded.er >lines
check_that "the folded states and lives add up" \
	"$(awk '$1 == "folded" { print $2 }' lines) >= $n - 16 && $(awk '$1 == "wrong" { print $2 }' lines) == 0" \
	"$(cat lines)"
bytes() { threads_of "$1.er" | grep ' comm="many"' | wc -c; }
check_that "folding makes threads.xml smaller" "$(bytes folded) < 0.25 * $(bytes each)" \
	"$(bytes folded) of $(bytes each) bytes"

# --- reports ---
"$er_print" -threads folded.er >threads
count=$(threads_of folded.er | perl -ne '$n += $1 if / comm="many"/ && /^<threads count="(\d+)"/; END { print $n // 0 }')
check_that "-threads has one row for them, with their number" \
	"$count == $n - 16 && $(grep -c "many, $count short-lived threads" threads) == 1" "$(grep many threads | head -n 5)"
got=$("$er_print" -printmode , -microstates threads folded.er 2>/dev/null |
	perl -ne 'print $1 if /^"([\d.]+)",.*"many, \d+ short-lived threads/')
want=$(threads_of folded.er | perl -ne '$n += $1 if / comm="many"/ && /^<threads .* lived="(\d+)"/; END { print $n / 1e9 }')
check_that "their states add up to their lives" "${got:-0} > 0 && (${got:-0} - $want)^2 < (0.001 + 0.001 * $want + $stolen)^2" \
	"states ${got:-none}, lives $want, stolen $stolen"
"$er_print" -microstates processes folded.er >states
check_that "so have their processes, and their states add up" \
	"$(grep -c "many, $count short-lived threads" states) == 1 && $(grep -c '^Checked: ' states) == 1" "$(tail -n 5 states)"
"$er_print" -filters 'COMM == "many"' -threads folded.er >rows
check_that "with a filter threads have rows of their own, and their unsampled time has one" \
	"$(grep -c 'many, PID' rows) > 16 && $(grep -c "many, $count short-lived threads" rows) == 1" "$(tail -n 5 rows)"
for e in each folded; do
	query 'count() from packets where !ON_CPU' $e.er >$e.packets
done
check_that "folding leaves fewer packets off a CPU" "$(cat folded.packets) < $(cat each.packets)" \
	"folded $(cat folded.packets), each $(cat each.packets)"
threads_of folded.er | sed 's/ sums="[0-9]*"//' >folded.er/threads.xml
"$er_print" -threads folded.er >numbers
check_that "packets have the fold's number" "$(grep -c 'TID 10000000[0-9]*' numbers) >= 1" "$(tail -n 5 numbers)"
rm folded.er/threads.xml
for state in sleep wait; do
	got=$(seconds_of '<Total>' e.$state folded.er)
	want=$(threads_of folded.er | perl -ne '$n += $1 if / '$state'="(\d+)"/; END { printf "%.6f", $n / 1e9 }')
	check_that "packets of $state are the exact total" "$got - $want < 0.002 && $want - $got < 0.002" \
		"packets $got, threads $want"
done
"$er_print" -header folded.er >header 2>&1
check_that "the header finds nothing wrong" "$(grep -c '\*\*\*' header) == 0" "$(cat header)"
check "gprofng opens it" opens_in_gprofng folded.er
