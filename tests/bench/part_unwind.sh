# SPDX-License-Identifier: GPL-2.0-or-later
#
# User stacks of unmodified programs of a distribution: how much of their time has complete stacks,
# and what that costs. For comparison, perf's share of stacks that reach the program's start, by
# frame pointers and by DWARF. Sourced by run.sh.
# shellcheck shell=bash

# One function for each program, by the name of what it runs. A load runs until stop_jobs.
unwind_python3() { start python3 -c 'import re
while True: re.sub("a", "b", "banana" * 50); sorted(range(1000), key=lambda x: -x)'; }
unwind_perl() { start perl -e 'sub f { my $n = shift; $n < 2 ? $n : f($n - 1) + f($n - 2) } f(20) while 1'; }
unwind_bash() { start bash -c 'f() { local i; for i in {1..500}; do :; done; echo "$1" | { read -r x; }; }; while :; do f $RANDOM; done'; }
unwind_openssl() { start bash -c 'while :; do openssl speed -seconds 1 rsa2048 sha256; done'; }
unwind_git() { start bash -c "cd '$top' && while :; do git log --stat -n 200; git grep -c struct; done"; }
unwind_cc1() { start bash -c "cd '$top' && while :; do gcc -O2 -D_GNU_SOURCE -DER_VERSION='\"1\"' -I. -c -o '$work/x.o' analysis/base/map.c; done"; }
unwind_redis() { start redis-server --port 6390 --save '' && sleep 0.5 && start redis-benchmark -p 6390 -l -q -t get,set,lrange; }
unwind_nginx()
{
	mkdir -p nginx && echo hello >nginx/index.html
	cat >nginx/conf <<-END
		daemon off; pid $work/nginx/pid; error_log $work/nginx/log; worker_processes 1; user root;
		events {} http { access_log off; keepalive_requests 1000000000;
		server { listen 127.0.0.1:6391; root $work/nginx; } }
	END
	start nginx -c "$work/nginx/conf" && sleep 0.5
	start perl -MIO::Socket::INET -e '$s = IO::Socket::INET->new("127.0.0.1:6391");
		while (1) { print $s "GET / HTTP/1.1\r\nHost: x\r\n\r\n"; sysread $s, $x, 65536 }'
}
unwind_postgres()
{
	local bin
	bin=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | tail -n 1)
	rm -rf /tmp/er_bench_pg && install -d -o postgres /tmp/er_bench_pg
	(cd /tmp && setpriv --reuid=postgres --regid=postgres --clear-groups \
		"$bin/initdb" -D /tmp/er_bench_pg/data >/dev/null 2>&1)
	start setpriv --reuid=postgres --regid=postgres --clear-groups "$bin/postgres" \
		-D /tmp/er_bench_pg/data -p 6392 -k /tmp/er_bench_pg
	sleep 2
	"$bin/pgbench" -h /tmp/er_bench_pg -p 6392 -U postgres -i -q postgres >/dev/null 2>&1
	start "$bin/pgbench" -h /tmp/er_bench_pg -p 6392 -U postgres -T 1000 postgres
}
unwind_node() { start node -e 'const o = i => ({ a: i, b: String(i) });
	for (;;) JSON.parse(JSON.stringify(Array.from({ length: 500 }, (_, i) => o(i)).sort((x, y) => y.a - x.a)));'; }
unwind_java()
{
	mkdir -p java && cat >java/Load.java <<-'END'
		import java.util.*;
		class Load {
			static int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
			public static void main(String[] a) {
				for (;;) { Map<String, Integer> m = new TreeMap<>();
					for (int i = 0; i < 2000; i++) m.put("k" + i, fib(12)); }
			}
		}
	END
	start java java/Load.java && sleep 3
}
unwind_chromium()
{
	start chromium --headless --no-sandbox --disable-gpu --user-data-dir="$work/chromium" 'data:text/html,<script>
		setInterval(() => { let a = []; for (let i = 0; i < 20000; i++) a.push({ x: i, s: String(i) });
			a.sort((p, q) => q.x - p.x); document.title = JSON.stringify(a).length;
			document.body.innerHTML = a.slice(0, 500).map(e => "<p>" + e.s).join("") }, 5)</script>'
	sleep 5
}
# Processes that live for about 5 ms, one after the other.
unwind_short() { start bash -c 'while :; do perl -e "my \$n; \$n += \$_ for 1 .. 50000"; done'; }

# label, load, program name in er_print (Debian's redis-server is a link), the program that must be
# installed and that perf shows, percentage to reach
unwind_programs()
{
	cat <<-END
		redis redis redis-check-rdb redis-server 99.9
		nginx nginx nginx nginx 99.9
		PostgreSQL postgres postgres postgres 99.9
		git git git git 99.9
		cc1 cc1 cc1 cc1 99.9
		perl perl perl perl 99.9
		python3 python3 python3.11 python3 99.9
		openssl openssl openssl openssl 99.9
		bash bash bash bash 99.9
		node node node node 99.5
		chromium chromium chromium chromium 99.5
		java java java java 99
		short-lived short perl perl 95
	END
}

# unwind_shares EXPERIMENT PROGRAM: percentage of complete stacks on CPUs and in waits, and the
# seconds of both.
unwind_shares()
{
	"$er_print" -printmode , -unwinding "$1" | awk -F'","' -v p="$2" '{ gsub(/^"|"$/, "") }
		$5 == p { printf "%.3f %.3f %.3f %.3f\n", $2, $4, $1, $3 }'
}

# unwind_perf FILE PROGRAM: percentage of its user stacks that reach the start of a program or
# thread.
unwind_perf()
{
	perf script --no-inline -i "$1" -F comm,ip,sym 2>/dev/null | awk -v p="${2%%.*}" '
		function done() { if (user) { n++; whole += start } user = start = 0 }
		/^[^ \t]/ { done(); want = index($0, substr(p, 1, 15)) == 1; next }
		want && NF && $1 !~ /^ffffffff/ { user = 1 }
		want && /_start|__libc_start|clone|start_thread| main$/ { start = 1 }
		END { done(); printf "%.1f", n ? 100 * whole / n : -1 }'
}

unwind_one()
{
	local label=$1 load=$2 program=$3 needs=$4 least=$5 fp dwarf shares
	rm -rf unwind.er
	"unwind_$load" && sleep 1
	"$er_kernel" -A off -o unwind.er -t "$((seconds / 2))" >/dev/null 2>&1
	perf record -q -a -F 99 --call-graph fp -o fp.data -- sleep 3 >/dev/null 2>&1
	perf record -q -a -F 99 --call-graph dwarf -o dwarf.data -- sleep 3 >/dev/null 2>&1
	stop_jobs
	shares=$(unwind_shares unwind.er "$program")
	fp=$(unwind_perf fp.data "$needs") dwarf=$(unwind_perf dwarf.data "$needs")
	rm -f fp.data dwarf.data
	set -- ${shares:-nan nan 0 0}
	row "user stacks of $label complete, by time" "$least %" \
		"$1 % on CPUs, $2 % of waits (perf: $fp % by frame pointers, $dwarf % by DWARF)" \
		"$1 >= $least && ($2 >= $least || $4 == 0)"
}

# Threads that compute below 24 calls, on all CPUs.
unwind_work_turn() { "$bench/fixed_work" "$(nproc)" $((QUICK ? 50 : 150)) 60 24; }

unwind_recorders()
{
	cat <<-END
		ours $er_kernel -A off -o RUN.er -p high --states off
		dwarf perf record -q -a -F 999 --call-graph dwarf -o RUN.data
	END
}

# whole_cost NAME: what a load loses and what the recorder takes itself, in percent of the load's CPU time. perf
# copies stacks in the interrupted program, so its own CPU time is a part of its cost only.
whole_cost() { calc "($(median <"ratio_$1") - 1 + $(median <"share_$1")) * 100" %.2f; }

bench_unwind_whole()
{
	local ours theirs
	step "whole cost of user stacks: the load and the recorder"
	rm -f ratio_ours ratio_dwarf share_ours share_dwarf
	in_turn unwind_work_turn $((QUICK ? 2 : rounds * 2)) unwind_recorders
	ours=$(whole_cost ours) theirs=$(whole_cost dwarf)
	row "stacks of 24 user frames at 1 kHz, slowdown and recorder" "1/10 of perf's, by DWARF" \
		"$ours % ($(middle <ratio_ours), recorder $(median <share_ours)) against $theirs % ($(middle <ratio_dwarf), recorder $(median <share_dwarf))" \
		"$ours * 10 <= $theirs"
	"$measure" begin.ours "$er_kernel" -A off -o begin.er -p high --states off -t 0.2 >/dev/null 2>&1
	"$measure" begin.dwarf perf record -q -a -F 999 --call-graph dwarf -o begin.data -- sleep 0.2 >/dev/null 2>&1
	rm -rf begin.er begin.data
	row "… CPU time to begin and to end a recording" "" \
		"$(calc "$(column 2 begin.ours)" %.2f) s against $(calc "$(column 2 begin.dwarf)" %.2f) s" 1
}

# CPU time and bytes of the recorder, of BPF and of perf, with stacks of 20 frames and more.
bench_unwind_cost()
{
	local ours theirs bytes perf_bytes
	step "cost of user stacks, against perf record --call-graph dwarf"
	unwind_python3; unwind_perl
	sleep 1
	rm -rf unwind.er
	"$er_kernel" -A off -o unwind.er -p high --states off -t "$seconds" >/dev/null 2>&1
	ours=$("$er_print" -header 1 unwind.er | awk '/^Recording cost/ {
		for (i = 1; i < NF; i++) if ($i == "er_kernel" || $i == "BPF") s += $(i + 1); print s }')
	bytes=$(du -sb unwind.er | cut -f1)
	"$measure" dwarf.cost perf record -q -a -F 999 --call-graph dwarf -o dwarf.data -- sleep "$seconds" >/dev/null 2>&1
	stop_jobs
	theirs=$(column 2 dwarf.cost) perf_bytes=$(stat -c %s dwarf.data)
	rm -f dwarf.data
	row "user stacks at 1 kHz, CPU time" "1/10 of perf's, by DWARF" \
		"$(calc "$ours" %.2f) s against $(calc "$theirs" %.2f) s" "$ours * 10 <= $theirs"
	row "… bytes" "1/50" "$(calc "$bytes / 1e6" %.1f) MB against $(calc "$perf_bytes / 1e6" %.1f) MB" \
		"$bytes * 50 <= $perf_bytes"
}

# A pipe between two processes: turns in which waits have user stacks, and turns in which they have
# none.
unwind_waits()
{
	cat <<-END
		stacks $er_kernel -A off -o RUN.er
		none $er_kernel -A off --wait-stacks none -o RUN.er
	END
}

bench_unwind_pipe()
{
	local with without
	step "sched pipe, with and without stacks of waits"
	rm -f ratio_stacks ratio_none
	in_turn pipe_turn $((QUICK ? 2 : rounds * 2)) unwind_waits
	with=$(median <ratio_stacks) without=$(median <ratio_none)
	row "perf bench sched pipe, with stacks of waits" "1.03 times that without them" \
		"$(times_of stacks) against $(times_of none)" "$with <= 1.03 * $without"
}

# By the name of its threads, because cc1 and postgres are not in PATH.
unwind_has() { command -v "$1" || gcc -print-prog-name="$1" | grep / || ls /usr/lib/postgresql/*/bin/"$1"; } >/dev/null 2>&1

# The files of 100 programs of the distribution and their libraries.
unwind_files()
{
	local programs
	programs=$(find /usr/bin -type f -size +40k | LC_ALL=C sort | head -n 100)
	# shellcheck disable=SC2086
	{ echo "$programs"; ldd $programs 2>/dev/null | sed -n 's/.*=> \(\/[^ ]*\).*/\1/p'; } |
		xargs -d '\n' readlink -f | sort -u
}

# table_cost: CPU milliseconds a MB of code, KB a MB of code, bytes a row of .eh_frame, MB of code,
# of the tables of the files that standard input names.
table_cost()
{
	"$O/tests/unwind/oracle" --build 2>/dev/null | awk '
		/^functions/ { for (i = 1; i < NF; i++) if ($(i + 1) " " $(i + 2) == "a CFI") row = $i }
		/^text/ { kb = $(7); ms = $(13); text = $2 }
		END { print ms, kb, row, text }'
}

bench_unwind_tables()
{
	local libc ms kb bytes text
	step "unwind tables"
	libc=$(ldd "$(command -v bash)" | sed -n 's/.*libc.so.6 => \([^ ]*\).*/\1/p')
	read -r ms kb bytes text < <(echo "$libc" | table_cost)
	row "unwind table of libc" "10 ms, 90 KB a MB of code" \
		"$(calc "$ms * $text" %.1f) ms, $kb KB a MB" "$ms * $text <= 10 && $kb <= 90"
	read -r ms kb bytes text < <(unwind_files | table_cost)
	row "… of 100 programs and their libraries, $text MB of code" "5 ms, 90 KB a MB of code" \
		"$ms ms, $kb KB a MB" "$ms <= 5 && $kb <= 90"
	row "… bytes a row of .eh_frame" "5" "$bytes" "$bytes <= 5"
}

# Programs in new files, one after the other: none has a table when it begins.
unwind_fresh()
{
	start bash -c 'for i in {1..100000}; do
		cp "$(command -v perl)" "fresh$i" && "./fresh$i" -e "my \$n; \$n += \$_ for 1 .. 1000000"
		rm -f "fresh$i"; done'
}

# tables_value EXPERIMENT ATTRIBUTE
tables_value() { sed -n "s/^<tables.* $2=\"\([0-9]*\)\".*/\1/p" "$1/recorder.xml"; }

# ready_row WHAT PREFIX: of the attributes with this prefix.
ready_row()
{
	local n slow mean longest
	n=$(tables_value ready.er "$2needed") slow=$(tables_value ready.er "$2slow")
	mean=$(calc "$(tables_value ready.er "$2delay_ns") / 1e6 / ($n + !$n)" %.1f)
	longest=$(calc "$(tables_value ready.er "$2longest_ns") / 1e6" %.1f)
	row "$1" "50 ms" "$mean ms, the longest $longest ms; $slow of $n later than 50 ms" "$n > 0 && $longest <= 50"
}

# Files that are mapped during the recording, and apart from them those of programs that run already: all of
# them need tables at once.
bench_unwind_ready()
{
	step "time until a table is ready"
	unwind_fresh
	rm -rf ready.er
	"$er_kernel" -A off -o ready.er -p high -t "$((seconds / 2))" >/dev/null 2>&1
	stop_jobs
	ready_row "unwind table ready after the first stack that needs it" ""
	ready_row "… in the first second, when all programs need theirs" first_
}

# walk_ns DEPTH INTERVAL: BPF nanoseconds of each clock sample of a program with so many callers.
walk_ns()
{
	local cpu pid runs ns
	for cpu in $(seq 0 $(($(nproc) - 1))); do
		start taskset -c "$cpu" "$syn/deep" distinct "$1" 1000
	done
	sleep 0.5
	rm -rf walk.er
	"$er_kernel" -A off -o walk.er -p "$2" --states off -t 4 >/dev/null 2>&1 &
	pid=$!
	sleep 3.5
	read -r runs ns < <(clock_cost)
	wait $pid
	stop_jobs
	[ "$runs" = 0 ] || calc "$ns / $runs" %.0f
}

# 20 frames cost the difference between stacks that are 20 frames apart. Caches are warm when
# samples follow each other closely, and cold at the usual rate.
bench_unwind_walk()
{
	local i warm cold
	step "BPF time of 20 user frames"
	echo 1 >/proc/sys/kernel/bpf_stats_enabled
	for i in $(seq "$rounds"); do
		walk_ns 21 0.1 >>walk_warm_deep
		walk_ns 1 0.1 >>walk_warm
		walk_ns 21 1 >>walk_cold
	done
	echo 0 >/proc/sys/kernel/bpf_stats_enabled
	warm=$(calc "$(least <walk_warm_deep) - $(least <walk_warm)" %.0f)
	cold=$(median <walk_cold)
	row "BPF time of 20 more user frames, 10,000 samples a second" "2,000 ns" "$warm ns" "$warm <= 2000"
	row "BPF time of a sample with 24 user frames, 1,000 a second" "6,000 ns" "$cold ns" "$cold <= 6000"
}

# Proportional kilobytes of a process and its descendants; pages that they share count once.
pss_kb()
{
	local pid=$1 child
	awk '/^Pss:/ { print $2 }' "/proc/$pid/smaps_rollup" 2>/dev/null
	for child in $(cat "/proc/$pid/task/"*/children 2>/dev/null); do pss_kb "$child"; done
}

bench_unwind_memory()
{
	local kb
	step "memory with 500 processes of 100 programs"
	start bash -c 'for i in {1..100}; do
		cp "$(command -v perl)" "prog$i"
		for k in {1..5}; do "./prog$i" -e "while (1) { \$n += \$_ for 1 .. 3000; select undef, undef, undef, 0.05 }" & done
		done; wait'
	sleep 3
	rm -rf memory.er
	"$er_kernel" -A off -o memory.er -p high -t "$seconds" >/dev/null 2>&1 &
	sleep "$((seconds - 2))"
	kb=$(pss_kb $! | awk '{ kb += $1 } END { print kb + 0 }')
	wait $!
	stop_jobs
	row "memory of the recorder and its worker, 500 processes of 100 programs" "60 MB" \
		"$(calc "$kb / 1024" %.0f) MB, of which tables $(calc "$(tables_value memory.er bytes) / 1048576" %.1f) MB" \
		"$kb > 0 && $kb <= 60 * 1024"
}

# PROGRAMS="perl node": only these, by their labels.
bench_unwind()
{
	local label load program needs least
	while read -r label load program needs least; do
		case " ${PROGRAMS:-$label} " in *" $label "*) ;; *) continue ;; esac
		unwind_has "$needs" || { step "no $needs: $label is left out"; continue; }
		step "user stacks of $label"
		unwind_one "$label" "$load" "$program" "$needs" "$least"
	done < <(unwind_programs)
}

section "User stacks" unwind unwind_cost unwind_whole unwind_pipe unwind_tables unwind_ready unwind_walk unwind_memory
