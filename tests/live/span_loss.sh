#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What spans lose is counted: each call that began is in the sums, or in the count of what became of it.
. "$(dirname "$0")/../lib/live.sh"

p=$syn/spans
value() { query "$2 from span where name eq \"$1\"" "$3"; }

# none_vanished EXPERIMENT: the kernel's programs saw an end of each call that began.
none_vanished()
{
	check_that "$1: no call vanished" "$(grep -c '<spanloss' "$1/recorder.xml") == 0 &&
		$(grep -c '<ring ' "$1/recorder.xml") > 0" "$(grep spanloss "$1/recorder.xml")"
}

# A stopped recorder empties no ring.
must_record full.er -q 0 --span-limit unlimited --span "f=$p:empty" -- sh -c "
	kill -STOP \$PPID
	'$p' churn 100000 >/dev/null
	kill -CONT \$PPID"
lost=$(value f lost full.er)
check_that "each call is counted" "$(value f count full.er) == 100000" "$(cat full.er/spans.xml)"
check_that "many records find no room" "$lost > 0"
check_that "each call has a record, or a lost one" "$(query 'count() from spans' full.er) + $lost == 100000"
check_that "the gaps in the numbers are the same" "$(query 'sum(lost) from spanring' full.er) == $lost &&
	$(query 'sum(produced-recorded) from spanring' full.er) == $lost"
"$er_print" -spans full.er >spans 2>&1
check "the report says it" grep -q "f: $lost records were lost" spans
none_vanished full.er

# A million short system calls: all are in the sums and the histogram, few have a record.
must_record fast.er -q 0 --span-limit 100 --span 'f=syscall:getpgid(1:s32) if arg1 == 4194304' -- \
	perl -e 'getpgrp(4194304) for 1 .. 1000000'
seconds=$("$er_print" -header fast.er | sed -n 's/^Recorded:.* for \([0-9.]*\) sec.*/\1/p')
check_that "each of a million calls is counted" "$(value f count fast.er) == 1000000 &&
	$(value f unended+noroom fast.er) == 0" "$(cat fast.er/spans.xml)"
check_that "each is in the histogram" "$(awk -F'hist="' '{ n = split($2, part, " ")
	for (i = 1; i <= n; i++) if (split(part[i], c, ":") == 2) s += c[2] } END { print s + 0 }' fast.er/spans.xml) == 1000000" \
	"$(cat fast.er/spans.xml)"
records=$(query 'count() from spans' fast.er)
check_that "their records keep the budget" \
	"$records > 0 && $records <= 100 * $(nproc) * (${seconds:-0} + 1)" "$records records in $seconds s"
check_that "calls without a record are no loss" "$(value f lost fast.er) == 0"
none_vanished fast.er

# A hundred nested calls: there is room for 32, and the kernel finds 64 returns.
: >go
must_record deep.er -q 0 --span "f=$p:recurse" -- "$p" deep go
check_that "calls that are too deep are counted" "$(value f count deep.er) == 32 && $(value f noroom deep.er) == 68 &&
	$(query 'sum(nobegin + unended + lost) from span' deep.er) == 0" "$(cat deep.er/spans.xml)"
none_vanished deep.er

# The same in a thread that is older than the recording; of pairs the kernel sees each end.
rm -f go
"$p" deep go & deep=$!
must_record old.er -q 0 -T "$deep" --span "f=$p:recurse" --span "pair=$p:opens,closes" -- sh -c "
	: >go
	while kill -0 $deep 2>/dev/null; do sleep 0.05; done"
wait "$deep"
check_that "each of them is counted once" "$(value f count old.er) == 32 && $(value f noroom old.er) == 68 &&
	$(value pair count old.er) == 32 && $(value pair noroom old.er) == 368 &&
	$(query 'sum(nobegin + unended + lost) from span' old.er) == 0" "$(cat old.er/spans.xml)"
none_vanished old.er

# Every way in which a call may end.
must_record ways.er -q 0 --span "f=$p:outer" --span "g=$p:inner" --span "t=$p:tested if ret & 0x80000000" \
	--span "l=$p:leave" --span "b=$p:become" --span "s=$p:stay" -- sh -c "
	for what in all tested exit exec; do '$p' \$what; done
	'$p' stay & echo \$! >stayer
	sleep 0.2"
kill "$(cat stayer)"
check_that "calls that were left, ended with their thread, executed a program, or are open" \
	"$(value g unended ways.er) == 4 && $(value l unended ways.er) == 3 && $(value b unended ways.er) == 1 &&
	$(value s unended ways.er) == 1 && $(value t count ways.er) == 5" "$(cat ways.er/spans.xml)"
none_vanished ways.er

# Calls that are open when the recording pauses, and those that began in the pause.
must_record paused.er -q 0 --span-limit unlimited --span "f=$p:beat" -- sh -c "
	'$p' beat gone & beater=\$!
	for i in 1 2 3; do
		sleep 0.1
		'$er_kernel' --ctl pause --pid \$PPID
		'$er_kernel' --ctl resume --pid \$PPID
	done
	: >gone
	wait \$beater"
check_that "calls before and after pauses are counted" "$(value f count paused.er) > 0" "$(cat paused.er/spans.xml record.err)"
records=$(query 'count() from spans' paused.er)
check_that "each has a record" "$records == $(value f count+unended-lost paused.er)" "$records $(cat paused.er/spans.xml)"
none_vanished paused.er
