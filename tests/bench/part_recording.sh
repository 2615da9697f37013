# SPDX-License-Identifier: GPL-2.0-or-later
#
# The cost of recording: sample, slowdown, recorder, losses. Sourced by run.sh.
#
# shellcheck shell=bash

# --- The time of a clock sample, measured by the kernel ---

# The runs and nanoseconds of our clock programs since they were loaded.
clock_cost() { bpftool prog show 2>/dev/null | awk '
	/^[0-9]+: perf_event/ { for (i = 1; i < NF; i++) {
		if ($i == "run_time_ns") ns += $(i + 1)
		if ($i == "run_cnt") n += $(i + 1) } }
	END { printf "%.0f %.0f\n", n, ns }'; }

# sample_cost NAME CONDITION: measure while the started load runs.
sample_cost()
{
	local name=$1 condition=$2 i pid runs ns m frames
	sleep 1
	for i in $(seq $((rounds * 2))); do
		"$er_kernel" -o "$name$i.er" -p high -t 4 >/dev/null 2>&1 &
		pid=$! # the substitution below changes $!
		sleep 3.5
		read -r runs ns < <(clock_cost)
		wait $pid
		[ "$runs" -gt 0 ] && calc "$ns / $runs" >>"cost_$name"
	done
	frames=$(mean_kernel_frames)
	m=$(least <"cost_$name")
	row "a clock sample, $condition" "4,000 ns" \
		"$(calc "$m" %.0f) ns (to $(calc "$(sort -g "cost_$name" | tail -n 1)" %.0f), $(wc -l <"cost_$name") turns), $frames kernel frames" "$m <= 4000"
}

bench_sample()
{
	step "a clock sample"
	echo 1 >/proc/sys/kernel/bpf_stats_enabled
	start taskset -c 0 perf bench sched pipe -l 100000000
	sample_cost pipe "perf bench sched pipe on one CPU"
	stop_jobs
	start perf bench sched messaging -l 100000
	sample_cost messaging "perf bench sched messaging"
	stop_jobs
	echo 0 >/proc/sys/kernel/bpf_stats_enabled
}

# Kernel frames per sample that has any, under the running load, measured by perf.
mean_kernel_frames()
{
	perf_record -F 999 -o frames.data -- sleep 2
	perf script -i frames.data -F comm,ip,sym 2>/dev/null | awk '
		/^[^ \t]/ { seen = 0 }
		/^[ \t]+ffff/ { f++; if (!seen++) n++ }
		END { printf "%.1f", n ? f / n : 0 }'
	rm -f frames.data
}

# --- The slowdown of recorded programs ---

# Three seconds on all CPUs, in slices of 20 ms. A turn starts the program only once: a start costs
# a recorder more than the samples of a second.
work_turn() { "$bench/fixed_work" "$(nproc)" 150 60; }

clock_recorders()
{
	cat <<END
slow_ours $er_kernel -A off -o RUN.er -p 1.001
slow_perf perf record -q -a -g -F 999 -o RUN.data
slow_empty $bench/attach empty.o 1001000
END
}

# slowdowns NAME: for each pair the slowdown in percent, by the recorder's interrupts and by
# its own CPU time.
slowdowns() { paste "ratio_$1" "share_$1" | awk '{ printf "%.4f\n", ($1 / (1 - $2) - 1) * 100 }'; }

bench_slowdown()
{
	local ours perfs
	step "slowdown of a program that computes"
	empty_program perf_event
	in_turn work_turn $((QUICK ? 2 : rounds * 4)) clock_recorders
	ours=$(slowdowns slow_ours | median) perfs=$(slowdowns slow_perf | median)
	row "slowdown by whole-system recording at 1,000 Hz" "1 %" \
		"$(calc "$ours" %.2f) % ($(slowdowns slow_ours | middle %.2f), $(wc -l <ratio_slow_ours) pairs); the recorder itself took $(calc "100 * $(median <share_slow_ours)" %.2f) % of the CPU time" \
		"$ours <= 1"
	row "… against perf record -a -g -F 999" "no slower" \
		"$(calc "$ours" %.2f) % against $(calc "$perfs" %.2f) % ($(slowdowns slow_perf | middle %.2f))" "$ours <= $perfs"
	row "… the clock alone, with an empty BPF program" "" \
		"$(slowdowns slow_empty | median | xargs printf %.2f) % ($(slowdowns slow_empty | middle %.2f))" 1
}

# --- The recorder's own CPU time and output ---

# An experiment's size without archives: perf.data holds no binaries either.
size_of() { du -sb --exclude=archives "$1" | cut -f1; }

# record_ours NAME ROUND [OPTION…]: record once. Experiments are kept until the end, because
# ext4 creates files slowly where many were deleted in the last minutes.
record_ours()
{
	local name=$1 i=$2 er="$1.$2.er"
	shift 2
	"$measure" "${name}_cpu.$i" "$er_kernel" -o "$er" -p 1.001 -t "$seconds" "$@" >/dev/null 2>&1
	size_of "$er" >>"${name}_size"
}

# rows_of NAME CONDITION PERF: print rows that compare NAME with perf's run PERF.
rows_of()
{
	local ours perfs size_ours size_perf
	ours=$(column 2 "$1"_cpu.* | median) perfs=$(column 2 "$3"_cpu.* | median)
	size_ours=$(median <"$1_size") size_perf=$(median <"$3_size")
	row "CPU time of the recorder, $seconds s at 1,000 Hz, $2" "half of perf's" \
		"$(calc "$ours" %.3f) s against $(calc "$perfs" %.3f) s" "$ours <= $perfs / 2"
	row "size of the experiment, without archives, $2" "half of perf.data" \
		"$(calc "$size_ours / 1e6" %.2f) MB against $(calc "$size_perf / 1e6" %.2f) MB" \
		"$size_ours <= $size_perf / 2"
}

# record_all NAME CONDITION: record the started load with all default data, and with clock
# samples alone, as perf does. The recorders start no load of their own (perf's is a sleep,
# er_kernel has none), so rusage is the recorder's alone.
record_all()
{
	local name=$1 i
	for i in $(seq "$rounds"); do
		record_ours "${name}_states" "$i"
		record_ours "${name}_samples" "$i" --states off
		"$measure" "${name}_perf_cpu.$i" perf record -q -a -g -F 999 -o "$name.data" -- sleep "$seconds" >/dev/null 2>&1
		stat -c %s "$name.data" >>"${name}_perf_size"
		rm -f "$name.data"
	done
	rows_of "${name}_samples" "$2, clock samples only, like perf (--states off)" "${name}_perf"
	rows_of "${name}_states" "$2, with all states and waits (default)" "${name}_perf"
}

bench_recorder()
{
	step "the recorder's CPU time and the size of what it writes"
	start "$syn/spin" -t 2 'outer>alpha:1000'
	record_all cpu "CPU-bound"
	stop_jobs
	mixed_load
	record_all mixed "mixed"
	stop_jobs
}

# --- The recorder's CPU time for a process ---

# Processes and threads that the machine has begun.
begun() { awk '$1 == "processes" { print $2 }' /proc/stat; }

# recorder_use RECORDER…: the recorder's CPU time, and how many processes began meanwhile.
recorder_use()
{
	local before
	before=$(begun)
	rm -f process_cpu
	"$measure" process_cpu "$@" >/dev/null 2>&1
	echo "$(column 2 process_cpu) $(($(begun) - before))"
	rm -rf process.er process.data
}

# process_cost NAME RECORDER…: append to NAME_us the recorder's CPU time for each process that begins and ends:
# that of a recording beside such processes, less that of one without. The load is not the recorder's.
process_cost()
{
	local name=$1 idle n0 busy n
	shift
	read -r idle n0 < <(recorder_use "$@")
	start sh -c 'while :; do /bin/true; done'
	read -r busy n < <(recorder_use "$@")
	stop_jobs
	calc "($busy - $idle) * 1e6 / ($n - $n0)" %.1f >>"${name}_us"
}

bench_process()
{
	local i ours perfs
	step "the recorder's CPU time for a process"
	for i in $(seq "$rounds"); do
		process_cost process_ours "$er_kernel" -A off -o process.er -p on -t "$seconds"
		process_cost process_states_off "$er_kernel" -A off -o process.er -p on -t "$seconds" --states off
		process_cost process_perf perf record -q -a -g -F 100 -o process.data -- sleep "$seconds"
	done
	ours=$(median <process_ours_us) perfs=$(median <process_perf_us)
	row "CPU time of the recorder for a process that begins and ends" "60 µs" \
		"$(calc "$ours" %.0f) µs; --states off $(calc "$(median <process_states_off_us)" %.0f) µs; perf $(calc "$perfs" %.0f) µs" \
		"$ours <= 60"
}

# --- Losses ---

# lost EXPERIMENT: lost records and stacks, as recorder.xml counts them.
lost() { grep -o ' lost="[0-9]*"' "$1/recorder.xml" | tr -dc '0-9\n' | awk '{ n += $1 } END { print NR ? n : "unknown" }'; }

bench_losses()
{
	step "losses at the default settings"
	"$er_kernel" -o messaging.er -q 0 -- perf bench sched messaging -g 20 -l 5000 >/dev/null 2>&1
	row "lost under perf bench sched messaging" "nothing" "$(lost messaging.er)" "$(lost messaging.er) == 0"
	"$er_kernel" -o compile.er -q 0 -- make -s -j4 -C "$top" O="$work/out" "$work/out/libanalysis.a" \
		>/dev/null 2>&1
	row "lost under a parallel compile" "nothing" "$(lost compile.er)" "$(lost compile.er) == 0"
}

section "Recording" sample slowdown recorder process losses
quick+=(sample slowdown recorder process losses)
