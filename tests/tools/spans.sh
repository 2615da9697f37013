#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Programs that know nothing of spans: gprofng and the exports say the same with and without them.
# No export has a text of a span.
. "$(dirname "$0")/../lib/tools.sh"

fresh
put spans.1.er with.er without.er
for part in without.er/_*.er; do
	sed -i '/<profile name="omptrace">/,/<\/profile>/d' "$part/log.xml"
	rm "$part/spans"
done
rm without.er/spans.xml without.er/spanstrings.xml.gz
check "one of them has spans" grep -q omptrace with.er/_app_PID_12.1.er/log.xml
check "the other has none" test -z "$(grep -rl omptrace without.er)"

if command -v gprofng >/dev/null; then
	for e in with without; do
		gprofng_text -metrics e.total:i.total:name -functions -calltree -header -overview \
			"$e.er" 2>&1 | sed "s/$e\.er/X/g" >"$e.txt"
	done
	check "gprofng reads the experiment" grep -q descend with.txt
	same "gprofng ignores spans" with.txt without.txt
else
	skip "gprofng ignores spans" "gprofng is not installed"
fi

check "the fixture has a text" grep -q '31m%25%00' "$(zcat with.er/spanstrings.xml.gz >text; echo text)"
for to in folded pprof perfetto speedscope firefox page; do
	for e in with without; do
		er_export --to "$to" -o "$e.$to" "$e.er" >/dev/null 2>&1 || not_ok "$to: $e spans"
	done
	check "$to: has data" test -s "with.$to"
	check "$to: no text of a span" test -z "$(grep -la '31m%00' "with.$to")"
done
sed 's/with\.er/X/g' with.folded >a
sed 's/without\.er/X/g' without.folded >b
same "folded stacks are the same" a b

perl "$top/tests/lib/query.pl" 'count() sum(SPANDUR) from spans where SPAN == 1 && RETURNED' with.er >q
check "query.pl reads spans" grep -qx "100	207510000" q
