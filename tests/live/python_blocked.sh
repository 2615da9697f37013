#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Python threads that wait: the functions and lines of their stacks are those that CPython's own
# faulthandler writes. python_blocked.py has the kinds of waits and calls.
# Time limit: 600 s
. "$(dirname "$0")/../lib/live.sh"
. "$top/tests/lib/python.sh"

[ -n "$(pythons)" ] || skip_all "there is no Python whose functions are shown"

# dumped FILE IDENT: the frames of a thread in faulthandler's dump, a line "file:function line" each, from
# caller to callee. The dump has names without their classes.
dumped()
{
	perl -ne 'BEGIN { $want = sprintf("0x%016x", shift) }
		if (/^(?:Current thread|Thread) (0x[0-9a-f]+)/) { $in = $1 eq $want }
		elsif ($in && /^  File "(?:.*\/)?([^"]+)", line (\d+) in (.*)$/) {
			my ($file, $line, $name) = ($1, $2, $3);
			unshift @f, $file =~ s/[<>]//gr . ":$name $line\n";
		}
		END { print @f }' "$2" "$1"
}

# plain: of "file.py:Class.function" leave "file.py:function", and of "json/__init__.py" the last part.
plain() { perl -pe 's/^[^:]*\///; s/:.*[.>]([^.\s])/:$1/'; }

# stack EXPERIMENT THREAD: the Python functions of the stack that a thread had for most of its time, a
# line each, from caller to callee, after a line with its share of the time.
stack()
{
	"$O/bin/er_export" --to folded --metric total -filters "TID==$2" -o - "$1" 2>/dev/null |
		perl -ne '/^(.*) (\d+)$/ or next;
			$all += $2;
			$of{join "\n", grep { /\.py:|^string:/ } split /;/, $1} += $2;
			END { my ($most) = sort { $of{$b} <=> $of{$a} } keys %of;
				printf "%.4f\n%s\n", $of{$most} / ($all || 1), $most }' | plain
}

# lines EXPERIMENT THREAD: the lines of Python functions that are in more than half of its time, as
# dumped() writes them, sorted.
lines()
{
	"$er_print" -printmode , -metrics i.total:name -filters "TID==$2" -lines "$1" 2>/dev/null |
		perl -ne '/^"([0-9.]+)","(.*), line (\d+) in / && $1 > 1.5 or next;
			my ($name, $line) = ($2, $3);
			print "$name $line\n" if $name =~ /\.py:/' | plain | sort -u
}

for python in $(pythons); do
	release=${python##*/}
	# The first process makes the unwind tables. It stays until the end, so that they do.
	must_record $release.er -q 0 -F =$release -- sh -c "$python -c 'import asyncio, json, select, socket
while True: pass' & echo \$! >pid; sleep 2
		$python '$top/tests/live/python_blocked.py' 3 dump; kill \$(cat pid)"
	threads=$(grep -c . record.out)
	check_that "$release: each thread says who it is" "$threads >= 15" "$(cat record.out record.err)"
	while read -r kind thread ident; do
		dumped dump "$ident" >want
		stack $release.er "$thread" >got
		check_that "$release: $kind: functions" \
			"$(head -n 1 got) >= 0.8 && $(sed 's/ [0-9]*$//' want | cmp -s - <(sed 1d got); echo $?) == 0 &&
				$(grep -c . want) > 3" "$(paste got want)"
		grep -v '^string:' want | sort -u >sorted # text that is executed has no file, so no lines
		lines $release.er "$thread" >got
		check_that "$release: $kind: lines" "$(cmp -s got sorted; echo $?) == 0" "$(diff got sorted)"
	done <record.out
done
