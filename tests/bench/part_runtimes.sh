# SPDX-License-Identifier: GPL-2.0-or-later
#
# Programs of Java, Python and Node: runtimes, and many methods: methods. Sourced by run.sh.
#
# shellcheck shell=bash

# Each program does the same work in slices, after a warm-up, and prints the seconds of CPU time of each: of the
# whole process, in Java of the thread, since Java counts a process in steps of 10 ms.
java_turn() { java -XX:+UseSerialGC -Xmx256m -cp . Slices 100 300; }
python_turn() { python3 slices.py 10 250; }
node_turn() { node slices.js 40 150; }

write_slices()
{
	cat >Slices.java <<-'END'
	import java.util.*;
	class Slices {
		static volatile long sink;
		static long slice() {
			Map<String, Integer> counts = new TreeMap<>();
			for (int i = 0; i < 40000; i++)
				counts.merge("key" + i * 7919 % 1000, 1, Integer::sum);
			return counts.size();
		}
		public static void main(String[] a) {
			var threads = java.lang.management.ManagementFactory.getThreadMXBean();
			int warm = Integer.parseInt(a[0]), slices = Integer.parseInt(a[1]);
			for (int i = 0; i < warm + slices; i++) {
				long begin = threads.getCurrentThreadCpuTime();
				sink += slice();
				if (i >= warm)
					System.out.println((threads.getCurrentThreadCpuTime() - begin) / 1e9);
			}
		}
	}
	END
	cat >slices.py <<-'END'
	import json, sys, time
	record = [{"id": i, "name": "name %d" % i, "tags": ["a", "b", str(i)]} for i in range(300)]
	def turn():
	    return sum(len(item["tags"]) for item in json.loads(json.dumps(record)))
	warm, slices = int(sys.argv[1]), int(sys.argv[2])
	for i in range(warm + slices):
	    begin = time.process_time()
	    for _ in range(30):
	        turn()
	    if i >= warm:
	        print(time.process_time() - begin)
	END
	cat >slices.js <<-'END'
	const [warm, slices] = process.argv.slice(2).map(Number)
	const record = Array.from({ length: 300 }, (_, i) => ({ id: i, name: `name ${i}`, tags: ['a', 'b', String(i)] }))
	const turn = () => JSON.parse(JSON.stringify(record)).reduce((sum, item) => sum + item.tags.map(tag => tag.length).length, 0)
	for (let i = 0, sum = 0; i < warm + slices; i++) {
		const begin = process.cpuUsage()
		for (let k = 0; k < 80; k++) sum += turn()
		const used = process.cpuUsage(begin)
		if (i >= warm) console.log((used.user + used.system) / 1e6 + sum * 0)
	}
	END
	javac Slices.java 2>/dev/null
}

# At 100 Hz, with all states, as it comes.
runtimes_recorder() { echo "$runtime $er_kernel -A off -o RUN.er -p on"; }

bench_runtimes()
{
	local runtime name
	write_slices
	for runtime in java python node; do
		step "slowdown of a program of $runtime"
		in_turn ${runtime}_turn $((QUICK ? 1 : rounds * 2)) runtimes_recorder
		case $runtime in java) name="Java" ;; python) name="Python" ;; node) name="Node" ;; esac
		row "slowdown of a $name program at 100 Hz, all states" "1 %" \
			"$(slowdowns "$runtime" | median | xargs printf %.2f) % ($(slowdowns "$runtime" | middle %.2f), $(wc -l <"ratio_$runtime") pairs); the recorder itself took $(calc "100 * $(median <"share_$runtime")" %.2f) % of the CPU time" \
			"$(slowdowns "$runtime" | median) <= 1"
	done
}

# methods_of N ROUND: record a program that has N generated functions.
methods_of()
{
	start "$bench/generated" "$1"
	sleep 1
	"$measure" "functions$1_$2" "$er_kernel" -A off -o "methods$1.$2.er" -F =generated -t 5 >/dev/null 2>&1
	stop_jobs
}

# many_row RECORD NAME FEW WHAT THAN: a row for what the recorder needs for 50,000 functions beyond what it needs for
# FEW. `RECORD N ROUND` records a program with N of them, and measures into the file NAMEN_ROUND.
many_row()
{
	local i few many memory
	for i in $(seq "$rounds"); do
		"$1" "$3" "$i"
		"$1" 50000 "$i"
	done
	few=$(column 2 "$2$3"_* | median) many=$(column 2 "$2"50000_* | median)
	memory=$(calc "($(column 3 "$2"50000_* | median) - $(column 3 "$2$3"_* | median)) / 1024" %.1f)
	row "50,000 $4" "300 ms, 20 MB" \
		"$(calc "($many - $few) * 1000" %.0f) ms of the recorder's CPU time more than $5, $memory MB more" \
		"$many - $few <= 0.3 && $memory <= 20"
}

bench_methods()
{
	step "50,000 generated functions"
	many_row methods_of functions 1 "functions of a perf map" "one function"
}

# A Java program with 100 classes of N / 100 methods, which the VM compiles when it first calls them, and then
# calls in turn.
write_methods()
{
	mkdir -p "java$1"
	awk -v n="$1" 'BEGIN {
		for (c = 0; c < 100; c++) {
			f = "java" n "/M" c ".java"
			print "class M" c " {\nstatic int all(int x) {" >f
			for (i = 0; i * 100 + c < n; i++)
				print "if ((x & 1) == " i % 2 ") x += m" i "(x); else x -= m" i "(x);" >f
			print "return x; }" >f
			for (i = 0; i * 100 + c < n; i++)
				print "static int m" i "(int x) { for (int k = 0; k < 2000; k++) x = x * 31 + k + " i "; return x; }" >f
			print "}" >f
			close(f)
		}
		f = "java" n "/Methods.java"
		print "class Methods { public static void main(String[] a) { for (int x = 1; ; ) {" >f
		for (c = 0; c < 100; c++)
			print "x = M" c ".all(x);" >f
		print "if (a.length > 0) { System.out.println(\"ready\"); System.out.flush(); a = new String[0]; } } } }" >f
	}'
	(cd "java$1" && javac -J-Xmx1g ./*.java)
}

# java_methods_of N ROUND: record the program when all its methods are compiled.
java_methods_of()
{
	local i
	: >"ready$1"
	start sh -c "exec java -cp java$1 -XX:+UseSerialGC -Xmx128m -Xcomp -XX:TieredStopAtLevel=1 \
		-XX:CompileCommand=quiet -XX:CompileCommand=compileonly,'M*::m*' Methods ready >ready$1"
	for i in $(seq 600); do [ ! -s "ready$1" ] || break; sleep 0.2; done
	"$measure" "java$1_$2" "$er_kernel" -A off -o "java$1.$2.er" -F =java -t 5 >/dev/null 2>&1
	stop_jobs
}

bench_hotspot()
{
	step "50,000 compiled methods of Java"
	write_methods 100
	write_methods 50000
	many_row java_methods_of java 100 "compiled methods of a Java program" "100 methods"
}

section "Runtimes" runtimes methods hotspot
