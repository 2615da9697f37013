#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Stacks of a plain Java VM, without frame pointers, for each VM that is installed. The program knows
# its own calls: compiled methods, one that stays in the interpreter, native methods that call back,
# lambdas, method handles, exceptions.
# Time limit: 600 s
. "$(dirname "$0")/../lib/live.sh"

command -v javac >/dev/null || skip_all "javac is not installed"
javac --release 17 -d . "$top/tests/fixtures/source/Chains.java" 2>javac.err ||
	skip_all "javac: $(head -n 1 javac.err)"
# After it has said "warm" its main thread runs compiled code only. With an argument it then waits for the file
# `go', and runs that code below a function of that library, which it loads then.
cat >Compiled.java <<-'END'
	class Compiled {
		static int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
		static int rounds(int n) { int sum = 0; while (n-- > 0) sum += fib(20); return sum; }
		static void forever() { for (int sum = 0;;) sum += rounds(2000); }
		static native void callBack();
		public static void main(String[] a) throws Exception {
			rounds(4000);
			System.err.println("warm");
			if (a.length == 0)
				forever();
			while (!new java.io.File("go").exists())
				Thread.sleep(50);
			System.load(a[0]);
			callBack();
		}
	}
END
# `spin' is always called by 21 calls of `down', which `main' calls.
cat >Deep.java <<-'END'
	class Deep {
		static volatile long sink;
		static long spin(long n) { for (int i = 0; i < 20000; i++) n = n * 31 + (n ^ i); return n; }
		static long down(int n, long x) { return n == 0 ? spin(x) : down(n - 1, x) + 1; }
		public static void main(String[] a) {
			long until = System.nanoTime() + (long)(Double.parseDouble(a[0]) * 1e9);
			while (System.nanoTime() < until)
				sink += down(20, sink);
		}
	}
END
# Compares and searches strings, which moves the stack pointer, below 21 calls of `down'.
cat >Strings.java <<-'END'
	class Strings {
		static volatile long sink;
		static int compares(String a, String b) { return a.compareTo(b); }
		static int searches(String a, String b) { return a.indexOf(b); }
		static long down(int n, String a, String b, String c) {
			if (n > 0)
				return down(n - 1, a, b, c) + 1;
			long sum = 0;
			for (int i = 0; i < 200; i++)
				sum += compares(a, b) + searches(a, c);
			return sum;
		}
		public static void main(String[] a) {
			String text = "abcdefgh".repeat(100), part = "ghabx".substring(0, a.length == 0 ? 5 : 4);
			for (;;)
				sink += down(20, text, text + "z", part);
		}
	}
END
# Joins strings by method handles, below 21 calls of `down'. Its time is in calls of `join'.
cat >Handles.java <<-'END'
	class Handles {
		static volatile int sink;
		static int join(int x) { int n = 0; for (int i = 0; i < 50; i++) n += ("a" + x + "b" + (char)x + (long)i).length(); return n; }
		static int down(int n, int x) { return n == 0 ? join(x) : down(n - 1, x) + 1; }
		public static void main(String[] a) { for (int i = 0;; i++) sink += down(20, i); }
	}
END
# Has compiled code only, except for `pause' and `main'; then it waits below 21 calls of `down'.
cat >Asleep.java <<-'END'
	class Asleep {
		static volatile boolean sleeps;
		static volatile long sink;
		static void pause() { if (sleeps) java.util.concurrent.locks.LockSupport.park(); }
		static int down(int n) { if (n == 0) pause(); return n == 0 ? 1 : down(n - 1) + 1; }
		public static void main(String[] a) throws Exception {
			for (int i = 0; i < 30000; i++)
				sink += down(20);
			Thread.sleep(1000);
			sleeps = true;
			System.err.println("warm");
			for (;;)
				sink += down(20);
		}
	}
END
cat >native.c <<-'END'
	#include <jni.h>
	JNIEXPORT void JNICALL Java_Compiled_callBack(JNIEnv *env, jclass class)
	{
		(*env)->CallStaticVoidMethod(env, class, (*env)->GetStaticMethodID(env, class, "forever", "()V"));
	}
END
javac --release 17 -d . Compiled.java Deep.java Asleep.java Strings.java Handles.java || skip_all "javac: cannot compile Compiled.java"
# Otherwise the VM may stop its threads each second, in code of a library.
quiet="-XX:+UnlockDiagnosticVMOptions -XX:GuaranteedSafepointInterval=0"
depth=5
pid=
running=()
on_exit=clean_up
clean_up() { kill ${pid:-} "${running[@]}"; } 2>/dev/null

# folded MODE EXPERIMENT [OPTION…]: the stacks of the load $pid in a view mode.
folded()
{
	local mode=$1 exp=$2
	shift 2
	"$O/bin/er_export" --to folded -o - --metric totalcpu -viewmode "$mode" "$@" "$exp/_java_PID_$pid.1.er" 2>/dev/null
}

# times EXPERIMENT: from second 2 on, when the VM is known: seconds in all; of complete stacks; of complete stacks in `burn`; and of those
# that have each call of each round. `left' and `main' are interpreted.
times()
{
	folded user "$1" -from 2s | awk -v n=$depth '
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

# interpreted MODE EXPERIMENT: from second 2 on: seconds of complete stacks in `burn'; of those with a frame of the
# interpreter for each interpreted method; and with interpreted methods. Copied stacks do not name these.
interpreted()
{
	folded "$1" "$2" -from 2s | awk -v n=$depth '
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
	must_record chains.er -p high -q 0 -F "=java" -t 6
	read -r all whole burnt exact < <(times chains.er)
	read -r in_expert expert expert_left < <(interpreted expert chains.er)
	read -r in_machine machine machine_left < <(interpreted machine chains.er)
	kill "$pid" && wait "$pid" 2>/dev/null
	pid=
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

# compiled NAME WHAT: whether the stacks of $pid are complete, except at first: the recorder has to find out
# where this VM keeps what. On a busy machine that takes seconds.
compiled()
{
	local from all whole

	for from in 1 3 5 7 9; do
		read -r all whole < <(folded user running.er -from "${from}s" | awk '
			/int Compiled.fib\(int\)/ { all += $NF; if (/void Compiled.main\(/ && !/^</) whole += $NF }
			END { printf "%f %f\n", all / 1e6, whole / 1e6 }')
		awk "BEGIN { exit $all > 0 && $whole >= 0.95 * $all }" || break
	done
	check_that "$1: stacks of $2 are complete" "$all > 0 && $whole >= 0.95 * $all" "$whole of $all s, from $from s on"
}

# walks_of EXPERIMENT: samples of Java programs, and how many of them were cut at code of the VM: before it is known,
# frame pointers lead out of the code, or seem not to.
walks_of()
{
	sed -n 's/.*<walk program="java" of="cpu" end="\([^"]*\)".* stacks="\([0-9]*\)".*/\2 \1/p' "$1/recorder.xml" |
		awk '{ all += $1 } /Java VM not known yet|code without unwind/ { lacks += $1 } END { print all + 0, lacks + 0 }'
}

# run_compiled JAVA ARGUMENT…: start a VM; the last word of its output is `warm' when it is.
run_compiled()
{
	"$1" -Xmx256m $quiet "${@:2}" 2>"compiled.${#running[@]}" &
	running+=($!)
}

# test_running NAME JAVA: VMs that ran before the recording. Their main threads stay in compiled code, so no
# sample of theirs is in a file, and copies of their stacks cannot be walked beyond that code. The third one
# loads a library during the recording.
test_running()
{
	local home all lacks
	rm -rf -- *.er go
	home=$(dirname "$(dirname "$2")")
	gcc -shared -fPIC -O2 -I"$home/include" -I"$home/include/linux" -o native.so native.c || return
	running=()
	run_compiled "$2" -cp . Compiled
	run_compiled "$2" -cp . Compiled
	run_compiled "$2" -cp . Compiled "$tmp/native.so"
	for n in 0 1 2; do
		until grep -q warm "compiled.$n" || ! kill -0 "${running[n]}"; do sleep 0.1; done
	done
	(sleep 2; touch go) &
	must_record running.er -p high -q 0 -F "=java" -t 11
	read -r all lacks < <(walks_of running.er)
	check_that "$1: stacks wait until the VM is known" "$all > 0 && $lacks <= 0.01 * $all" "$lacks of $all"
	pid=${running[0]} && compiled "$1" "a VM that ran before the recording"
	pid=${running[1]} && compiled "$1" "another VM that ran before the recording"
	pid=${running[2]} && compiled "$1" "code that a library calls, loaded during the recording,"
	kill "${running[@]}" && wait "${running[@]}" 2>/dev/null
	pid= running=()
}

# test_strings NAME JAVA: a VM that ran before the recording, from second 2 on, when it is known. Its `main' may be
# interpreted, and has no name in stacks that were copied.
test_strings()
{
	local all whole wrong
	rm -rf -- *.er
	run_compiled "$2" -XX:-Inline -cp . Strings
	pid=${running[-1]}
	sleep 3
	must_record strings.er -p high -q 0 -F "=java" -t 7
	kill "$pid" && wait "$pid" 2>/dev/null
	read -r all whole wrong < <(folded user strings.er -from 2s | awk '
		!/int Strings.(compares|searches)\(/ { next }
		{ us = $NF; all += us }
		/^</ { next }
		{ whole += us }
		gsub(/long Strings.down\(/, "") != 21 || !/void Strings.main\(|<interpreter>/ { wrong += us }
		END { printf "%f %f %f\n", all / 1e6, whole / 1e6, wrong / 1e6 }')
	pid= running=()
	check_that "$1: stacks of code that compares and searches strings are complete" \
		"$all > 1 && $whole >= 0.97 * $all && $wrong == 0" "$whole of $all s, wrong $wrong s"
}

# test_handles NAME JAVA: all in the interpreter, from second 2 on.
test_handles()
{
	local all whole wrong
	rm -rf -- *.er
	"$2" -Xmx256m -Xint -cp . Handles &
	pid=$!
	sleep 2
	must_record handles.er -p high -q 0 -F "=java" -t 6
	kill "$pid" && wait "$pid" 2>/dev/null
	read -r all whole wrong < <(folded user handles.er -from 2s | awk '
		/void Handles.main\(/ || /^<Stack-unwind-failed>.*(java|Handles)/ { all += $NF }
		/void Handles.main\(/ { whole += $NF; if (/int Handles.join\(/ && gsub(/int Handles.down\(/, "") != 21) wrong += $NF }
		END { printf "%f %f %f\n", all / 1e6, whole / 1e6, wrong / 1e6 }')
	pid=
	check_that "$1: stacks through method handles are complete" \
		"$all > 0.1 && $whole >= 0.95 * $all && $wrong == 0" "$whole of $all s, wrong $wrong s"
}

# deep EXPERIMENT PID: seconds in `spin'; of complete stacks; of those that do not have all callers.
deep()
{
	"$O/bin/er_export" --to folded -o - --metric totalcpu -viewmode machine "$1/_java_PID_$2.1.er" 2>/dev/null | awk '
		!/Deep.spin/ { next }
		{ us = $NF; all += us }
		/^</ { next }
		{ whole += us }
		gsub(/<interpreter>|long Deep\.[a-z]*\(|void Deep\.main\(/, "") != 23 { wrong += us }
		END { printf "%f %f %f\n", all / 1e6, whole / 1e6, wrong / 1e6 }'
}

# test_unknown NAME JAVA OPTION: no stack is wrong while the recorder does not know yet where the VM keeps what. C1's
# code leaves rbp alone, so that frame pointers seem to hold, and lead past its callers.
test_unknown()
{
	rm -rf -- *.er
	# Others may run Java, too.
	must_record begin.er -p high -q 0 -F "=java" -- \
		sh -c "echo \$\$ >begin.pid; exec '$2' -Xmx256m -XX:-Inline $3 -cp . Deep 4"
	read -r all whole wrong < <(deep begin.er "$(cat begin.pid)")
	check_that "$1, $3: from its begin no stack lacks a caller" "$whole > 0 && $wrong == 0" "$wrong of $whole of $all s"
	"$2" -Xmx256m -XX:-Inline "$3" -cp . Deep 1000 &
	pid=$!
	sleep 2
	must_record runs.er -p high -q 0 -F "=java" -t 6
	kill "$pid" && wait "$pid" 2>/dev/null
	read -r all whole wrong < <(deep runs.er "$pid")
	pid=
	check_that "$1, $3: if it runs before no stack lacks a caller" "$whole > 0 && $wrong == 0" "$wrong of $whole of $all s"
}

# test_asleep NAME JAVA OPTION: a thread that waits through the whole recording, in a VM that nothing else has made known.
test_asleep()
{
	local n
	rm -rf -- *.er
	"$2" -Xmx256m -XX:-Inline "$3" -cp . Asleep 2>warm &
	pid=$!
	until grep -q warm warm || ! kill -0 "$pid"; do sleep 0.1; done
	sleep 0.5
	must_record asleep.er -F "=java" -t 2
	kill "$pid" && wait "$pid" 2>/dev/null
	n=$("$O/bin/er_export" --to folded -o - --metric total "asleep.er/_java_PID_$pid.1.er" 2>/dev/null |
		awk '/JavaMain.*Unsafe_Park/ && !/^</ { print gsub(/Asleep\.down\(/, "") }')
	pid=
	check_that "$1, $3: a thread that waits all the time has every caller" "${n:-0} == 21" "${n:-no stack}"
}

for java in $(realpath /usr/lib/jvm/*/bin/java "$(command -v java)" 2>/dev/null | sort -u); do
	version=$("$java" -version 2>&1 | sed -n 's/.* version "\([0-9]*\).*/\1/p')
	[ "${version:-0}" -ge 17 ] || continue
	test_vm "Java $version" "$java"
	test_second "Java $version" "$java"
	test_running "Java $version" "$java"
	test_strings "Java $version" "$java"
	test_handles "Java $version" "$java"
	test_unknown "Java $version" "$java" -XX:TieredStopAtLevel=1
	test_unknown "Java $version" "$java" -XX:TieredStopAtLevel=4
	test_asleep "Java $version" "$java" -XX:TieredStopAtLevel=1
	test_asleep "Java $version" "$java" -XX:TieredStopAtLevel=4
done
