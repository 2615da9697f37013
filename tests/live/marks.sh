#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Spans that a program marks itself (--span NAME=mark): each one is counted, with its id and its times by
# state, in a program that is linked with the library, shared or static, started or running already.
# What a program does wrongly is counted, too.
. "$(dirname "$0")/../lib/live.sh"
collect=$O/bin/collect
marked=$syn/marked

# value NAME ATTRIBUTE EXPERIMENT: an attribute of a name's row in spans.xml; 0: it has none
value() { echo $(($(query "$2 from span where name eq '$1'" "$3") + 0)); }

# all_there NAME EXPERIMENT FILE: both spans, each with a record, and the ids
all_there()
{
	local exp=$2 want
	want=$(truth "$3" request | cut -d. -f1)
	check_that "$1: each span is counted" "$want > 0 && $(value request count "$exp") == $want &&
		$(value inner count "$exp") == $want" "$want; $(cat "$exp/spans.xml" "$3")"
	check_that "$1: and has a record" "$(query 'count() from spans where RETURNED && SPAN == 1' "$exp") == $want"
	check_that "$1: ids are kept" "$(query 'sum(SPANA1) from spans where SPAN == 1' "$exp") == $(truth "$3" ids)" \
		"$(query 'count() sum(SPANA1) from spans where SPAN == 1' "$exp")"
	check_that "$1: the inner one is inside" \
		"$(query 'count() from spans where SPAN == 2 && SPANDEPTH != 1' "$exp") == 0" "$(query 'distinct(SPANDEPTH) from spans where SPAN == 2' "$exp")"
	# The call takes 20 ms. The thread may wait for a CPU first, so it sleeps for less.
	check_that "$1: slow ones sleep" \
		"$(query 'count() from spans where SPAN == 1 && SPANSLEEP && SPANDUR >= 20000000' "$exp") == $(truth "$3" slow)"
	check_that "$1: nothing is wrong" "$(value request nobegin "$exp") == 0 && $(value request unended "$exp") == 0"
}
spans="-q 0 --span-limit unlimited --span request=mark --span inner=mark"
must_record kernel.er $spans "$marked"
all_there kernel kernel.er record.out
rm -rf collect.er
timeout 300 "$collect" -o collect.er --span-limit unlimited --span request=mark --span inner=mark "$marked" \
	>collect.out 2>collect.err
all_there collect collect.er collect.out
"$er_print" -spans kernel.er >list 2>&1
check_that "er_print lists them" "$(grep -cE '(request|inner)' list) == 2" "$(cat list)"
"$er_print" -filters 'SPANA1==1050' -span_list kernel.er >list 2>&1
check_that "er_print finds them by their id" "$(grep -c 'inner .*marked' list) == 3" "$(cat list)"

# Ends and begins that do not fit, on a thread from before the recording and on a new one.
must_record wrong.er $spans "$marked" wrong
for what in count left ends; do
	case $what in left) attribute=unended ;; ends) attribute=nobegin ;; *) attribute=count ;; esac
	check_that "wrong: $what" "$(value request $attribute wrong.er) == $(truth record.out $what)" \
		"$(cat wrong.er/spans.xml record.out)"
done
check_that "wrong: no other name is taken for it" "$(value inner count wrong.er) == 0"

# The program itself has the marks. A stripped one, too.
"$top/tools/install.sh" "$O" "$tmp/dest" /usr/local >installed 2>&1 ||
	not_ok "installs" "$(cat installed)"
dest=$tmp/dest/usr/local
gcc -I"$dest/include/er_kernel" "$top/tests/synprog/marked.c" "$dest/lib/libcollectorAPI.a" -pthread -s -o static 2>gcc.err ||
	not_ok "builds statically" "$(cat gcc.err)"
must_record static.er $spans ./static
all_there static static.er record.out
# By a script only the library would be found.
must_record script.er -q 0 --span-limit unlimited --span request=mark:"$tmp/static" \
	--span inner=mark:"$tmp/static" sh -c ./static
all_there "a binary that is named" script.er record.out

# A process that runs already.
: >gone
"$marked" wait "$tmp/gone" >wait.out &
load=$!
on_exit=stop_load
stop_load() { kill $load 2>/dev/null; }
until grep -q ready wait.out; do sleep 0.05; done
must_record attached.er -q 0 -T $load --span-limit unlimited --span request=mark \
	sh -c 'rm gone; until grep -q request wait.out; do sleep 0.05; done'
wait $load
on_exit=
got=$(value request count attached.er)
check_that "attached: a running process is recorded" "$got >= $(truth wait.out last) &&
	$got <= $(truth wait.out request)" "$got; $(cat wait.out)"

# Nobody records: the marks are off again.
check_that "unrecorded: all is well" "$("$marked" | grep -c '^request') == 1"

refused()
{
	local name=$1 pattern=$2
	shift 2
	"$er_kernel" -o refused.er -q 0 "$@" true >refused.out 2>&1
	status=$?
	check_that "refused: $name" "$status != 0 && $(grep -c -- "$pattern" refused.out) == 1 &&
		$(ls -d refused.er 2>/dev/null | wc -l) == 0" \
		"$status: $(cat refused.out)"
}
refused "a binary without marks" "marks no spans: write the program or library that does" --span q=mark:/bin/true
refused "no such binary" "cannot open the binary" --span q=mark:/none/at/all
refused "an empty binary" "write mark, or mark:BINARY" --span q=mark:
refused "arguments" "no arguments" --span 'q=mark(1:int)'
refused "marks are no probes" "write --span NAME=mark" --probe mark
