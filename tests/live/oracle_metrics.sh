#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Comparison of experiments, panels of several functions, leaks and statistics. For gprofng's
# recordings, gprofng's display and er_print must print the same numbers. docs/oracle.md lists what
# may differ.
. "$(dirname "$0")/../lib/tap.sh"
. "$top/tests/lib/oracle.sh"

collect_traced "-p hi -s all -H on -i on" one.er two.er

# Comparison: gprofng always prints the values of each experiment.
metrics=ei+heapalloccnt:ei+ioreadcnt:i+syncn:name
find_all_renames "one.er two.er" heapalloccnt ioreadcnt syncn >/dev/null 2>&1
numbers() { grep '^"[0-9]' | sed 's/,"[^"]*"$//' | grep -v '^"0"\(,"0"\)*$' | sort; }
theirs -compare on -printmode , -metrics $metrics -functions one.er two.er | numbers >theirs
ours -compare on -printmode , -metrics $metrics -functions one.er two.er | numbers >ours
equal_rows "compare on"
head_of() { grep '^"[a-z]*\.er"' | sed 's/"\([^"]*\)"/\1/g'; }
theirs -compare on -printmode , -metrics $metrics -functions one.er two.er | head_of >theirs
ours -compare on -printmode , -metrics $metrics -functions one.er two.er | head_of >ours
equal_rows "compare on: headings"
for how in delta ratio; do
	text_of() { sed 's/^ *//; s/ *\*\{0,1\}<Total>.*/ <Total>/; s/x  */x/g; s/  */ /g' | grep '<Total>'; }
	theirs -compare $how -metrics $metrics -functions one.er two.er | text_of >theirs
	ours -compare $how -metrics $metrics -functions one.er two.er | text_of >ours
	equal_rows "compare $how: <Total>"
done

# Calls by common stack: their number and bytes.
calls_of() { sed -n 's/^[A-Z][a-z]* #[0-9]*, Instances = \([0-9]*\), Bytes [A-Z][a-z]* = \([0-9]*\)$/\1 \2/p' | sort; }
for c in leaks allocs; do
	theirs -$c one.er | calls_of >theirs
	ours -printmode csv -$c one.er | sed -n 's/^[0-9]*,\([0-9]*\),\([0-9]*\),[A-Z][a-z]* #.*/\1 \2/p' |
		sort >ours
	equal_rows "$c by stack"
done
# gprofng also shows later times at which the same peak was reached.
theirs -heapstat one.er | grep -v 'Time of peak' | awk '/[0-9] *$/ { print $NF }' >theirs
ours -printmode csv -heapstat one.er | grep -v 'Time of peak' | awk -F, '$2 != "" { print $2 }' >ours
equal_rows "heapstat"
sizes_of() { tr -d '"' | sed -n 's/^ *\(Total calls\|Total bytes\|Smallest.*bytes\|Largest.*bytes\|[0-9]*.B - [0-9]*.B\)[ ,]*\([0-9]*\) *$/\2/p'; }
theirs -iostat one.er | sed '/^Other/,$d' | sizes_of >theirs
ours -printmode csv -iostat one.er | sed '/^Other/,$d' | sizes_of >ours
equal_rows "iostat: reads and writes"

# Only one experiment: the last digit of the average depends on nanoseconds, which records round.
values()
{
	sed 's/( *[0-9.]* *%)//' | awk -F: 'NF == 2 && !/Label|Experiment|Start|End|Average/ {
		gsub(/^ +/, "", $1); split($2, v, " "); if (v[1] != "") print $1, v[1] }'
}
theirs -statistics 1 one.er | values >theirs
ours -statistics 1 one.er | values >ours
equal_rows "statistics"

# Panels of functions that called each other; gprofng shows attributed values.
panel() { tac | sed '/^Callers and/q' | grep -E '^ *[0-9]+ ' | awk '{ print $1, $NF }' | grep -v '<static>' | sort; }
metrics="-metrics i+heapalloccnt:name"
theirs $metrics -csingle keep 1 -cprepend use_memory 1 one.er | panel >theirs
ours $metrics -cmetrics a+heapalloccnt:name -csingle keep -cprepend use_memory one.er | sed 's/\*//' | panel >ours
equal_rows "csingle, cprepend"
theirs $metrics -csingle use_memory 1 -cappend keep 1 -crmfirst one.er | panel >theirs
ours $metrics -cmetrics a+heapalloccnt:name -csingle use_memory -cappend keep -crmfirst one.er |
	sed 's/\*//' | panel >ours
equal_rows "cappend, crmfirst"
