#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Spans with what concerns a whole recording: exact user time, segments, and binaries that are replaced
# while they run.
. "$(dirname "$0")/../lib/live.sh"

value() { query "$2 from span where name eq \"$1\"" "$3"; }

# Exact user and system time.
p=$syn/spans
must_record exact.er -q 0 --exact-user --span-limit unlimited --span "compute=$p:compute" \
	--span "in_kernel=$p:in_kernel" -- sh -c "'$p' && '$p' system"
check_that "user and system time of each call are its CPU time" \
	"$(query 'count() from spans where SPANUSER + SPANSYSTEM != SPANRUN' exact.er) == 0"
check_that "a function that computes has user time" \
	"$(query 'sum(10 * SPANUSER - 9 * SPANRUN) from spans where SPAN == 1' exact.er) > 0"
check_that "one that calls the kernel has system time" \
	"$(query 'sum(10 * SPANSYSTEM - 9 * SPANRUN) from spans where SPAN == 2' exact.er) > 0"
check_that "so do the sums" "$(value compute 'sum(10 * user - 9 * run)' exact.er) > 0 &&
	$(value in_kernel 'sum(10 * system - 9 * run)' exact.er) > 0" \
	"$(cat exact.er/spans.xml)"

# Segments: what ended in one is counted in it; together they have each call once.
must_record s.1.er -q 0 --roll 1s -g s.erg --span-limit unlimited --span "beat=$p:beat" -- sh -c "
	'$p' beat done &
	until [ -e s.3.er ]; do sleep 0.1; done
	: >done
	wait"
beats=$(truth record.out beats)
counts=$(query 'count from span' s.*.er)
check_that "the segments count each call once" "$(echo "$counts" | awk '{ s += $1 } END { print s }') == $beats" "$counts; $beats"
sum() { awk '{ s += $1 } END { print s + 0 }'; }
check_that "and record each once, or count its loss" \
	"$(query 'count() from spans' s.*.er | sum) + $(query 'lost from span' s.*.er | sum) == $beats" \
	"$(query 'number produced-recorded from spanring' s.*.er)"
check_that "more than one has calls" "$(echo "$counts" | awk '$1 { n++ } END { print n }') >= 2" "$counts"
"$er_print" -spans s.erg >spans 2>&1
check_that "the report has all" "$(awk '/beat: slow by/ { print $1; exit }' spans) == $beats" "$(cat spans)"

# A file that is replaced while it is recorded is another file. Processes that run the old one go on.
cp "$p" prog
must_record replaced.er -q 0 --span "beat=$PWD/prog:beat" -- sh -c '
	./prog beat gone &
	until [ "$(readlink /proc/$!/exe)" = "$PWD/prog" ]; do sleep 0.01; done
	cp prog new && mv new prog
	: >gone
	wait'
check_that "calls in a file that was replaced are counted" "$(value beat count replaced.er) == $(truth record.out beats)"

# It was replaced before: its processes run a file that has no path. One call may have begun earlier.
for how in path pid; do
	rm -f gone
	./prog beat gone >beats & beater=$!
	until [ "$(readlink /proc/$beater/exe)" = "$PWD/prog" ]; do sleep 0.01; done
	cp prog new && mv new prog
	what=$PWD/prog
	[ $how = path ] || what=$beater
	must_record $how.er -q 0 -T $beater --span "beat=$what:beat" -- sh -c "
		: >gone
		while kill -0 $beater 2>/dev/null; do sleep 0.05; done"
	wait $beater
	check_that "calls in the old file of a process are counted, by $how" "$(value beat count $how.er) >= 19" "$(cat record.err)"
done
