#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# docs/requirements-status.md: every test that it names exists, every row that is done has a test,
# no row is missing or duplicated, and its first table counts the rows.
. "$(dirname "$0")/tap.sh"

# The rows as "ID tab state tab tests". Within a cell a bar is written \|.
rows()
{
	awk '{ gsub(/\\\|/, "\001") } /^\| [A-Z]-[0-9]+ \|/ { split($0, c, / *\| */)
		print c[2] "\t" c[5] "\t" c[6] }' "$1"
}

# Lists what the page names and does not exist: golden cases, unit:, live: and tools:. A name may be a pattern.
missing_tests()
{
	rows "$1" | cut -f3 | sed 's/([^)]*)//g; s/ *, */,/g; s/ *$//' | tr , '\n' | sort -u | (
		cd "$top" && while read -r name; do
			case $name in
			'') continue ;;
			unit:*) file=tests/unit/test_${name#unit:}.c ;;
			live:*) file=tests/live/${name#live:}.sh ;;
			tools:*) file=tests/tools/${name#tools:}.sh ;;
			*) file="tests/golden/$name" ;;
			esac
			set -- $file
			[ -e "$1" ] || echo "$name"
		done)
}

# Rows without a known state, and rows that are done but have no test.
bad_rows()
{
	rows "$1" | awk -F'\t' '$1 ~ /^B/ { next }
		$2 !~ /^(done|partly|not yet|n\/a)/ { print $1 ": no state" }
		$2 ~ /^done/ && $3 == "" { print $1 ": no test" }
		seen[$1]++ { print $1 ": there twice" }'
}

# The rows that the first table must have: sections in the order of their letters. The number after
# each letter is that of its CORE and USEFUL rows in the requirements.
true_summary()
{
	rows "$1" | awk -F'\t' '
		BEGIN { n = split("C110 K41 X27 M70 P108 S50 G50 U10 L7", s, " ") }
		{ l = substr($1, 1, 1); all[l]++
			sub(/^(done|partly|not yet|n\/a)/, "&|", $2); sub(/\|.*/, "", $2); is[l, $2]++ }
		function put(name, rows, d, p, y, x) { print name, rows, d, p, y, x }
		END { for (i = 1; i <= n; i++) { l = substr(s[i], 1, 1)
			put(i, substr(s[i], 2), is[l, "done"] + 0, is[l, "partly"] + 0, is[l, "not yet"] + 0,
				is[l, "n/a"] + 0)
			if (all[l] != substr(s[i], 2)) print "section " i " has " all[l] + 0 " rows"
			rows += all[l]; d += is[l, "done"]; p += is[l, "partly"]; y += is[l, "not yet"]
			x += is[l, "n/a"] }
		put("all", rows, d, p, y, x + 0) }'
}

shown_summary()
{
	awk -F' *[|] *' '/^\| [0-9] |^\| \*\*all/ { sub(/ .*/, "", $2); gsub(/\*/, "", $2)
		print $2, $3, $4, $5, $6, $7 }' "$1"
}

# check_page FILE: lists everything that is wrong with it.
check_page()
{
	missing_tests "$1" | sed 's/^/no such test: /'
	bad_rows "$1"
	true_summary "$1" >want
	shown_summary "$1" | diff want - | sed -n 's/^</must be:/p; s/^>/is:/p'
}

status=$top/docs/requirements-status.md
wrong=$(check_page "$status")
[ -z "$wrong" ] && ok "the page agrees with itself and with the tests" ||
	not_ok "the page agrees with itself and with the tests" "$wrong"

# found NAME SED-EXPRESSION WORDS: the test must find this change of the page
found()
{
	sed "$2" "$status" >changed.md
	check_page changed.md | grep -q "$3" && ok "found: $1" || not_ok "found: $1" "$(check_page changed.md)"
}
found "a test that is gone" 's/unit:schedule/unit:no_such/; s/unit:options/unit:no_such/' 'no such test: unit:no_such'
found "a golden case that is gone" 's/| pathmap |/| pathmaps |/' 'no such test: pathmaps'
found "a row that is gone" '/^| K-039 /d' 'section 2 has 40 rows'
found "a row that is there twice" '/^| K-039 /p' 'K-039: there twice'
found "a state that is none" '/^| K-039 /s/done/well/' 'K-039: no state'
found "done without a test" 's/^\(| K-010 .*| done |\).*/\1  |/' 'K-010: no test'
found "a sum that is wrong" '/^| \*\*all/s/| [0-9]* |/| 1 |/' 'is: all 1'
found "a row that changed its state" '/^| K-039 /s/done/partly/' 'must be: 2 41 40 1'
