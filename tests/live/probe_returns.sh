#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Probes of returns (FUNCTION%return) in C++: exceptions pass through the functions, which a return probe
# would turn into the program's end. Returns are hits, calls that an exception leaves are not.
. "$(dirname "$0")/../lib/live.sh"

command -v g++ >/dev/null || skip_all "g++ is not installed: apt-get install g++"
hits() { query "sum(hits) from probe where name eq '$1'" "$2"; }
same() { check_that "$1 ($3)" "$2 == $3" "$2, not $3"; }

cp "$top/tests/live/throws.cc" .
for how in -O0 -O2 '-O2 -fcf-protection'; do
	g++ $how -o throws throws.cc || { not_ok "C++ is compiled"; break; }
	set --
	for f in middle catcher tail choose; do set -- "$@" --probe-counts "$f=$PWD/throws:$f%return"; done
	rm -rf throws.er
	must_record throws.er -q 0 -p off --probe "thrower=$PWD/throws:thrower%return(ret:s32)" \
		--probe-counts "failed=$PWD/throws:catcher%return(ret:s32) if ret < 0" "$@" -- ./throws
	check_that "$how: exceptions reach their handlers" \
		"$(truth record.out caught) == 100 && $(truth record.out passed) == 200" "$(cat record.out record.err)"
	same "$how: returns of a function that throws" "$(hits thrower throws.er)" 200
	same "$how: of one that an exception passes through" "$(hits middle throws.er)" 200
	same "$how: of one that catches" "$(hits catcher throws.er)" 300
	same "$how: by what is returned" "$(hits failed throws.er)" 100
	same "$how: of one whose last call is a jump" "$(hits tail throws.er)" 300
	same "$how: of one with a jump by a table" "$(hits choose throws.er)" 300
	"$er_print" -filters 'PROBE==0 && PROBEA1 > 20' -metrics e.thrower:name -functions throws.er >functions 2>&1
	same "$how: what is returned is recorded" "$(awk '$2 == "<Total>" { print $1 }' functions)" 200
	same "$how: places" "$(query "sum(sites) from probe where name eq 'catcher'" throws.er)" 1
	"$er_print" -metrics i.thrower:name -functions throws.er >functions 2>&1
	# Stacks from before the unwind tables are there do not reach it.
	cut=$(awk '/<(Stack-unwind-failed|Truncated-stack|Stack-lost)>/ { n += $1 } END { print n + 0 }' functions)
	got=$(awk '$2 == "catcher" { print $1 }' functions)
	check_that "$how: stacks lead to the callers" "$got <= 200 && $got + $cut >= 200 && $got > 50" "$(cat functions)"
done

# A call that ends by a jump has not returned anything yet: a comparison with that is false, and is counted.
must_record jumped.er -q 0 -p off --probe-counts "jumped=$PWD/throws:tail%return(ret:s32) if ret > -77" -- ./throws
same "after a jump nothing is known of what is returned" "$(hits jumped jumped.er)" 0
same "which is counted" "$(query "sum(unread) from probe where name eq 'jumped'" jumped.er)" 300

# Code that does not show where it returns.
if gcc -o odd "$top/tests/fixtures/source/odd.s" 2>/dev/null; then
	record no.er -t 1 --probe "$PWD/odd:odd%return" >/dev/null
	check_that "refused: a function whose returns are not certain" \
		"$? != 0 && $(grep -c 'does not show where it returns: leave %return out' record.err) == 1" "$(cat record.err)"
	record left.er -t 1 -p off --probe "$PWD/odd:*%return"
	check_that "a wildcard leaves it out, and says so" "$? == 0 && $(grep -c 'left out.*odd' record.err) >= 1" "$(cat record.err)"
fi
