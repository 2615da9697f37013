#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# lines, pcs, source and disasm of a followed process and of one that gprofng
# collected: Debian's gprofng and er_print give each line, address and instruction of
# the program the same numbers. Its code is built so that gprofng 2.40 can read it:
# DWARF 4, one row of the line table for an address. docs/oracle.md says which differences
# are removed, and why ours is right.
. "$(dirname "$0")/../lib/live.sh"
. "$top/tests/lib/oracle.sh"

command -v gprofng >/dev/null || skip_all "gprofng is not installed"
case $(gprofng --version | sed -n '1s/.* \([0-9.]*\)$/\1/p') in
2.4[5-9]* | 2.[5-9][0-9]*) skip_all "gprofng 2.45 and later takes each pc for the one before it (docs/oracle.md)" ;;
esac
cp "$top"/tests/fixtures/source/*.[ch] . &&
	gcc -O2 -g -gdwarf-4 -gno-statement-frontiers -fno-omit-frame-pointer -o orc main.c work.c ||
	{ not_ok "the program is built"; exit 1; }

# When gprofng 2.40 looks up its first address it does not know the inlined calls yet, and places
# that address wrongly. After any view of the source it knows them.
theirs() { gprofng_text -outfile ignored -source work -outfile - "$@" 2>theirs.err; }

# Rows about the program's own files. Ours doubles a quote inside a cell. gprofng's inlined names
# are wrong beyond the first unit; the unit tests check ours.
list_rows() { sed 's/""/"/g; s/ *<-- .*//; s/"*$//' | grep -E '^"[0-9.]+",.*line [0-9]+ in "(work|main)\.c$' | grep -v '^"0\.","0\."' | sort; }

# Metrics and line of each source line that has time. gprofng shows code that was inlined into a
# line in a row of its own; this is added to the line.
source_rows()
{
	awk '{ sub(/^## */, ""); sub(/^ +/, "") }
		match($0, /^[0-9.]+ +[0-9.]+ +/) {
			text = substr($0, RLENGTH + 1); split($0, v, / +/)
			if (text ~ /^[0-9]+\. /) line = text + 0
			else if (text !~ /line [0-9]+ in/) next
			e[line] += v[1]; i[line] += v[2]; n[line]++ }
		END { for (l in e) if (e[l] + i[l] > 0) print l, e[l], i[l], n[l] }' | sort
}

# Metrics, line, address and mnemonic of each instruction that has time.
insn_rows()
{
	sed 's/^## */ /' | sed -nE 's/^ +([0-9.]+) +([0-9.]+) +\[([0-9?]+)\] +([0-9a-f]+): +([a-z0-9]+).*/\1 \2 \3 \4 \5/p' |
		grep -v '^0\. 0\. ' | sort
}

# The address of each marked instruction.
marked_rows() { sed -nE 's/^## .*\[[0-9?]+\] +([0-9a-f]+): .*/\1/p' | sort; }

# The "label value of title" lines that lsummary and psummary print about the program's own lines, of
# the metric that both list them by: $listed. A row that has time in another metric only is in
# gprofng's summary, and not in ours.
summary_rows()
{
	awk -v listed="$listed" 'BEGIN { wanted = "^ +(Ex|In)clusive " listed " CPU" }
		{ gsub(/\t/, " ") } /^[^ ].*line [0-9]+ in/ { sub(/ *<-- .*/, ""); title = $0; next }
		/^$/ { title = "" }
		title ~ /line [0-9]+ in "(work|main)\.c"/ && match($0, /: +[0-9.]+/) && $0 ~ wanted {
			label = substr($0, 1, RSTART - 1); sub(/^ +/, "", label)
			split(substr($0, RSTART + 1), v, / +/)
			if (v[2] !~ /^0\.?(000)?$/) print label, v[2], "of " title }' | sort
}

# same NAME ROWS EXPERIMENT OPTIONS… VIEW
same()
{
	local name=$1 rows=$2 exp=$3
	shift 3

	theirs "$@" "$exp" | $rows >theirs
	ours "$@" "$exp" | $rows >ours
	if [ ! -s theirs ] && [ ! -s ours ] && [ "${few:-}" ]; then
		skip "$name" "no sample fell there"
	else
		equal_rows "$name" $([ $rows != source_rows ] || echo nearly)
	fi
}

# A line that gprofng shows in parts may differ by the last digit of each part.
nearly()
{
	[ "$(cut -d' ' -f1 theirs)" = "$(cut -d' ' -f1 ours)" ] && paste -d' ' theirs ours | awk '
		{ most = ($4 * 0.0006) ^ 2; if (($2 - $6) ^ 2 > most || ($3 - $7) ^ 2 > most) exit 1 }'
}

# compare NAME EXPERIMENT METRIC
compare()
{
	listed=User
	[ "$3" = user ] || listed=Total
	same "$1 lines" list_rows "$2" -printmode , -metrics "ei.$3:name" -lines
	same "$1 pcs" list_rows "$2" -printmode , -metrics "ei.$3:name" -pcs
	for f in hot warm; do
		same "$1 disasm $f" insn_rows "$2" -metrics "ei.$3:name" -disasm $f
	done
	for percent in 1 30 75; do
		same "$1 dthresh $percent" marked_rows "$2" -metrics "e.$3:name" \
			-dthresh $percent -disasm hot
	done
	same "$1 lsummary" summary_rows "$2" -metrics "ei.$3:name" -lsummary
	same "$1 psummary" summary_rows "$2" -metrics "ei.$3:name" -psummary
	same "$1 source" source_rows "$2" -metrics "ei.$3:name" -source work
}

# Exclusive and inclusive seconds of a function in a CSV report.
times_of() { awk -F'","' -v name="$1" '{ sub(/^"/, ""); sub(/"$/, "") } $3 == name { print $1, $2 }' "$2"; }

# Code that the compiler split off a function: shown as recorded it equals gprofng's; shown as a
# part, its time is in the function's inclusive metrics once.
split_off()
{
	local list="-printmode , -metrics ei.user:name -functions" part

	theirs $list cold.er | grep -E '"(main|hot|hot\.cold|rare|spin)"$' | sort >theirs
	ours -viewmode machine $list cold.er | grep -E '"(main|hot|hot\.cold|rare|spin)"$' | sort >ours
	check "a part was recorded" grep -q '"hot.cold"' theirs
	equal_rows "parts as recorded"
	ours -viewmode user $list cold.er >parts
	part=$(sed -n 's/^.*"\(hot -- outline code from line [0-9]* \[hot.cold\]\)"$/\1/p' parts)
	set -- $(times_of hot parts) $(times_of "$part" parts)
	check_that "a function's own time and that of its part are its inclusive time" \
		"${4:-0} > 0.1 && (${1:-0} + ${4:-0} - ${2:-0}) ^ 2 < 0.0021 ^ 2" "$*"
}

must_record followed.er -F '=^orc$' -p high -q 0 -A copy -- ./orc
compare followed followed.er user
if gprofng collect app -p hi -O app.er ./orc >/dev/null 2>&1; then
	# gprofng may have taken only a handful of samples on a busy machine.
	few=1 compare "collect app" app.er totalcpu
else
	skip "collect app" "gprofng collect app does not work here"
fi

gcc -O2 -g -gdwarf-4 -fno-omit-frame-pointer -mno-omit-leaf-frame-pointer -o cold cold.c
if nm cold 2>/dev/null | grep -q ' hot\.cold$'; then
	must_record cold.er -F '=^cold$' -p high -q 0 -A copy -- ./cold
	split_off
else
	skip "parts that a compiler split off" "this gcc does not split them off"
fi
