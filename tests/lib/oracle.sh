# SPDX-License-Identifier: GPL-2.0-or-later
#
# For tests that have gprofng and er_print read the same experiment. Source it
# after tap.sh. What differs is listed, never passed over. gprofng knows the
# delimiter only for lists; trees and panels are compared as text, blanks folded.

# gprofng shows parts that a compiler split off functions as what their symbols say.
echo viewmode machine >.er.rc

# Any process of the machine may be recorded, whatever its name: gprofng prints control
# characters as they are, er_print their numbers.
for c in 01 02 03 04 05 06 07 08 0b 0c 0d 0e 0f 10 11 12 13 14 15 16 17 18 19 1a 1b 1c 1d 1e 1f 7f; do
	printf "%s\n" "s/\\x$c/\\\\x$c/g"
done >control.sed
theirs() { gprofng display text "$@" 2>theirs.err | sed -f "$tmp/control.sed"; }
# Like gprofng, er_print goes on after a command that fails. Tabs are also gprofng's layout.
ours() { "$er_print" -keep-going "$@" 2>/dev/null | sed 's/\\x09/\t/g'; }

# collect_traced OPTIONS EXPERIMENT…: of tests/synprog/traced, by gprofng's own recorder.
collect_traced()
{
	local options=$1 exp
	shift

	command -v gprofng >/dev/null || skip_all "gprofng is not installed"
	[ -x "$er_print" ] && [ -x "$syn/traced" ] || { not_ok "programs are built"; exit 1; }
	mkdir files
	for exp; do
		gprofng collect app $options -o "$exp" "$syn/traced" "$tmp/files" >collect.out 2>&1
		[ -s "$exp/log.xml" ] ||
			skip_all "gprofng collect app does not record here: $(tail -n 1 collect.out)"
	done
}

# equal_rows NAME [COMMAND]: of the files `theirs` and `ours`; or the command finds them near enough.
equal_rows()
{
	if [ ! -s theirs ]; then
		not_ok "$1: gprofng prints rows" "$(tail -n 5 theirs.err)"
	elif cmp -s theirs ours || ${2:-false}; then
		ok "$1: $(wc -l <ours) rows are equal"
	else
		not_ok "$1: rows are equal (< gprofng, > er_print), of $(wc -l <theirs)" \
			"$(diff theirs ours)"
	fi
}

# Rows of CSV, alike but for one in the last of three digits: sums of the same times, one
# of which gprofng has in microseconds, are rounded to different sides of a half.
times_alike()
{
	awk -F'","' '{ gsub(/^"|"$/, ""); seen[$NF] = 1
			for (i = 1; i < NF; i++) { v[NR == FNR, $NF, i] = $i; if (i > n) n = i } }
		END { for (name in seen) for (i = 1; i <= n; i++)
			if ((v[1, name, i] - v[0, name, i]) ^ 2 > 0.0011 ^ 2) exit 1 }' theirs ours
}

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
			for (i = 1; i <= n; i++) if (row[i] !~ /^0\.? /) print centre " : " row[i]
			n = 0
		}' | sort
}
# A row with its depth. Bars make the indent of a level differ, so levels are counted.
tree_rows()
{
	awk '/\+-/ { at = index($0, "+-"); while (n && indent[n] >= at) n--
		indent[++n] = at
		numbers = substr($0, 1, at - 1); gsub(/[ |]+/, " ", numbers); sub(/^ /, "", numbers)
		if (numbers !~ /^ *0\.? *$/) print n, numbers, substr($0, at + 2) }' | sort
}
object_rows() { sed -n 's/^[ 0-9.-]*\(<[^>]*>\).*/\1/p' | sort -u; }

# The two may know one function by different names: of several at an address
# each picks by a rule of its own, and gprofng says <static>@ADDRESS where it does
# not read .gnu_debugdata. `renames` holds theirs and ours, for the same address;
# it is printed, and in gprofng's rows theirs is then replaced by ours.
all_renames()
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
	{ row(); if (name in known || !at || (name ~ /^</ && name !~ /^<static>/)) next
	  for (i = 1; i <= n; i++)
		if (obj[i] == object && (at == from[i] || (name ~ /^<static>/ && from[i] < at + part[4] && at < to[i]))) {
			print name "\t" called[i]
			if (name !~ /^</) next } }' addr.ours addr.theirs
}

# One <static>@ of gprofng's may be several functions of ours: such rows cannot be
# compared, and are left out on both sides (`vague`).
keep_clear()
{
	: >vague
	cut -f1 renames | sort | uniq -d >twice
	awk -F'\t' 'FILENAME == "twice" { vague[$0]; next }
		$1 in vague { print $1 >"vague"; print $2 >"vague"; next } { print }' twice renames >clear
	mv clear renames
	sed 's/^\(.*\)\t\(.*\)/# gprofng: \1, er_print: \2/' renames
	sed 's/^/# several functions in one row of gprofng: /' twice
}

find_renames()
{
	all_renames "$1" "$2" | sort -u >renames
	keep_clear
}

without_vague()
{
	[ -f vague ] || : >vague
	awk 'FILENAME == "vague" { vague[$0]; next }
		{ for (name in vague) {
			quote = /"$/ ? "\"" : ""
			at = length($0) - length(name) - length(quote)
			if (at > 0 && substr($0, at + 1) == name quote && substr($0, at, 1) ~ /[ *"-]/)
				next }
		  print }' vague -
}

# Of several metrics.
find_all_renames()
{
	local exp=$1 m
	shift

	for m; do all_renames "$exp" "ei.$m"; done | sort -u >renames
	keep_clear
}

# Dots in the kernel's names are written as other characters, for gprofng (docs/format.md).
rename()
{
	sed 's/`·/`/; s/·/./g' | awk -F'\t' 'FILENAME == "renames" { new[$1] = $2; next }
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

	theirs $4 "$5" "$exp" | without_vague | rename | $rows >theirs
	ours $4 ${6:-} "$5" "$exp" | without_vague | $rows >ours
	equal_rows "$name"
}

# compare NAME EXPERIMENT METRIC…: of the packets that `filters` leaves, if it is set.
compare()
{
	local name=$1 exp=$2 m only=${filters:+-filters $filters}
	shift 2

	for m in "$@"; do
		find_renames "$exp" "ei.$m"
		same "$name functions $m" list_rows "$exp" "$only -printmode , -metrics ei.$m:name" -functions
		# gprofng has no cmetrics: its panels show the attributed metric
		same "$name callers-callees $m" panel_rows "$exp" "$only -metrics ei.$m:name" \
			-callers-callees "-cmetrics a.$m:name"
		same "$name calltree $m" tree_rows "$exp" "$only -metrics ei.$m:name" -calltree
	done
	same "$name objects" object_rows "$exp" "" -objects
}

# --- lists by anything else, compared by numbers and, where they are the same, names ---

# The rows of a list in CSV, blanks folded, "0." as 0.000 (gprofng calls some small
# times nothing at all); rows without any number but 0 are left out of both sides.
csv_numbers()
{
	grep '^"[0-9. -]' | sed 's/  */ /g; s/" /"/g; s/"\([0-9]*\)\."/"\1.000"/g' |
		grep -vE '^("0(\.0+)?",)+"[^"]*"$' | sort
}

# The same without names, for lists whose names differ.
csv_unnamed() { csv_numbers | sed 's/,"[^"]*[^0-9."][^"]*"$//' | sort; }

# With `may_be_empty` set neither may print rows: on a busy machine nothing falls into a second.
# same_list NAME ROWS EXPERIMENT THEIR-OPTIONS OUR-OPTIONS: `theirs_more`, a sed script,
# evens out what is listed in docs/oracle.md; `alike`, a command, says what is equal as well.
same_list()
{
	local name=$1 rows=$2 exp=$3

	eval "theirs -printmode , $4 \"\$exp\"" | rename | $rows | sed "${theirs_more:-}" | sort >theirs
	eval "ours -printmode , $5 \"\$exp\"" | $rows | sed "${ours_more:-}" | sort >ours
	if [ "${may_be_empty:-}" ] && [ ! -s theirs ] && [ ! -s ours ]; then
		skip "$name" "nothing was recorded there"
	else
		equal_rows "$name" "${alike:-}"
	fi
}

# Rows of text of so many numbers and a name, as CSV: for reports that gprofng prints as
# text whatever the mode.
text_numbers()
{
	awk -v n="$1" '{ for (i = 1; i <= n; i++) if ($i !~ /^[0-9.]+$/) next
		row = ""; for (i = 1; i <= n; i++) row = row "\"" $i "\","
		name = $0; for (i = 1; i <= n; i++) sub(/^ *[^ ]+/, "", name)
		sub(/^ +/, "", name); sub(/ +$/, "", name); print row "\"" name "\"" }' | csv_numbers
}
