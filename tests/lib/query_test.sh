#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# query.pl: its results for experiments with known content, and its refusal of wrong
# queries.
. "$(dirname "$0")/tap.sh"

query() { perl "$top/tests/lib/query.pl" "$@"; }
"$O/tests/golden/make_waits" . || { not_ok "make_waits"; exit 1; }

# says QUESTION EXPERIMENT TEXT: the answer, with its lines and columns joined by blanks, is TEXT
says()
{
	local got

	got=$(query "$1" "$2" | tr '\t\n' '  ')
	[ "$got" = "$3 " ] && ok "$1" || not_ok "$1" "got '$got', not '$3'"
}

# er_print gives the same results for states.1.er (states_oracle.sh).
total() { "$er_print" -printmode , -metrics "e.$1:name" -functions states.1.er 2>/dev/null | sed -n 's/^"\(.*\)","<Total>"$/\1/p'; }
for state in USER:user SLEEP:sleep USER_LOCK:lock WAIT_CPU:wait STOPPED:stop DFAULT:datapfault; do
	check_that "the sum of ${state%:*} is er_print's" \
		"$(query "sum(NTICK/1000) from packets where MSTATE eq ${state%:*}" states.1.er) == $(total "${state#*:}")"
done
check_that "states by name have all packets" \
	"$(query 'MSTATE count() from packets' states.1.er | awk '{ n += $2 } END { print n }') == \
	$(query 'count() from packets' states.1.er) && $(query 'distinct(MSTATE) from packets' states.1.er) >= 10"

mkdir x.er
cat >x.er/threads.xml <<'END_OF_FILE'
<thread pid="1" tid="2" run="30" comm="a b"/>
<thread pid="1" tid="3" run="4" sleep="7" comm="c"/>
<threads pid="9"/>
END_OF_FILE
says 'tid run sleep from thread' x.er '2 30 0 3 4 7'
says 'pid sum(run) min(run) max(run) count() from thread' x.er '1 34 4 30 2'
says 'sum(run+sleep) from thread where comm eq "c"' x.er '11'
says 'count() from thread by tid' x.er '1 1'
says 'count() sum(run) from thread where tid == 9' x.er '0 0'
says 'comm from thread where comm =~ "^a"' x.er 'a b'
gzip x.er/threads.xml
says 'tid run sleep from thread' x.er '2 30 0 3 4 7'
says 'count() from packets' gone.er '0'

refused()
{
	query "$1" states.1.er >out 2>err
	check_that "refused: $1" "$? == 2 && $(wc -l <out) == 0 && $(wc -l <err) == 1" "$(cat out err)"
}
refused 'THRIID from packets'
refused 'count() from packets where REASON eq DISCK'
refused 'count() from packets where (MSTATE'
refused 'count()'
