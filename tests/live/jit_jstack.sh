#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Stacks of waiting Java threads are those that jstack prints: the same methods in the same order, inlined ones
# included, for each VM that is installed.
# Time limit: 400 s
. "$(dirname "$0")/../lib/live.sh"

command -v javac >/dev/null || skip_all "javac is not installed"
javac --release 17 -d . "$top/tests/fixtures/source/Blocked.java" 2>javac.err || skip_all "javac: $(head -n 1 javac.err)"
pid=
on_exit=clean_up
clean_up() { [ -z "$pid" ] || kill "$pid"; } 2>/dev/null

# dumped NAME: the methods of the thread, outermost first, one a line; its number is in $tmp/tid.
dumped()
{
	awk -v name="\"$1\"" '
		index($0, name) == 1 { mine = 1; if (match($0, /nid=[^ ]*/)) print substr($0, RSTART + 4, RLENGTH - 4) >"tid"; next }
		/^"/ { mine = 0 }
		mine && $1 == "at" { sub(/\(.*/, "", $2); sub(/^.*\//, "", $2); print $2 }' jstack.out | tac
}

# recorded TID: the same of the thread in the recording, by its longest waits. At first stacks have no methods. Names of
# ours have a type and parameters. If any stack of these waits, short ones too, is cut, "a.cut.stack" follows.
recorded()
{
	"$O/bin/er_export" --to folded -o - --metric total -inlines on -filters "THRID==$1" \
		"blocked.er/_java_PID_$pid.1.er" 2>export.err |
		awk '/^<Stack-unwind-failed>/ && /pthread_cond|poll/ { cut = ";the a.cut.stack()" }
			/Blocked.forever/ { n = $NF; if (n > most) { most = n; line = $0 } } END { print line cut }' |
		tr ';' '\n' | sed -n 's/ (inlined)//; s/ [0-9]*$//; s/(.*//p' | sed -n 's/^[^ ]* //p' | grep '\.' | sed 's|^.*/||'
}

# Seconds of the reason in the first block of -waits.
time_of() { awk -v reason=" $1" 'substr($0, length($0) - length(reason) + 1) == reason { print $1; exit }' waits | grep . || echo 0; }

test_vm()
{
	rm -rf -- *.er
	"$2" -Xmx256m -cp . Blocked >out &
	pid=$!
	while kill -0 "$pid" && ! grep -q waiting out; do
		sleep 0.1
	done
	must_record blocked.er -q 0 -F "=java" -t 5
	"$(dirname "$2")/jstack" "$pid" >jstack.out 2>&1
	for name in enterer locker waiter sleeper parker acceptor; do
		dumped $name >want
		recorded $(($(cat tid))) >got
		check_that "$1: $name waits where jstack says" "$(grep -c 'Blocked.down' want) == 31 && $(cmp -s want got; echo $?) == 0" \
			"$(diff want got | head -n 12)"
	done
	dumped sleeper >/dev/null
	"$er_print" -filters "TID==$(($(cat tid)))" -waits blocked.er >waits 2>&1
	check_that "$1: Thread.sleep() is a timer, not a lock" \
		"$(time_of timer) > 4.5 && $(time_of "user lock") < 0.1" "$(cat waits)"
	"$er_print" -filters "TID==$(($(cat tid)))" -longest -wakers blocked.er >waits 2>&1
	"$er_print" -filters "TID==$(($(cat tid))) && REASON == TIMER" -waits blocked.er >timer 2>&1
	check_that "$1: and so in -longest, in -wakers and for filters" \
		"$(grep -cE '^ *[0-9.]+ +[0-9]{2,}\.[0-9]+  java.* timer ' waits) >= 10 && $(grep -c 'user lock ' waits) == 0 && $(grep -c 'timer; waited in' waits) >= 1 &&
$(awk '/<Total>/ { print $1 }' timer) > 4.5" "$(cat waits timer)"
	kill "$pid" && wait "$pid" 2>/dev/null
	pid=
}

for java in $(realpath /usr/lib/jvm/*/bin/java "$(command -v java)" 2>/dev/null | sort -u); do
	version=$("$java" -version 2>&1 | sed -n 's/.* version "\([0-9]*\).*/\1/p')
	[ "${version:-0}" -ge 17 ] || continue
	test_vm "Java $version" "$java"
done
