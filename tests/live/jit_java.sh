#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Names of Java methods with er_kernel --jit: Java writes its map when it ends. The program knows
# its own depth of recursion and the CPU time that it burns there.
. "$(dirname "$0")/../lib/live.sh"

command -v javac >/dev/null || skip_all "javac is not installed"
java -XX:+UnlockDiagnosticVMOptions -XX:+PrintFlagsFinal -version 2>/dev/null | grep -q DumpPerfMapAtExit ||
	skip_all "this Java writes no map when it ends"
javac -d . "$top/tests/fixtures/source/Calls.java" 2>javac.err || skip_all "javac: $(head -n 1 javac.err)"
depth=12
on_exit=clean_up
clean_up() { rm -f "/tmp/perf-$pid.map"; }

# sub EXPERIMENT: the sub-experiment of our java, which is known by its command line.
sub()
{
	echo "$1/$(programs_in "$1" | sed -n '/Calls 1/s/.* experiment="\(_java_PID_[^"]*\)".*/\1/p' |
		tail -n 1)"
}

folded() { "$O/bin/er_export" --to folded -o - --metric totalcpu "$(sub "$1")" 2>/dev/null; }

# Without inlining a call is a frame.
must_record jit.er --jit -p high -q 0 -- java -Xmx256m -XX:-Inline -cp . Calls 1.5 $depth
cp record.out out
pid=$(sub jit.er | sed 's/.*_PID_\([0-9]*\).*/\1/')
folded jit.er >jit.folded
# Of all stacks: seconds, those of stacks with a frame without a name, those that are cut; of the
# complete stacks in `burn`: seconds, and those with at least as many frames as there were calls.
read -r all unknown cut burnt deep < <(awk -v want="$depth" '
	{ us = $NF; all += us; marked = /^<(Stack-unwind-failed|Truncated-stack)>/ }
	/<Unknown>|<Java>/ { unknown += us }
	marked { cut += us }
	/Calls.burn\(long\)/ && !marked {
		burnt += us
		if (gsub(/Calls.deep\(|[Ii]nterpreter/, "") >= want) deep += us
	}
	END { printf "%f %f %f %f %f\n", all / 1e6, unknown / 1e6, cut / 1e6, burnt / 1e6, deep / 1e6 }' \
	jit.folded)
want=$(truth out chains)
check_that "99 % of Java's time has names" "$all >= $want && $unknown <= 0.01 * $all" "$unknown of $all s"
check_that "97 % of its stacks are complete" "$cut <= 0.03 * $all" "$cut of $all s are cut"
check_that "they have the true depth" "$deep >= 0.99 * $burnt && $burnt >= 0.9 * $want" \
	"$deep of $burnt s, $want s were burnt"
