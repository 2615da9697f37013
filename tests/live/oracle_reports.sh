#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Reports that gprofng prints as text in every mode: panels of functions, lines and addresses,
# stacks of allocations and of I/O, statistics, lists of metrics; the order of sorted lists and what
# a limit leaves; several experiments at once, and compared. Each report of both is turned into
# lines of label and value, which must be equal. docs/oracle.md lists what may differ.
# Time limit: 600 s
. "$(dirname "$0")/../lib/tap.sh"
. "$top/tests/lib/oracle.sh"

collect_traced "-p hi -s all -H on -i on -F on" a.er b.er
find_all_renames a.er totalcpu syncn heapalloccnt ioreadcnt iowritecnt ioothercnt ioerrorcnt

# Seen once: gprofng's panels rounded a time halfway between two last digits the other way.
nearly()
{
	[ "$(wc -l <theirs)" = "$(wc -l <ours)" ] && paste -d'\t' theirs ours | awk -F'\t' '
		$1 == $2 { next }
		{ n = split($1, t, " "); if (n != split($2, o, " ") || $1 !~ / Time [0-9.]+ of /) exit 1
		  for (i = 1; i <= n; i++)
			if (t[i] != o[i] && !(t[i] ~ /^0\.[0-9]*$/ && (t[i] - o[i]) ^ 2 < 0.0011 ^ 2)) exit 1 }'
}

# both NAME ROWS OPTIONS…: both programs print the same lines in the same order. ROWS converts each
# program's output; `finish` removes allowed differences once names agree.
finish=cat
both()
{
	local name=$1 rows=$2
	shift 2

	theirs "$@" | $rows | without_vague | rename | $finish >theirs
	ours "$@" | $rows | without_vague | $finish >ours
	equal_rows "$name" nearly
}

# "label value of title" for each line of a panel. Percents are left out, because ours have one
# digit more. "0." and "0.000" are equal.
panels()
{
	awk '{ gsub(/\t/, " ") }
		/^[^ ]/ && !/:$/ && !/(sorted by metric|^Current|^current|^Print limit)/ { title = $0; next }
		match($0, /: +/) && /^ +(Ex|In)clusive / {
			label = substr($0, 1, RSTART - 1); sub(/^ +/, "", label)
			split(substr($0, RSTART + RLENGTH), v, / +/)
			print label, v[1] == "0.000" ? "0." : v[1], "of " title }
		/^ +(Size|PC Address|Load Object):/ { sub(/^ +/, ""); gsub(/ +/, " "); print $0 " of " title }' |
		sed 's/ *$//' | sort
}

# The functions of the program itself, which have the same names in both.
for f in main all use_files use_memory keep hold_lock '<Total>'; do
	both "fsingle $f" panels -fsingle "$f" 1 a.er
done
both "fsingle of two experiments" panels -fsingle use_memory 1 a.er b.er
both "fsingle, filtered" panels -filters 'EXPID==2' -fsingle all 1 a.er
both "fsummary, limit 1" panels -limit 1 -fsummary a.er

# "what: function < function …" on a line. `pcs` compares offsets, which differ where the programs
# know different functions. Numbers are gprofng's, in its order.
stacks()
{
	awk 'function flush() { if (what != "") print what ": " stack; what = stack = "" }
		/^(Leak|Allocation) #/ { flush(); gsub(/[^0-9]+/, " "); $1 = ""; what = $2 " " $3 " " $4; next }
		/^ *[0-9.]+ +.*(Leak|Allocation) #/ { flush(); what = $1 " " $2; next }
		/^Instances|^(Read|Write|Other I.O|I.O Error) Time=/ { gsub(/Time=[0-9.]+/, ""); gsub(/[^0-9]+/, " ")
			what = what " " $0; next }
		/ Stack #/ { flush(); sub(/ *Stack #.*/, ""); gsub(/ [0-9]*\.[0-9]* /, " "); what = $0; next }
		/^(Stack 0x|<Total>)/ { flush(); next }
		/^$/ { flush() }
		what != "" && / \+ 0x/ { sub(/^ +/, ""); sub(/ \+ 0x.*/, ""); stack = stack $0 "\n" }
		END { flush() }' | sed 's/  */ /g; s/^ //'
}

# One frame on each line, after its numbers, so that names can be made equal; then one stack on each
# line. Stacks with equal values have no defined order.
frames() { stacks | sed 's/ *: /\n /; s/^\([^ 0-9]\)/ \1/' | sed 's/^\([0-9].*[^ ]\) *$/\1/' | grep -v '^ *$'; }
a_line_each() { awk '/^[0-9]/ { if (stack) print stack; stack = $0; next } { stack = stack " <" $0 } END { print stack }' | sort; }
finish=a_line_each
for c in leaks allocs; do
	for f in 1 'EXPID==1' 'EXPID>1'; do
		both "$c, filters $f" frames -filters "$f" -$c a.er
	done
done
finish=cat

# "numbers" and one frame on each line, for heap and iocallstack, each stack separately. gprofng has
# one stack for each process, so one process is compared. Bytes and counts are compared here; times
# in function lists.
io_and_heap()
{
	awk 'function flush(  i) {
			if (what) { for (i = 1; i <= what; i++) printf "%d ", v[i]; print frames }
			what = 0; frames = ""; split("", v) }
		function io(at) { what = 6; v[at] = bytes; v[at + 1] = count }
		{ bytes = count = 0
		  if (match($0, /Bytes=[0-9]+/)) bytes = substr($0, RSTART + 6, RLENGTH - 6)
		  if (match($0, /Count=[0-9]+/)) count = substr($0, RSTART + 6, RLENGTH - 6) }
		/^Stack 0x/ { flush(); stack = 1; next }
		/ Stack #/ { flush(); stack = 1
			if (NF == 6) { what = 4; for (i = 1; i <= 4; i++) v[i] = $i }
			else { what = 6; v[1] = $2; v[2] = $3; v[3] = $5; v[4] = $6; v[5] = $8; v[6] = $10 }
			next }
		!stack { next }
		/^Instances.*Allocated/ { what = 4; v[1] = $3; v[2] = $7 }
		/^Instances.*Leaked/ { what = 4; v[3] = $3; v[4] = $7 }
		/^Write Time/ { io(1) } /^Read Time/ { io(3) }
		/^Other I.O Time/ { what = 6; v[5] = count } /^I.O Error Time/ { what = 6; v[6] = count }
		/^$/ { flush(); stack = 0 }
		/ \+ 0x/ { sub(/^ +/, ""); sub(/ \+ 0x.*/, ""); frames = frames "\n " $0 }
		END { flush() }'
}
finish=a_line_each
for c in heap iocallstack; do
	for e in 1 2 3; do
		both "$c, process $e" io_and_heap -filters "EXPID==$e" -$c a.er
	done
done

# "step: side attributed function" for panels of fragments, which grow with each command. gprofng
# has a line for each side; in ours the side follows from the position relative to the marked
# fragment.
fragments()
{
	awk '/^Callers and callees/ { step++; side = "callers"; next }
		/^=======/ { side = tolower($2); next }
		!step { next }
		{ n = 0; while ($(n + 1) ~ /^[0-9.]+$/) n++; star = $(n + 1) ~ /^\*/ }
		star { side = "stack" } side == "stack" && !star && !theirs { side = "callees" }
		n == 1 || n == 3 { if ($1 + 0 > 0) { name = $0; sub(/^[ 0-9.]* \*?/, "", name)
			print step ": " side, $1, name } }' theirs="$1" | sort
}
fragments_of_both()
{
	local name=$1
	shift
	theirs -metrics ei+heapalloccnt:name "$@" a.er | fragments 1 |
		without_vague | rename | sort >theirs
	ours -metrics ei+heapalloccnt:name "$@" a.er | fragments "" | without_vague | sort >ours
	equal_rows "fragment: $name"
}
finish=cat
fragments_of_both csingle -csingle use_memory
fragments_of_both cprepend -csingle use_memory -cprepend all -cprepend main
fragments_of_both cappend -csingle all -cappend use_memory -cappend keep
fragments_of_both crmfirst -csingle all -cappend use_memory -crmfirst
fragments_of_both crmlast -csingle use_memory -cprepend all -crmlast

# "report: label value" for statistics. Times and their labels have other units and words.
stats()
{
	awk '/^[A-Z].* (Statistics|Usage)$/ { report = $0 }
		/^(  |Smallest|Largest|Total (calls|allocations|leaked|bytes)|Heap size|Experiment Id|Process Id)/ &&
		/[0-9] *$/ && !/[m(]sec/ { sub(/^ +/, ""); sub(/ +$/, ""); gsub(/  +/, " ")
			sub(/(write|read|leaked|allocation) bytes/, "bytes"); print report ": " $0 }' | sort
}
both "heapstat" stats -heapstat a.er
both "heapstat, one process" stats -filters 'EXPID==1' -heapstat a.er
both "heapstat, small ones of one" stats -filters 'EXPID==1 && HSIZE<1000' -heapstat a.er
both "iostat" stats -iostat a.er
both "iostat, filtered" stats -filters 'EXPID>1' -iostat a.er

# "label value". Only ours shows the counters of each sample.
usage()
{
	awk 'match($0, /: +[0-9.]+/) { label = substr($0, 1, RSTART - 1); sub(/^ +/, "", label)
			split(substr($0, RSTART + 1), v, / +/); print label, v[2] }'
}
sample_times() { usage | grep -vE '(Faults|swaps|blocks|sent|received|handled|switches|calls|I/O) [0-9]+$'; }
for e in 1 2; do
	both "statistics $e" usage -statistics $e a.er
	both "sample_detail $e" sample_times -sample_detail $e a.er
done
both "statistics, two experiments" usage -statistics 4 a.er b.er

# "keyword value" for overview. Times that may lie between two digits are left out. A zero time is
# "0.000" in gprofng and "0." in er_print.
totals()
{
	sed -nE 's/^.* - ([a-z]+)( \(Seconds\))?: *\[?\*?([0-9.]+)\]?$/\1 \3/p' |
		grep -vE '^(io[a-z]*time|sync) ' | sed 's/ 0\.$/ 0.000/' | sort
}
both "overview" totals -overview a.er
both "overview, filtered" totals -filters 'EXPID==1' -overview a.er
# A process may end before its first tick. Then all totals are 0, here too.
both "overview, nothing left" totals -filters 'CPUID==9999' -overview a.er

# Every keyword with each of its flavors.
keywords()
{
	sed -nE 's/^.*: ([ei])([.+%]+)([a-z]+)$/\1\2\3/p; s/^(ei)([.+%]+)([a-z]+) .*/e\2\3\ni\2\3/p' | sort
}
both "metric_list" keywords -metric_list a.er

# Objects with their numbers. Ours has an object for functions made at run time. gprofng prints the
# list after each choice as well.
objects()
{
	sed -nE 's/^(show|hide|API only) +(<[^ ]*>) +([0-9]+) .*/\1 \2 \3/p' |
		grep -vE '<(DYNAMIC_FUNCTIONS|Unknown)>' | sort -u
}
both "object_list" objects -object_list a.er
both "object_list, one hidden" objects -object_hide traced -object_list a.er
both "object_list, one shown" objects -object_select traced -object_list a.er

# --- order and limit: of the column that a list is sorted by ---

# Ours has <Total> at the top; gprofng sorts it among the others.
column() { grep '^"[0-9]' | grep -v '"<Total>"' | sed 's/^"//; s/".*//; s/^0\.$/0.000/' | grep -vE '^0(\.000)?$'; }
# In stripped libraries a row of gprofng can be several functions (docs/oracle.md), so a tick whose stack goes from one
# function of libc to another is in two of our rows and in one of gprofng's. Hidden libraries have one row in both.
stripped=libgp-collector.so,libc.so.6,ld-linux-x86-64.so.2
for m in i+syncn i.totalcpu i+heapallocbytes i+ioreadbytes i+ioothercnt; do
	for reverse in "" -; do
		both "functions by $reverse$m" column -printmode , -metrics "$m:name" -sort "$reverse$m" \
			-object_hide $stripped -functions a.er
	done
	both "CPUs by $m" column -printmode , -metrics "$(echo "$m" | sed 's/^i/e/'):name" -CPUs a.er
done
for n in 2 5 0; do
	both "limit $n" column -printmode , -metrics i+heapalloccnt:name -limit $n -object_hide $stripped -functions a.er
done
both "sort by a metric that is not shown" column -printmode , -metrics i+syncn:name -sort 'i!heapalloccnt' \
	-object_hide $stripped -functions a.er

# --- several experiments ---

finish=sort
counts=$(for m in syncn heapalloccnt heapallocbytes ioreadcnt ioreadbytes iowritecnt ioothercnt; do
	printf 'ei+%s:' $m; done)name
for c in functions CPUs Seconds Samples; do
	both "two experiments, $c" csv_numbers -printmode , -metrics "$counts" -$c a.er b.er
done
for f in 'EXPGRID==2' 'EXPID>3' '(TSTAMP>>27)%2==1 && EXPID!=1'; do
	both "two experiments, filters $f" csv_numbers -printmode , -metrics "$counts" -filters "$f" \
		-functions a.er b.er
done
both "sample_select of the second" csv_numbers -printmode , -metrics "$counts" -outfile /dev/null \
	-sample_select 4:all -outfile - -functions a.er b.er
both "compare on" csv_numbers -printmode , -compare on -metrics "$counts" -functions a.er b.er
both "compare on, filtered" csv_numbers -printmode , -compare on -metrics "$counts" \
	-filters '(FNAME("use_memory") SOME IN STACK)' -functions a.er b.er

printf 'open_exp b.er\nadd_exp a.er\ndrop_exp b.er\nprintmode ,\nmetrics %s\nfunctions\n' "$counts" >script
both "open_exp, add_exp, drop_exp" csv_numbers -script script a.er
finish=cat
list_of() { grep '^ *[0-9]' | awk '{ $1 = $1; print }'; }
both "experiment_list" list_of -experiment_list a.er b.er
