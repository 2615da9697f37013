#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The metrics of all ten microstates, by their names and by the older ones, in
# each view that both programs have: gprofng's display and er_print must print
# the same numbers. The experiment has amounts that tell each state from the others.
. "$(dirname "$0")/../lib/tap.sh"
. "$top/tests/lib/oracle.sh"

command -v gprofng >/dev/null || { skip "gprofng prints the same" "gprofng is not installed"; exit 0; }
"$O/tests/golden/make_waits" . || { not_ok "make_waits"; exit 1; }

rows() { grep '^"[0-9.]' | unlabelled | sort; }

# A view may or may not list rows that are 0 in the shown metric: both are right.
nonzero() { grep -vE '^"0\.","0\."'; }

# same METRIC VIEW [METRIC-OF-GPROFNG]
same()
{
	gprofng_text -printmode , -metrics "e.%$3:name" "-$2" states.1.er 2>/dev/null |
		rows | nonzero >theirs
	"$er_print" -printmode , -metrics "e.%$1:name" "-$2" states.1.er 2>/dev/null |
		rows | nonzero >ours
	if [ ! -s theirs ]; then
		not_ok "$1, $2: gprofng prints rows"
	elif cmp -s theirs ours; then
		same=$((same + 1))
	else
		not_ok "$1, $2: rows are equal (< gprofng, > er_print)" "$(diff theirs ours)"
	fi
}

for view in functions cpus samples seconds; do
	same=0
	for m in total totalcpu user system trap datapfault textpfault kernelpfault stop wait sleep lock; do
		same $m $view $m
	done
	same data $view datapfault
	same text $view textpfault
	same ulock $view lock
	[ $same = 15 ] && ok "$view: the same rows in all 15 metrics"
done

# The older names mean sums that gprofng has no name for: owait is three states.
sum() { "$er_print" -printmode , -metrics "e.$1:name" -functions states.1.er 2>/dev/null |
	awk -F'"' '$4 == "<Total>" { print $2 * 1000; exit }'; }
check "owait is sleep, stop and kernelpfault" \
	[ "$(sum owait)" = $(($(sum sleep) + $(sum stop) + $(sum kernelpfault))) ]
check "wall is the time of the thread whose number is the process's" \
	[ "$(sum wall)" = $((10 * 50 + 7 * 45)) ]
