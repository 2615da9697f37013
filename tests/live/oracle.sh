#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Debian's unmodified gprofng and our er_print open the same experiments and
# must print the same rows: functions, callers-callees, calltree, objects. What
# differs is listed, never passed over. gprofng knows the delimiter only for
# lists; trees and panels are compared as text, blanks folded.
. "$(dirname "$0")/../lib/live.sh"

command -v gprofng >/dev/null || skip_all "gprofng is not installed"
theirs() { gprofng display text "$@" 2>/dev/null; }
ours() { "$er_print" "$@" 2>/dev/null; }

# Rows only, in an order of their own: ties have no promised order. A function without
# time in the metrics shown is left out: gprofng lists it when it has some in another
# metric, er_print does not (P-014).
list_rows() { grep '^"[0-9.]' | grep -vE '^("0\.",)+"[^0-9]' | sort; }
# A panel begins with an empty line; its rows are sorted, the panels keep their centre.
panel_rows()
{
	awk '{ sub(/^ +/, "") }
		/^[0-9.-]+ / && !/sec\./ { gsub(/[ \t]+/, " "); sub(/ $/, ""); row[++n] = $0; next }
		{ flush() } END { flush() }
		function flush(  i, centre) {
			for (i = 1; i <= n; i++) if (row[i] ~ /^[0-9. ]*\*/) { centre = row[i]
				sub(/^[0-9. ]*/, "", centre) }
			for (i = 1; i <= n; i++) if (row[i] !~ /^0\. /) print centre " : " row[i]
			n = 0
		}' | sort
}
# A row with its depth. Bars make the indent of a level differ, so levels are counted.
tree_rows()
{
	awk '/\+-/ { at = index($0, "+-"); while (n && indent[n] >= at) n--
		indent[++n] = at
		numbers = substr($0, 1, at - 1); gsub(/[ |]+/, " ", numbers); sub(/^ /, "", numbers)
		if (numbers !~ /^ *0\. *$/) print n, numbers, substr($0, at + 2) }' | sort
}
object_rows() { sed -n 's/^[ 0-9.-]*\(<[^>]*>\).*/\1/p' | sort -u; }

# The two may know one function by different names: of several at an address
# each picks by a rule of its own, and gprofng says <static>@ADDRESS where it does
# not read .gnu_debugdata. `renames` holds theirs and ours, for the same address;
# it is printed, and in gprofng's rows theirs is then replaced by ours.
find_renames()
{
	theirs -printmode , -metrics "$2:address:size:name" -functions "$1" >addr.theirs
	ours -printmode , -metrics "$2:address:size:name" -functions "$1" >addr.ours
	awk '
	function hex(s,  i, v) { for (i = 1; i <= length(s); i++)
		v = v * 16 + index("0123456789abcdef", substr(s, i, 1)) - 1; return v }
	function row(  p) { $0 = substr($0, 2, length($0) - 2); split($0, part, "\",\"")
		split(part[3], p, ":0x"); object = p[1]; at = hex(p[2]); name = part[5] }
	!/^"[0-9.]+","[0-9.]+","[0-9]+:0x/ { next }
	FILENAME == "addr.ours" { row(); known[name]; n++; from[n] = at; to[n] = at + part[4]; obj[n] = object
		called[n] = name; next }
	{ row(); if (name in known || !at) next
	  for (i = 1; i <= n; i++)
		if (obj[i] == object && (at == from[i] || (name ~ /^<static>/ && from[i] < at + part[4] && at < to[i]))) {
			print name "\t" called[i]; next } }' addr.ours addr.theirs | sort -u >renames
	sed 's/^\(.*\)\t\(.*\)/# gprofng: \1, er_print: \2/' renames
}

rename()
{
	awk -F'\t' 'FILENAME == "renames" { new[$1] = $2; next }
		{ for (old in new) {
			quote = /"$/ ? "\"" : ""
			at = length($0) - length(old) - length(quote)
			if (at > 0 && substr($0, at + 1) == old quote &&
			    substr($0, at, 1) ~ /[ *"-]/) {
				$0 = substr($0, 1, at) new[old] quote; break } }
		  print }' renames -
}

# same NAME FILTER EXPERIMENT OPTIONS VIEW [OUR-OWN-OPTIONS]
same()
{
	local name=$1 rows=$2 exp=$3

	theirs $4 "$5" "$exp" | rename | $rows >theirs
	ours $4 ${6:-} "$5" "$exp" | $rows >ours
	if [ ! -s theirs ]; then
		not_ok "$name: gprofng prints rows" "$(gprofng display text $4 "$5" "$exp" 2>&1 | tail -n 5)"
	elif cmp -s theirs ours; then
		ok "$name: $(wc -l <ours) rows are equal"
	else
		not_ok "$name: rows are equal (< gprofng, > er_print), of $(wc -l <theirs)" \
			"$(diff theirs ours)"
	fi
}

# compare NAME EXPERIMENT METRIC…
compare()
{
	local name=$1 exp=$2 m
	shift 2

	for m in "$@"; do
		find_renames "$exp" "ei.$m"
		same "$name functions $m" list_rows "$exp" "-printmode , -metrics ei.$m:name" -functions
		# gprofng has no cmetrics: its panels show the attributed metric
		same "$name callers-callees $m" panel_rows "$exp" "-metrics ei.$m:name" \
			-callers-callees "-cmetrics a.$m:name"
		same "$name calltree $m" tree_rows "$exp" "-metrics ei.$m:name" -calltree
	done
	same "$name objects" object_rows "$exp" "" -objects
}

load="$syn/spin outer\\>alpha:0.4 beta:0.2 >/dev/null; $syn/sysload zero:0.3 ppid:0.3 >/dev/null"

must_record off.er -F off -p high -q 0 -- sh -c "$load"
compare "-F off" off.er kcpu

# Programs of ours: for stripped ones each program names code without symbols its own way.
must_record on.er -F '=^(spin|sysload)$' -p high -q 0 -- sh -c "$load"
compare "followed" on.er user system

# KCPU as a person means it: ours is gprofng's kernel CPU and its system CPU.
total() { "$@" 2>/dev/null | csv_rows | awk -F'\t' '$2 == "<Total>" { print $1; exit }'; }
kcpu=$(total theirs -printmode , -metrics e.kcpu:name -functions on.er)
system=$(total theirs -printmode , -metrics e.system:name -functions on.er)
got=$(total ours -printmode , -metrics e.kcpu:name -functions on.er)
check_that "our kcpu is gprofng's kcpu + system" "($got - ${kcpu:-0} - ${system:-0})^2 < 0.0021^2" \
	"$got, $kcpu + $system"

mkdir fixtures
if "$O/tests/golden/make_fixtures" fixtures; then
	compare "tree" fixtures/tree.1.er user total
	compare "system" fixtures/sys.1.er user system
	compare "recursion" fixtures/rec.1.er user
	compare "not closed" fixtures/cut.1.er user
else
	not_ok "make_fixtures"
fi

if gprofng collect app -p hi -o app.er "$syn/spin" 'outer>alpha:0.5' beta:0.2 >/dev/null 2>&1; then
	compare "collect app" app.er totalcpu
else
	skip "collect app" "gprofng collect app does not work here"
fi
