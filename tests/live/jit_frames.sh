#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Stacks of a plain Java VM, without frame pointers, for each VM that is installed. The program knows
# its own calls: compiled methods, one that stays in the interpreter, native methods that call back,
# lambdas, exceptions.
# Time limit: 400 s
. "$(dirname "$0")/../lib/live.sh"

command -v javac >/dev/null || skip_all "javac is not installed"
javac --release 17 -d . "$top/tests/fixtures/source/Chains.java" 2>javac.err ||
	skip_all "javac: $(head -n 1 javac.err)"
depth=5
pid=
on_exit=clean_up
clean_up() { [ -z "$pid" ] || kill "$pid"; } 2>/dev/null

# folded MODE EXPERIMENT: the stacks of the load $pid in a view mode.
folded()
{
	"$O/bin/er_export" --to folded -o - --metric totalcpu -viewmode "$1" "$2/_java_PID_$pid.1.er" 2>/dev/null
}

# times EXPERIMENT: seconds in all; of complete stacks; of complete stacks in `burn`; and of those
# that have each call of each round. `left' and `main' are interpreted.
times()
{
	folded user "$1" | awk -v n=$depth '
		{ us = $NF; all += us }
		/^<(Stack-unwind-failed|Truncated-stack)>/ { next }
		{ whole += us }
		/long Chains.burn\(long\)/ {
			burnt += us
			if (gsub(/Chains.compiled\(/, "") == n && gsub(/long Chains.left\(int(, long)+\)/, "") == n &&
			    gsub(/void Chains.main\(java.lang.String\[\]\)/, "") == 1 && !/<interpreter>/ &&
			    gsub(/\.invoke0\(/, "") == n && gsub(/Chains.lambda/, "") == n &&
			    gsub(/Chains.next\(/, "") == n && gsub(/Chains.called\(/, "") == n)
				exact += us
		}
		END { printf "%f %f %f %f\n", all / 1e6, whole / 1e6, burnt / 1e6, exact / 1e6 }'
}

# interpreted MODE EXPERIMENT: seconds of complete stacks in `burn'; of those with a frame of the
# interpreter for each interpreted method; and with interpreted methods.
interpreted()
{
	folded "$1" "$2" | awk -v n=$depth '
		/^<(Stack-unwind-failed|Truncated-stack)>/ || !/long Chains.burn\(long\)/ { next }
		{ us = $NF; burnt += us
			if (gsub(/<interpreter>/, "") == n + 1) machine += us
		}
		/Chains.left\(/ { author += us }
		END { printf "%f %f %f\n", burnt / 1e6, machine / 1e6, author / 1e6 }'
}

# test_vm NAME JAVA. Without inlining a call is a frame.
test_vm()
{
	rm -rf -- *.er
	"$2" -Xmx256m -XX:-Inline -Dsun.reflect.inflationThreshold=2147483647 \
		-Djdk.reflect.useNativeAccessorOnly=true -XX:CompileCommand=quiet \
		-XX:CompileCommand=exclude,Chains::left -XX:CompileCommand=exclude,Chains::main \
		-cp . Chains 100000 $depth >/dev/null 2>warm &
	pid=$!
	# Until the methods are compiled.
	while kill -0 "$pid" && ! grep -q warm warm; do
		sleep 0.1
	done
	must_record chains.er -p high -q 0 -F "=java" -t 4
	read -r all whole burnt exact < <(times chains.er)
	read -r in_expert expert expert_left < <(interpreted expert chains.er)
	read -r in_machine machine machine_left < <(interpreted machine chains.er)
	kill "$pid" && wait "$pid" 2>/dev/null
	pid=
	# At first the recorder has to find out where this VM keeps what.
	check_that "$1: its stacks are complete" "$all > 0 && $whole >= 0.8 * $all" "$whole of $all s"
	check_that "$1: complete stacks have every call" "$burnt >= 0.8 * $whole && $exact >= 0.995 * $burnt" \
		"$exact of $burnt of $whole s"
	check_that "$1: expert shows the interpreter and its methods" \
		"$expert >= 0.995 * $in_expert && $expert_left >= 0.995 * $in_expert && $in_expert > 0" \
		"$expert and $expert_left of $in_expert s"
	check_that "$1: machine shows the interpreter only" \
		"$machine >= 0.995 * $in_machine && $machine_left == 0 && $in_machine > 0" \
		"$machine and $machine_left of $in_machine s"
}

# test_second NAME JAVA: the tables of the second VM's files are there when it begins, so that none of its stacks
# is copied. Its own structures must be found all the same.
test_second()
{
	rm -rf -- *.er
	vm="'$2' -Xmx256m -cp . Chains 2 $depth >>out"
	must_record two.er -p high -q 0 -F "=java" -- sh -c "$vm; $vm"
	n=0
	for sub in two.er/_java_PID_*.1.er; do
		read -r all whole < <("$O/bin/er_export" --to folded -o - --metric totalcpu "$sub" 2>/dev/null | awk '
			/long Chains.burn\(long\)/ { all += $NF; if (!/^</) whole += $NF }
			END { printf "%f %f\n", all / 1e6, whole / 1e6 }')
		n=$((n + 1))
		check_that "$1: stacks of VM $n of a recording are complete" "$all > 0 && $whole >= 0.8 * $all" \
			"$whole of $all s"
	done
	check_that "$1: both VMs are recorded" "$n == 2" "$n"
}

for java in $(realpath /usr/lib/jvm/*/bin/java "$(command -v java)" 2>/dev/null | sort -u); do
	version=$("$java" -version 2>&1 | sed -n 's/.* version "\([0-9]*\).*/\1/p')
	[ "${version:-0}" -ge 17 ] || continue
	test_vm "Java $version" "$java"
	test_second "Java $version" "$java"
done
