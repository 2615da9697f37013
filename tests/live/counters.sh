#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Counter overflows, compared with the kernel's counts of the same program, with the counter's own
# sum, and with gprofng. Uses software events, which every machine has, and cycles if there is a
# PMU.
. "$(dirname "$0")/../lib/live.sh"
. "$top/tests/lib/oracle.sh"

# count_of NAME METRIC EXPERIMENT [FILTER]: the metric's events in a function
count_of()
{
	"$er_print" -printmode , ${4:+-filters "$4"} -metrics "$2:name" -functions "$3" 2>/dev/null |
		csv_rows | awk -F'\t' -v n="$1" '$2 == n { s += $1 } END { print s + 0 }'
}
pid_of_faults() { sed -n 's/^pid[[:space:]]*//p' out; }

# lost_of EXPERIMENT: the number of lost overflows
lost_of() { query 'sum(lost) from counterring' "$1"; }

# Recorded + lost = produced, on each CPU.
adds_up()
{
	check_that "$1: recorded and lost are what was produced" \
		"$(query 'sum(recorded+lost) from counterring' $1) == $(query 'sum(produced) from counterring' $1)"
	"$er_print" -header full "$1" >header 2>/dev/null
	check_that "$1: the packets have all numbers" "$(grep -c 'do not add up\|not as many as' header) == 0" "$(cat header)"
}

# Each event alone. Another thread may take a fault first, or a fault may repeat: 1 % is allowed.
must_record one.er -F '=faults' -q 0 -h minor-faults,1,context-switches,1 -- "$syn/faults" 5000 400
cp record.out out
p="PID==$(pid_of_faults)"
for f in touch_pages kernel_touches; do
	want=$(truth out $f) metric=i.minor-faults
	[ $f = touch_pages ] || metric=i.K_minor-faults
	got=$(count_of $f $metric one.er "$p") lost=$(lost_of one.er)
	check_that "faults of $f are getrusage's $want" \
		"$got <= $want * 1.01 + 2 && $got + $lost >= $want * 0.99 - 2" "got $got, $lost lost"
done
want=$(truth out leave_often) got=$(count_of leave_often i.context-switches one.er "$p")
check_that "switches of leave_often are getrusage's $want" \
	"$got <= $want * 1.01 + 2 && $got + $lost >= $want * 0.99 - 2" "got $got, $lost lost"
check_that "a function that touches no pages has no faults" \
	"$(count_of leave_often e.minor-faults one.er "$p") == 0"
adds_up one.er
runs=$(sed -n 's/^ *BPF program er_overflow: \([0-9]*\) runs.*/\1/p' header)
check_that "the recording's cost includes the overflows" \
	"${runs:-0} >= $(query 'sum(produced) from counterring' one.er)" "$(cat header)"

# The counter's own sum differs from its overflows only by those that were not seen. There are few.
read -r events seen <<END
$(query 'events seen from counter where name eq "minor-faults"' one.er)
END
check_that "overflows are nearly the counter's own sum" \
	"$seen <= $events && $events - $seen <= 0.02 * $events + 20" "$seen of $events"

# Each packet represents a whole interval of events. An interval begins at a random number.
must_record some.er -F '=faults' -q 0 -h page-faults,50 -- "$syn/faults" 20000
cp record.out out
p="PID==$(pid_of_faults)"
want=$(truth out touch_pages) got=$(count_of touch_pages e.page-faults some.er "$p")
lost=$(lost_of some.er)
check_that "an overflow at an interval of 50 counts as 50 faults" \
	"$got <= $want * 1.01 + 200 && $got + 50 * $lost >= $want * 0.99 - 200" "got $got, want $want"
check_that "counts of overflows are multiples of the interval" "$got % 50 == 0"
adds_up some.er

# Without a clock; packets of processes that are not followed are in the founder.
must_record off.er -F off -p off -q 0 -h minor-faults,1 -- "$syn/faults" 3000
cp record.out out
pid=$(pid_of_faults)
want=$(truth out touch_pages) got=$(count_of "<faults_PID_$pid>" e.minor-faults off.er)
lost=$(lost_of off.er)
check_that "not followed: all of the user's faults are one function" \
	"$got + $lost >= 0.99 * $want && $got < $want + 2000" "got $got of $want"
[ -e off.er/profile ] && not_ok "-p off: no clock packets" || ok "-p off: no clock packets"
adds_up off.er

# With -T there are no packets of other processes.
"$syn/spin" alpha:3 >/dev/null &
spin=$!
must_record target.er -T $spin -q 0 -h context-switches,1,page-faults,1 -t 1
kill $spin
wait $spin 2>/dev/null
others=$("$er_print" -printmode , -metrics e.context-switches:name -processes target.er 2>/dev/null |
	csv_rows | grep -v "<Total>" | grep -cv "PID $spin\$")
check_that "-T: only the target" "$others == 0" \
	"$("$er_print" -metrics e.context-switches:name -processes target.er)"

# Addresses of data: the variable whose pages were touched, in two processes of one program, whose
# places in memory differ.
pages_of_table() { "$er_print" -printmode , -data_objects data.er | awk -F'","' '$3 ~ /^table <faults>/ { print substr($1, 2) }'; }
must_record data.er -q 0 -h +minor-faults,1,context-switches,101 -- sh -c "$syn/faults 100; $syn/faults 100"
cp record.out out
want=$(truth out table) got=$(pages_of_table) lost=$(lost_of data.er)
check_that "faults in a variable are getrusage's $want" "${got:-0} <= $want * 1.01 + 2 && ${got:-0} + $lost >= $want * 0.99 - 2" \
	"got $got, $lost lost: $("$er_print" -data_objects data.er 2>&1 | head -n 20)"
adds_up data.er

if command -v gprofng >/dev/null; then
	# If libc has several names at an address the programs choose differently. So only numbers
	# are compared.
	: >renames
	for m in e.minor-faults e.K_minor-faults e.context-switches; do
		same_list "gprofng: $m, functions" csv_unnamed one.er "-metrics $m:name -functions" \
			"-metrics $m:name -functions"
		same_list "gprofng: $m, CPUs" csv_numbers one.er "-metrics $m:name -indxobj CPUs" \
			"-metrics $m:name -indxobj CPUs"
		for f in "<Total>:one" touch_pages:one "<Total>:data" fill_table:data; do
			of=${f%:*} er=${f#*:}.er
			a=$(theirs -printmode , -metrics "$m:name" -functions "$er" | csv_rows |
				awk -F'\t' -v n="$of" '$2 == n { print $1 }')
			check_that "gprofng: $er: $m of $of" "${a:-0} == $(count_of "$of" $m "$er")" "$a"
		done
	done
	theirs -header one.er >gheader
	check_that "gprofng: the header names the counters" "$(grep -c 'minor-faults, tag 0, interval 1' gheader) >= 1"
else
	skip "gprofng reads counters" "gprofng is not installed"
fi

# er_kernel -h lists the counters that exist. For any other one er_kernel prints one sentence and
# leaves nothing behind.
"$er_kernel" -h >list
check_that "-h lists the kernel's own events" "$(grep -c '^  page-faults,101 (' list) == 1" "$(cat list)"
if grep -q '^  cycles,' list; then
	must_record cycles.er -q 0 -h cycles -- "$syn/spin" alpha:1
	cp record.out out
	check_that "cycles of alpha" "$(count_of alpha e.+cycles cycles.er) > 1e8"
else
	record none.er -h cycles -q 0 true && not_ok "no PMU: refused" || ok "no PMU: refused"
	check_that "without a PMU, -h cycles fails with one sentence" "$(wc -l <record.err) == 1 && $(grep -c 'has no such hardware counter.*that -h alone lists$' record.err) == 1" "$(cat record.err)"
	[ -e none.er ] && not_ok "without a PMU, -h cycles leaves no experiment" || ok "without a PMU, -h cycles leaves no experiment"
fi
record none.er -h nothing -q 0 true && not_ok "an unknown counter is refused" || ok "an unknown counter is refused"

# Without -h the counter program is not loaded, and nothing mentions counters.
must_record plain.er -q 0 true
check_that "without -h nothing mentions counters" "$(grep -c 'hwsimctr\|hwcounter' plain.er/log.xml) + \
	$(grep -c '<counter' plain.er/recorder.xml) == 0 && $(ls plain.er | grep -c hwcounters) == 0"
