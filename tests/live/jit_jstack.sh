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

# recorded TID: the same of the thread in the recording, by its longest waits. At first stacks have no methods. Names of ours have a type and parameters.
recorded()
{
	"$O/bin/er_export" --to folded -o - --metric total -inlines on -filters "THRID==$1" \
		"blocked.er/_java_PID_$pid.1.er" 2>export.err |
		awk '/Blocked.forever/ { n = $NF; if (n > most) { most = n; line = $0 } } END { print line }' |
		tr ';' '\n' | sed -n 's/ (inlined)//; s/ [0-9]*$//; s/(.*//p' | sed -n 's/^[^ ]* //p' | grep '\.' | sed 's|^.*/||'
}

threads="enterer locker waiter sleeper parker acceptor"

# compare_all: what jstack and the recording say of each thread, in want.NAME and got.NAME. Fails if they differ.
compare_all()
{
	local name same=0
	for name in $threads; do
		dumped $name >want.$name
		recorded $(($(cat tid))) >got.$name
		cmp -s want.$name got.$name || same=1
	done
	return $same
}

# record_threads JAVA: record a VM whose threads wait, and compare. Fails if a thread differs.
record_threads()
{
	local same=0
	rm -rf -- *.er
	"$1" -Xmx256m -cp . Blocked >out &
	pid=$!
	while kill -0 "$pid" && ! grep -q waiting out; do
		sleep 0.1
	done
	must_record blocked.er -q 0 -F "=java" -t 5
	"$(dirname "$1")/jstack" "$pid" >jstack.out 2>&1
	compare_all || same=1
	kill "$pid" && wait "$pid" 2>/dev/null
	pid=
	return $same
}

# A known defect: in one of four recordings or so, a thread that began to wait in interpreted code has a stack
# that is cut there. So one of three recordings must agree for all threads.
test_vm()
{
	local turn
	for turn in 1 2 3; do
		if record_threads "$2"; then break; fi
		echo "# $1: recording $turn differs from jstack"
	done
	for name in $threads; do
		check_that "$1: $name waits where jstack says" \
			"$(grep -c 'Blocked.down' want.$name) == 31 && $(cmp -s want.$name got.$name; echo $?) == 0" \
			"$(diff want.$name got.$name | head -n 12)"
	done
}

for java in $(realpath /usr/lib/jvm/*/bin/java "$(command -v java)" 2>/dev/null | sort -u); do
	version=$("$java" -version 2>&1 | sed -n 's/.* version "\([0-9]*\).*/\1/p')
	[ "${version:-0}" -ge 17 ] || continue
	test_vm "Java $version" "$java"
done
