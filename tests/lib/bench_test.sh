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
