#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The page that make bench writes: new tables, and the text that was there.
. "$(dirname "$0")/tap.sh"
. "$top/tests/bench/report.sh"
perf() { echo "perf version 6"; }
gprofng() { echo "gprofng (GNU Binutils) 2.40.00"; }

cat >old.md <<'END'
# Performance

Written by `make bench`.

Linux 6, 2 CPUs (x),
perf version 6.1, gprofng 2.40.00, 2026-01-01.

Read this first.

## Spans

| what | target | measured | met |
|---|---|---|---|
| a span | 250 ns | 999 ns | no |

The pair of breakpoints
is the kernel's.

A second paragraph.

## On disk

Measured apart.
END
table="| what | target | measured | met |"
rows=("" "## Reading" "" "$table" "|---|---|---|---|" "| x | 1 s | 2 s | no |"
	"" "## Spans" "" "$table" "|---|---|---|---|" "| a span | 250 ns | 111 ns | yes |")
rounds=1
report old.md >new.md
sed '1,/^perf /d' new.md >got
cat >want <<END

Read this first.

## Reading

$table
|---|---|---|---|
| x | 1 s | 2 s | no |

## Spans

$table
|---|---|---|---|
| a span | 250 ns | 111 ns | yes |

The pair of breakpoints
is the kernel's.

A second paragraph.

## On disk

Measured apart.
END
check "tables are new, text stays" diff want got
report new.md >again.md
check "a page written twice is the same" diff new.md again.md
report none.md >first.md
check_that "without an old page there are the tables" "$(grep -c '^| a span | 250 ns | 111 ns' first.md) == 1"

# A run of some parts: the other sections stay as they are.
rows=("" "## Spans" "" "$table" "|---|---|---|---|" "| a span | 250 ns | 222 ns | yes |")
report_sections new.md >some.md
sed "s/^| a span .*/| a span | 250 ns | 222 ns | yes |/" new.md >want
check "a run of one section changes its table, and says when" diff want <(sed '/^Measured again on /,+1d' some.md)
check "the section names the machine" grep -q "^Measured again on Linux $(uname -r), .* gprofng 2.40.00, $(date +%F)\.$" some.md
report_sections some.md >twice.md
check "a section written twice is the same" diff some.md twice.md
rows=("" "## Runtimes" "" "$table" "|---|---|---|---|" "| names | 300 ms | 1 ms | yes |")
report_sections some.md >more.md
check "a section that the page does not have comes last" \
	diff more.md <(cat some.md; printf '\n## Runtimes\n\n%s\n\n%s\n' "$(grep -m 1 '^Measured again' some.md)" "$(printf '%s\n' "${rows[@]:3}")")
report some.md >whole.md
check_that "a whole run takes the section's date away" "$(grep -c '^Measured again' whole.md) == 0"

# All files of the bench are read by one shell: a function with the name of another would replace it.
same=$(cat "$top"/tests/bench/*.sh | sed -n 's/^\([a-z_0-9]*\)()$/\1/p' | sort | uniq -d)
[ -z "$same" ] && ok "no function of the bench has the name of another" || not_ok "no function of the bench has the name of another" "$same"
