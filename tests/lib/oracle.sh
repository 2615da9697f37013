# SPDX-License-Identifier: GPL-2.0-or-later
#
# For tests that compare gprofng and er_print on the same experiment. Source it after
# tap.sh. Every difference is reported. gprofng has the delimited form only for lists; trees
# and panels are compared as text, with blanks folded.

# gprofng shows parts that a compiler split off functions under their own symbols.
echo viewmode machine >.er.rc

# Any process may be recorded, whatever its name. gprofng prints control characters
# unchanged, er_print as numbers.
for c in 01 02 03 04 05 06 07 08 0b 0c 0d 0e 0f 10 11 12 13 14 15 16 17 18 19 1a 1b 1c 1d 1e 1f 7f; do
	printf "%s\n" "s/\\x$c/\\\\x$c/g"
done >control.sed
# A function for large files has two names at one address. Either program shows now one, now the other.
# The collector's library defines both, so names of the whole recording do not tell which is meant.
printf '%s\n' 's/(^|[ *"-])(open|openat|creat|lseek|pread|pwrite|ftruncate|mmap|fopen)64("?)$/\1\2\3/' >large.sed
theirs() { gprofng_text "$@" 2>theirs.err | sed -f "$tmp/control.sed" | sed -Ef "$tmp/large.sed"; }
# gprofng continues after a failed command, so er_print must, too (-keep-going). gprofng also uses
# tabs for layout.
ours() { "$er_print" -keep-going "$@" 2>/dev/null | sed 's/\\x09/\t/g' | sed -Ef "$tmp/large.sed"; }

# collect_traced OPTIONS EXPERIMENT…: record tests/synprog/traced with gprofng's own
# recorder.
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

# equal_rows NAME [COMMAND]: the files `theirs` and `ours` are equal; with a command, it must
# succeed: it checks that they are nearly equal.
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

# CSV rows are alike if numbers differ by at most 1 in the third digit after the point. Both
# programs add up the same times, but gprofng has some of them in microseconds, so sums may round
# differently.
times_alike()
{
	awk -F'","' '{ gsub(/^"|"$/, ""); seen[$NF] = 1
			for (i = 1; i < NF; i++) { v[NR == FNR, $NF, i] = $i; if (i > n) n = i } }
		END { for (name in seen) for (i = 1; i <= n; i++)
			if ((v[1, name, i] - v[0, name, i]) ^ 2 > 0.0011 ^ 2) exit 1 }' theirs ours
}

# The rows, sorted, because ties have no defined order. Functions whose shown metrics are
# all 0 are left out: gprofng lists them if another metric is not 0, er_print does not.
list_rows() { grep '^"[0-9.]' | grep -vE '^("0\.",)+"[^0-9]' | sort; }
# A panel begins with an empty line. Each of its rows is printed with the panel's centre;
# then all are sorted.
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
# A tree's rows with their depth. Rails change the indent of a level, so levels are counted.
tree_rows()
{
	awk '/\+-/ { at = index($0, "+-"); while (n && indent[n] >= at) n--
		indent[++n] = at
		numbers = substr($0, 1, at - 1); gsub(/[ |]+/, " ", numbers); sub(/^ /, "", numbers)
		if (numbers !~ /^ *0\.? *$/) print n, numbers, substr($0, at + 2) }' | sort
}
object_rows() { sed -n 's/^[ 0-9.-]*\(<[^>]*>\).*/\1/p' | sort -u; }

# The programs may show different names for one function. If several symbols have an
# address, each chooses by its own rule, and gprofng shows <static>@ADDRESS because it does
# not read .gnu_debugdata. `renames` has gprofng's and our name for the same address. It is
# printed, and in gprofng's rows its name is replaced by ours.
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
		called[n] = name; where[at, part[4]] = object; next }
	# Each program numbers objects in its own way. Objects with code of the same size at the
	# same address are the same object.
	!second { row(); if (at && (at, part[4]) in where) ours[object] = where[at, part[4]]; next }
	{ row(); if (object in ours) object = ours[object]
	  if (name in known || (name ~ /^<static>/ ? 0 : !at || name ~ /^</)) next
	  for (i = 1; i <= n; i++)
		if (obj[i] == object && (at == from[i] || (name ~ /^<static>/ && from[i] < at + part[4] && at < to[i]))) {
			print name "\t" called[i]
			if (name !~ /^</) next } }' addr.ours addr.theirs second=1 addr.theirs
}

# One <static>@ of gprofng may cover several of our functions. Such rows cannot be compared;
# both sides omit them (`vague`).
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

# find_all_renames EXPERIMENT METRIC…: the renames for several metrics.
find_all_renames()
{
	local exp=$1 m
	shift

	for m; do all_renames "$exp" "ei.$m"; done | sort -u >renames
	keep_clear
}

# In kernel names dots are written as other characters, for gprofng (docs/format.md).
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

# compare NAME EXPERIMENT METRIC…: compare the views; with `filters` set, only the packets
# that it selects.
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

# --- other lists, compared by their numbers and, where both have them, names ---

# The rows of a CSV list: blanks folded, "0." as 0.000 (gprofng rounds some small times to
# that), rows without a nonzero number omitted.
csv_numbers()
{
	grep '^"[0-9. -]' | sed 's/  */ /g; s/" /"/g; s/"\([0-9]*\)\."/"\1.000"/g' |
		grep -vE '^("0(\.0+)?",)+"[^"]*"$' | sort
}

# The same without names, for lists whose names differ.
csv_unnamed() { csv_numbers | sed 's/,"[^"]*[^0-9."][^"]*"$//' | sort; }

# A list of ours without the times and labels of samples, which only er_print names.
unlabelled() { sed 's/"\(Sample [0-9]*\), [^"]*"$/"\1"/'; }

# same_list NAME ROWS EXPERIMENT THEIR-OPTIONS OUR-OPTIONS: compare two lists. `theirs_more`
# and `ours_more` are sed scripts that remove the differences listed in docs/oracle.md.
# `alike` is a command that also accepts near equality. If `may_be_empty` is set, both lists
# may be empty: on a busy machine a second may have no sample.
same_list()
{
	local name=$1 rows=$2 exp=$3

	eval "theirs -printmode , $4 \"\$exp\"" | without_vague | rename | $rows | sed "${theirs_more:-}" | sort >theirs
	eval "ours -printmode , $5 \"\$exp\"" | unlabelled | without_vague | $rows | sed "${ours_more:-}" | sort >ours
	if [ "${may_be_empty:-}" ] && [ ! -s theirs ] && [ ! -s ours ]; then
		skip "$name" "nothing was recorded there"
	else
		equal_rows "$name" "${alike:-}"
	fi
}

# text_numbers N: convert text rows of N numbers and a name to CSV, for reports that gprofng
# prints as text in every mode.
text_numbers()
{
	awk -v n="$1" '{ for (i = 1; i <= n; i++) if ($i !~ /^[0-9.]+$/) next
		row = ""; for (i = 1; i <= n; i++) row = row "\"" $i "\","
		name = $0; for (i = 1; i <= n; i++) sub(/^ *[^ ]+/, "", name)
		sub(/^ +/, "", name); sub(/ +$/, "", name); print row "\"" name "\"" }' | csv_numbers
}
