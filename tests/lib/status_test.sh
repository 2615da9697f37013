#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Every test that docs/requirements-status.md names exists.
. "$(dirname "$0")/tap.sh"

status=$top/docs/requirements-status.md
missing=$(awk -F'|' '$2 ~ /^ [BCKXMPSU]-[0-9]+ $/ { print $6 }' "$status" |
	grep -oE '(unit|live|tools):[a-z0-9_]+' | sort -u | while IFS=: read -r kind name; do
	case $kind in
	unit) file=tests/unit/test_$name.c ;;
	*) file=tests/$kind/$name.sh ;;
	esac
	[ -f "$top/$file" ] || echo "$file"
done)
[ -z "$missing" ] && ok "named tests exist" || not_ok "named tests exist" "$missing"

rows=$(grep -cE '^\| [BCKXMPSU]-[0-9]+ \|' "$status")
[ "$rows" -ge 358 ] && ok "every row has a state" || not_ok "every row has a state" "$rows rows"
