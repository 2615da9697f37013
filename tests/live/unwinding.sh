#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# User stacks of stripped programs without frame pointers: the distribution's perl, with one long
# process and many that live for a few milliseconds. The stacks are complete by the recorder's own
# count, and all time is under the function that calls main().
. "$(dirname "$0")/../lib/live.sh"
. "$top/tests/lib/oracle.sh"

# complete EXPERIMENT PROGRAM: percentages of complete stacks, in its time on CPUs and in its waits
complete() { echo "$(complete_of "$1" "$2" cpu) $(complete_of "$1" "$2" waits)"; }

must_record recursion.er -F all -q 0 -- perl -e '
	sub f { my $n = shift; $n < 2 ? $n : f($n - 1) + f($n - 2) }
	print "pid\t$$\n"; while ((times)[0] < 0.6) { f(16); select undef, undef, undef, 0.02 }'
set -- $(complete recursion.er perl) 0 0
check_that "perl: stacks on CPUs are complete" "$1 >= 99" "$1 %: $("$er_print" -header 1 recursion.er | grep -A6 'User stacks')"
in_time "perl" recursion.er perl
check_that "perl: er_print says the same" "$("$er_print" -printmode , -unwinding recursion.er |
	awk -F'","' '{ gsub(/^"|"$/, "") } $5 == "perl" { print $2 + 0 }') <= $1 + 0.05"
check_that "perl: stacks of waits are complete" "$2 >= 99" "$2 %: $("$er_print" -header 1 recursion.er | grep -A6 'User stacks')"
sub=$(echo recursion.er/_perl_PID_"$(pid_of record.out)".*er) # others may run perl, too
all=$(seconds_of '<Total>' i.user "$sub")
main=$(seconds_of __libc_start_call_main i.user "$sub")
check_that "perl: main's caller has all user time" \
	"$main >= 0.97 * $all - $(late_of recursion.er perl) && $all > 0.1" \
	"$main of $all"

must_record short.er -F on -q 0 -- sh -c \
	'for i in $(seq 150); do perl -e "my \$n; \$n += \$_ for 1 .. 50000"; done'
set -- $(complete short.er perl) 0 0
in_time "processes that live for milliseconds" short.er perl
check_that "processes that live for milliseconds: stacks are complete" "$1 >= 95" \
	"$1 %: $("$er_print" -header 1 short.er | grep -A6 'User stacks')"

# Code that PCRE2 generates.
if gcc -O1 -w -D_GNU_SOURCE -I"$top" "$top/tests/fixtures/source/regex.c" -o regex 2>err &&
	./regex 0 >out 2>err; then
	must_record regex.er -F '=^regex$' -p high -q 0 -- ./regex 2
	set -- $(complete regex.er regex) 0 0
	in_time "regular expressions" regex.er regex
	check_that "regular expressions: stacks on CPUs are complete" "$1 >= 99" \
		"$1 %: $(grep 'program="regex"' regex.er/recorder.xml)"
	sub=$(echo regex.er/_regex_PID_*.er)
	all=$(seconds_of match_all i.totalcpu "$sub") generated=$(seconds_of '<Unknown>' i.totalcpu "$sub")
	check_that "regular expressions: match_all has the time of generated code" \
		"$all >= 0.95 * $(truth record.out match_all) - $(late_of regex.er regex) &&
		$generated >= 0.5 * $all" "$generated in generated code, $all of $(cat record.out)"
else
	skip "regular expressions" "$(head -n 1 err)"
fi

# A program that runs before the recording, and whose every wait is longer than a stack waits for
# its table. Its file is new, so it has no table yet. The first wait asks for it.
cp "$(command -v perl)" fresh
./fresh -e 'select undef, undef, undef, 1.4 for 1 .. 100' &
sleep 0.3
must_record long.er -q 0 -t 6 </dev/null
kill $! 2>/dev/null
set -- $(complete long.er fresh) 0 0
check_that "long waits: stacks are complete" "$2 >= 60" "$2 %: $(grep 'program="fresh"' long.er/recorder.xml)"

# Tables that the first recording builds serve the second one. "fresh" is not root's alone.
work='my $n; $n += $_ for 1 .. 20000000'
cp "$(command -v perl)" fresh
entry() { printf 'tables/%s-%x-%x' "$(readelf -n "$1" | awk '/Build ID/ { print $3 }')" \
	"$(stat -c %s "$1")" "$(date -r "$1" +%s%N)"; }
perl=$(entry "$(readlink -f "$(command -v perl)")")
for i in 1 2; do
	must_record kept$i.er --table-cache "$PWD/tables" -q 0 -- sh -c "perl -e '$work'; ./fresh -e '$work'"
	stat -c %i "$perl" >>built
done
kept=$(sed -n 's/^<tables.* kept="\([0-9]*\)".*/\1/p' kept2.er/recorder.xml)
# A table that is built again would be a new file.
check_that "kept tables: the second recording reads them" \
	"$kept > 0 && $(sort -u built | wc -l) == 1 && $(wc -l <built) == 2" "$kept, files $(cat built)"
set -- $(complete kept2.er perl) 0 0
check_that "kept tables: stacks are complete" "$1 >= 99" "$1 %"
check_that "kept tables: of root's files only" "$(ls "$perl" "$(entry fresh)" 2>/dev/null | wc -l) == 1" \
	"$(ls tables; entry fresh)"

# A program that sleeps from the recording's beginning to its end.
cp "$(command -v sleep)" idle
./idle 1000 &
idle=$!
must_record idle.er -q 0 -t 2 </dev/null
kill $idle 2>/dev/null
main=$("$er_print" -printmode , -comm idle -metrics i.sleep:name -functions idle.er | tr -d '"' |
	awk -F, '$2 == "__libc_start_call_main" { print $1 }')
check_that "a thread that never runs: its wait has user frames" "${main:-0} >= 1.9" "${main:-none} s"

# Code that cannot be unwound: callers are missing, and reports say so at the root.
must_record blind.er -F '=^blind$' -p high -q 0 -- "$syn/blind" 1
set -- $(complete blind.er blind) 100 100
check_that "blind: its stacks are not complete" "$1 < 10" "$1 %"
sub=$(echo blind.er/_blind_PID_*.er)
all=$(seconds_of blind i.user "$sub")
root=$(seconds_of '<Stack-unwind-failed>' i.user "$sub")
check_that "blind: the root of incomplete stacks says so" "$root >= 0.9 * $all && $all > 0.5" "$root of $all"
! command -v gprofng >/dev/null || compare "blind" blind.er user
