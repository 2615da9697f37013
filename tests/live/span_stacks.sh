#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Functions in which a thread switches its stack. A return probe would make them return to the wrong place, and the
# program would go on with wrong results. So their ends are breakpoints, and each call is counted.
. "$(dirname "$0")/../lib/live.sh"

p=$syn/switches
"$p" >alone
check_that "the program knows its calls" "$(truth alone first) == 499 && $(truth alone second) == 499" "$(cat alone)"

must_record span.er -q 0 --span-limit unlimited --span "turn=$p:turn(1:s32)" -- "$p"
cmp -s alone record.out && ok "a span does not change what the program does" ||
	not_ok "a span does not change what the program does" "$(cat record.out)"
check_that "each call is counted" "$(query 'count from span' span.er) == 998 &&
	$(query 'unended from span' span.er) == 2 && $(query 'nobegin+noroom+lost from span' span.er) == 0" "$(cat span.er/spans.xml)"
check_that "each has its own argument" "$(query 'count() from spans where RETURNED && SPANA1 == 0' span.er) == 499"
# Between the begin and the end of a call the other coroutine begins one.
check_that "each lasts until the coroutine goes on" \
	"$(query 'count() from spans where RETURNED && SPANDEPTH <= 1' span.er) == 998"

must_record probe.er -q 0 -p off --probe-counts "turn=$p:turn%return" -- "$p"
cmp -s alone record.out && ok "nor does a probe of its return" || not_ok "nor does a probe of its return" "$(cat record.out)"
check_that "each return is a hit" "$(query 'hits from probe' probe.er) == 998"
