# SPDX-License-Identifier: GPL-2.0-or-later
#
# The cost of microstates with many context switches: switches, messaging, states, bpf,
# storm. Sourced by run.sh.
#
# shellcheck shell=bash

# --- perf bench sched pipe on one CPU ---

switch_recorders()
{
	cat <<END
er_kernel $er_kernel -A off -o RUN.er
er_kernel_split $er_kernel -A off --exact-user -o RUN.er
runqlat runqlat 1000
cpudist cpudist 1000
wakeuptime wakeuptime 1000
offcputime offcputime 1000
perf_sched perf sched record -q -o RUN.data
bpftrace bpftrace -q -e tracepoint:sched:sched_switch{@[kstack,ustack]=count();}
END
}

# Microseconds for each operation of a pipe that is pinned to one CPU.
pipe_us() { taskset -c 0 perf bench sched pipe -l "${1:-200000}" 2>/dev/null | awk '/usecs\/op/ { print $1 }'; }

# The same load in slices of 5 ms.
pipe_turn() { "$bench/pipe_pair" 80 2000; }

# The ratio with a recorder to without: CPU time, elapsed time; then the number of pairs of turns.
times_of()
{
	printf '%s times CPU (%s), %s elapsed (%s), %d pairs' \
		"$(calc "$(median <"ratio_$1")" %.3f)" "$(middle <"ratio_$1")" \
		"$(calc "$(column 2 "ratio_$1" | median)" %.3f)" "$(column 2 "ratio_$1" | middle)" \
		"$(wc -l <"ratio_$1")"
}

bench_switches()
{
	local name base cpu elapsed
	step "perf bench sched pipe on one CPU, and peers"
	base=$(pipe_turn | tenth)
	in_turn pipe_turn $((QUICK ? 2 : rounds * 4)) switch_recorders
	cpu=$(median <ratio_er_kernel) elapsed=$(column 2 ratio_er_kernel | median)
	row "perf bench sched pipe on one CPU, default settings" "1.15 times, CPU and elapsed" \
		"$(times_of er_kernel); $(calc "${base%% *}" %.2f) µs of CPU per operation without it" \
		"$cpu <= 1.15 && $elapsed <= 1.15"
	[ ! -s ratio_er_kernel_split ] ||
		row "… with exact user and system times" "1.36 times" "$(times_of er_kernel_split)" \
			"$(median <ratio_er_kernel_split) <= 1.36 && $(column 2 ratio_er_kernel_split | median) <= 1.36"
	for name in runqlat cpudist wakeuptime offcputime perf_sched bpftrace; do
		[ -s ratio_$name ] || continue
		row "… against $name" "less" "$(times_of $name)" \
			"$cpu < $(median <ratio_$name) && $elapsed < $(column 2 ratio_$name | median)"
	done
}

# The elapsed time of a run, and its CPU time.
messaging_turn()
{
	local TIMEFORMAT='%U %S'
	{ time perf bench sched messaging -g 10 -l 2000 2>/dev/null; } 2>&1 |
		awk '/Total time/ { e = $3 } /^[0-9.]+ [0-9.]+$/ { c = $1 + $2 } END { print e, c }'
}

bench_messaging()
{
	local i pid base ours cpu
	step "perf bench sched messaging"
	for i in $(seq $((QUICK ? 2 : rounds * 3))); do
		messaging_turn >>mess_none
		"$er_kernel" -o mess.er >/dev/null 2>&1 &
		pid=$!
		until [ -s mess.er/log.xml ] || ! kill -0 $pid 2>/dev/null; do sleep 0.1; done
		sleep 0.5
		messaging_turn >>mess_ours
		kill -INT $pid
		wait $pid
		rm -rf mess.er
	done
	base=$(column 1 mess_none | least) ours=$(column 1 mess_ours | least)
	cpu=$(calc "$(column 2 mess_ours | least) / $(column 2 mess_none | least)" %.3f)
	local noise
	noise=$(column 1 mess_none | sort -g | awk '{ v[NR] = $1 } END { print v[NR] / v[1] }')
	row "perf bench sched messaging, default settings" "within the noise" \
		"$cpu times CPU, $(calc "$ours / $base" %.3f) elapsed; the slowest without is $(calc "$noise" %.3f) times the fastest" \
		"$ours / $base <= $noise"
}

# --- the recorder's own CPU time and memory ---

switches_now() { awk '$1 == "ctxt" { print $2 }' /proc/stat; }

# 1,200,000 switches, each of which is a wait. Reported: the recorder's CPU time and memory, and its
# time before and after the recording.
bench_states()
{
	local i begin ended switches
	step "the recorder's own needs for 1,200,000 switches"
	for i in $(seq "$rounds"); do
		begin=$(switches_now)
		"$measure" "states.$i" "$er_kernel" -o st.er -A off -t 12 >/dev/null 2>&1 &
		local pid=$!
		until [ -s st.er/log.xml ] || ! kill -0 $pid 2>/dev/null; do sleep 0.1; done
		taskset -c 0 perf bench sched pipe -l 550000 >/dev/null 2>&1
		wait $pid
		switches=$(($(switches_now) - begin))
		calc "$(column 2 "states.$i") * 1200000 / $switches" %.4f >>states_cpu
		column 3 "states.$i" >>states_rss
		ended=$(grep -o 'kind="exit" tstamp="[0-9.]*' st.er/log.xml | grep -o '[0-9.]*$')
		echo "$(column 1 "states.$i") $ended" | awk '{ print $1 - $2 }' >>states_around
		rm -rf st.er
	done
	row "recorder's CPU time for 1,200,000 switches" "0.3 s" \
		"$(calc "$(least <states_cpu)" %.2f) s" "$(least <states_cpu) <= 0.3"
	row "… its memory" "100 MB" "$(calc "$(median <states_rss) / 1024" %.0f) MB" "$(median <states_rss) <= 102400"
	row "… its time before and after the recording" "0.5 s" \
		"$(calc "$(median <states_around)" %.2f) s" "$(median <states_around) <= 0.5"
}

# The runs and nanoseconds, since they were loaded, of the programs whose names match.
programs_cost() { bpftool prog show 2>/dev/null | awk -v names="$1" '
	/^[0-9]+:/ && $0 ~ " name " names { for (i = 1; i < NF; i++) {
		if ($i == "run_time_ns") ns += $(i + 1)
		if ($i == "run_cnt") n += $(i + 1) } }
	END { printf "%.0f %.0f\n", n, ns }'; }

# The nanoseconds of a program that does nothing.
empty_ns()
{
	local runs ns
	empty_program tp_btf/sched_switch || return
	start "$bench/attach" empty.o
	sleep 1
	pipe_us 300000 >/dev/null
	read -r runs ns < <(programs_cost bench_empty)
	stop_jobs
	[ "$runs" -gt 0 ] && calc "$ns / $runs" %.1f
}

# bpf_turn WARM: the nanoseconds of our programs a context switch, in a recording that has seen a pipe
# for WARM seconds.
bpf_turn()
{
	local begin end runs0 ns0 runs ns pid
	"$er_kernel" -o bpf.er -A off -p 10 -t $(($1 + 8)) >/dev/null 2>&1 &
	pid=$!
	until [ -s bpf.er/log.xml ] || ! kill -0 $pid 2>/dev/null; do sleep 0.1; done
	sleep 1
	if [ "$1" -gt 0 ]; then
		start taskset -c 0 perf bench sched pipe -l 100000000
		sleep "$1"
		stop_jobs
	fi
	begin=$(switches_now); read -r runs0 ns0 < <(programs_cost er_)
	pipe_us 500000 >/dev/null
	end=$(switches_now); read -r runs ns < <(programs_cost er_)
	calc "($ns - $ns0) / ($end - $begin) - ${empty:-60}" %.1f
	wait $pid
	rm -rf bpf.er
}

bench_bpf()
{
	local i empty
	step "BPF time a context switch"
	echo 1 >/proc/sys/kernel/bpf_stats_enabled
	empty=$(empty_ns)
	for i in $(seq "$rounds"); do
		bpf_turn 0 >>bpf_ns
		bpf_turn 35 >>bpf_later
	done
	echo "$stats" >/proc/sys/kernel/bpf_stats_enabled
	row "BPF time per context switch at 10 ms, less an empty program's" "300 ns" \
		"$(calc "$(least <bpf_ns)" %.0f) ns (an empty one: ${empty:-unknown, taken as 60} ns)" "$(least <bpf_ns) <= 300"
	row "… after the first half minute" "300 ns" "$(calc "$(least <bpf_later)" %.0f) ns" "$(least <bpf_later) <= 300"
}

# All CPUs switch as fast as they can: 500,000 times a second, or as often as the machine allows.
bench_storm()
{
	local begin rate pid i
	step "losses in a storm of switches"
	"$er_kernel" -o storm.er -A off -t 10 >/dev/null 2>&1 &
	pid=$!
	until [ -s storm.er/log.xml ] || ! kill -0 $pid 2>/dev/null; do sleep 0.1; done
	for i in $(seq 0 $(($(nproc) - 1))); do
		start taskset -c "$i" perf bench sched pipe -l 100000000
	done
	sleep 1
	begin=$(switches_now)
	sleep 5
	rate=$((($(switches_now) - begin) / 5))
	wait $pid
	stop_jobs
	row "lost at 500,000 switches a second" "nothing" "$(lost storm.er) at $rate a second" \
		"$(lost storm.er) == 0"
}

section "At each switch" switches messaging states bpf storm
