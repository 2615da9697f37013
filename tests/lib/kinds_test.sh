#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# A new kind of data changes the few files that docs/howto-packet.md lists: kinds are rows of
# tables, and no other file tells kinds apart.
. "$(dirname "$0")/tap.sh"

MOST=8
folders="analysis bpf kernel_er loaders tools user"

cd "$top" || exit 1
sed -n 's/^| `\([^`]*\)` | .*/\1/p' docs/howto-packet.md >"$tmp/listed"
check_that "at most $MOST existing files are listed" \
	"$(wc -l <"$tmp/listed") > 4 && $(wc -l <"$tmp/listed") <= $MOST"
gone=$(while read -r file; do [ -f "$file" ] || echo "$file"; done <"$tmp/listed")
[ -z "$gone" ] && ok "the listed files exist" || not_ok "the listed files exist" "$gone"

# rows DIR…: lists places that have a row or a case for a kind of record or packet.
rows()
{
	grep -rnE --include='*.[ch]' '(case |^[[:space:]]*\[)ER_(KIND|RING|PKT)_[A-Z_]+(:|\] *=)' "$@"
}
elsewhere=$(rows $folders | grep -vE '^(user/record/kinds|analysis/experiment/packet)\.c:')
[ -z "$elsewhere" ] && ok "only the two tables have a row a kind" ||
	not_ok "only the two tables have a row a kind" "$elsewhere"
check_that "the search finds the rows of the tables" "$(rows user/record/kinds.c analysis/experiment/packet.c | wc -l) > 8"

# Counters are a kind like any other, except for their own program and loader.
named=$(grep -rlE --include='*.[ch]' 'ER_(KIND|RING)_COUNTER|struct er_counter\b|counter_loader' \
	$folders | grep -vxF -f "$tmp/listed" | grep -vxE 'bpf/counter\.bpf\.c|loaders/counters\.c|user/record/task_samples\.c')
[ -z "$named" ] && ok "counters are named in the listed files only" || not_ok "counters are named in the listed files only" "$named"
