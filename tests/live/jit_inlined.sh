#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Methods that the Java VM's compiler inlined, and lines of compiled code, for each VM that is installed.
# The program knows which method calls which, and which part of the time `inner' and `leaf' have.
# Time limit: 400 s
. "$(dirname "$0")/../lib/live.sh"

command -v javac >/dev/null || skip_all "javac is not installed"
source=$top/tests/fixtures/source/Inlined.java
javac --release 17 -d . "$source" 2>javac.err || skip_all "javac: $(head -n 1 javac.err)"
pid=
on_exit=clean_up
clean_up() { [ -z "$pid" ] || kill "$pid"; } 2>/dev/null

# wait_for_cpu SECONDS PID: until the process has used so much CPU time, of which the compiler has a part at first.
wait_for_cpu()
{
	while kill -0 "$2" && [ "$(awk '{ print $14 + $15 }' "/proc/$2/stat")" -lt $(($1 * 100)) ]; do
		sleep 0.1
	done
}

# report OPTIONS: er_print on the sub-experiment of the load $pid.
report()
{
	"$O/bin/er_print" "$@" "inlined.er/_java_PID_$pid.1.er" 2>report.err
}

# chains MODE [METRIC]: seconds below `work'; of stacks with all four methods, in their order; with any of the inlined ones.
chains()
{
	"$O/bin/er_export" --to folded -o - --metric "${2:-totalcpu}" -inlines "$1" "inlined.er/_java_PID_$pid.1.er" 2>/dev/null |
	awk '
		!/Inlined.main.*long Inlined.work\(long\)/ { next } # stacks are not complete at first
		{ us = $NF; all += us; gsub(/ \(inlined\)/, "") }
		/;long Inlined.work\(long\);long Inlined.outer\(long, int\);long Inlined.middle\(long, int\);long Inlined.(inner|leaf)\(/ { exact += us }
		/Inlined.(outer|middle)/ { some += us }
		END { printf "%f %f %f\n", all / 1e6, exact / 1e6, some / 1e6 }'
}

# line TEXT: the number of the source line with this comment.
line()
{
	grep -n "// $1" "$source" | cut -d: -f1
}

# test_vm NAME JAVA OPTION...: without loops that are compiled apart, all of `work' is one piece of code.
test_vm()
{
	name=$1 java=$2
	shift 2
	rm -rf -- *.er
	"$java" -Xmx256m -XX:-UseOnStackReplacement "$@" -cp . Inlined 100000 >/dev/null &
	pid=$!
	wait_for_cpu 2 $pid
	must_record inlined.er -p high -q 0 -F "=java" -- bash -c "$(declare -f wait_for_cpu); wait_for_cpu 5 $pid"
	kill "$pid" && wait "$pid" 2>/dev/null
	read -r all exact some < <(chains on)
	check_that "$name: stacks have the inlined methods" "$all > 1 && $exact >= 0.97 * $all" "$exact of $all s"
	read -r all exact some < <(chains off)
	check_that "$name: and can be shown without them" "$all > 1 && $some <= 0.03 * $all" "$some of $all s"
	# A line has no time of the kernel: on a busy machine interrupts take a fifth.
	read -r user exact some < <(chains on user)
	report -inlines on -metrics e.user:name -lines >lines.out
	read -r inner leaf < <(awk -v inner="$(line "inner's")" -v leaf="$(line "leaf's")" '
		match($0, /line [0-9]+ in "Inlined.java"/) { n = substr($0, RSTART + 5) + 0 }
		/Inlined.inner/ && n >= inner - 1 && n <= inner { i += $1 }
		/Inlined.leaf/ && n >= leaf - 1 && n <= leaf { l += $1 }
		END { print i + 0, l + 0 }' lines.out)
	check_that "$name: compiled code has lines" "$inner + $leaf >= 0.85 * $user && $leaf > 0.1 * $user" \
		"$inner and $leaf of $user s"
	cp "$source" .
	report -inlines off -metrics i.totalcpu -source Inlined.java >off.out
	report -inlines on -metrics i.totalcpu -source Inlined.java >on.out
	for mode in off on; do
		echo "$mode $(sed 's/^##/  /' $mode.out | awk -v at="$(line 'calls middle')." '$2 == at { n = $1 } END { print n + 0 }')"
	done >own
	check_that "$name: source has the time of an inlined call where it is written" \
		"$(awk '$1 == "off" { print $2 + 0 }' own) < 0.1 * $all && $(awk '$1 == "on" { print $2 + 0 }' own) > 0.9 * $all" \
		"$(cat own), of $all s"
	pid=
}

for java in $(realpath /usr/lib/jvm/*/bin/java "$(command -v java)" 2>/dev/null | sort -u); do
	version=$("$java" -version 2>&1 | sed -n 's/.* version "\([0-9]*\).*/\1/p')
	[ "${version:-0}" -ge 17 ] || continue
	test_vm "Java $version" "$java"
	test_vm "Java $version, first compiler" "$java" -XX:TieredStopAtLevel=1
done
