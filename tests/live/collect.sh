#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# collect: whatever a program does, its experiment can be read, its CPU time is what the kernel
# counted for it, and its exit status is its own.
# Time limit: 600 s
. "$(dirname "$0")/../lib/live.sh"
collect=$O/bin/collect
[ -x "$collect" ] || { not_ok "collect is built"; exit 1; }

# cpu_in EXPERIMENT: all CPU time in it
cpu_in()
{
	"$er_print" -printmode , -metrics e.totalcpu:name -functions "$1" 2>/dev/null | csv_rows |
		awk -F'\t' '$2 == "<Total>" { print $1 }'
}

# The same by gprofng, which knows nothing of our own files.
cpu_in_gprofng()
{
	gprofng_text -printmode , -metrics e.totalcpu:name -functions "$1" 2>/dev/null |
		csv_rows | awk -F'\t' '$2 == "<Total>" { print $1 }'
}

# true_cpu NAME EXPERIMENT SECONDS: within half a percent. The program's exec and its exit, which
# getrusage does not show it, take some milliseconds on a busy machine.
true_cpu()
{
	local got
	got=$(cpu_in "$2")
	check_that "$1: CPU time is what getrusage says" \
		"${got:-0} >= 0.995 * $3 - 0.002 && ${got:-0} <= 1.005 * $3 + 0.015 && $3 > 0" "$got, rusage $3"
	command -v gprofng >/dev/null || return
	check_that "$1: gprofng shows the same" "\"$(cpu_in_gprofng "$2")\" == \"$got\""
}

# fate NAME STATUS: run it, under collect
fate()
{
	rm -f "$1.cpu"
	timeout 300 "$collect" -p high -o "$1.er" "$syn/fates" "$tmp/$1.cpu" 0.8 "$1" >"$1.out" 2>"$1.err"
	status=$?
	check_that "$1: the status is the program's" "$status == $2" "$status; $(cat "$1.err")"
	# The shell's own words for a signal.
	check_that "$1: collect says nothing" \
		"$(cat "$1.out" "$1.err" | grep -cvE '^(Segmentation fault|Killed)') == 0" "$(cat "$1.out" "$1.err")"
	true_cpu "$1" "$1.er" "$(truth "$1.cpu" cpu)"
}
fate exit 5
fate segv 139
fate kill 137
fate close 0
fate daemon 0
fate threads 0
got=$(query 'distinct(THRID) from packets where ON_CPU' threads.er)
check_that "threads: each of 40 short threads is recorded" "$got >= 40" "$got"
got=$(seconds_of burn i.totalcpu exit.er)
check_that "exit: the function has the time" "$got >= 0.79 && $got <= 0.83 + 0.1" "$got"

# A signal for collect is the program's.
timeout 300 "$collect" -o usr1.er "$syn/fates" "$tmp/usr1.cpu" 0.1 usr1 &
waiter=$!
recorder=
until recorder=$(pgrep -P $waiter) && grep -qs '^pid' usr1.cpu; do sleep 0.05; done
kill -USR1 $recorder
wait $waiter
status=$?
check_that "a signal reaches the program" "$status == 6" "$status"

# A program that cannot be run: the statuses that env(1) has for it.
collect_status() { "$collect" -o never.er "$@" >/dev/null 2>err; echo "$?, $(wc -l <err) line"; }
touch data
check_that "no such program: 127" "\"$(collect_status ./nothing)\" == \"127, 1 line\"" "$(cat err)"
check_that "no program in PATH: 127" "\"$(collect_status no-such-program)\" == \"127, 1 line\"" "$(cat err)"
check_that "a file that may not be executed: 126" "\"$(collect_status ./data)\" == \"126, 1 line\"" "$(cat err)"
check_that "a directory: 126" "\"$(collect_status /tmp)\" == \"126, 1 line\"" "$(cat err)"

# The shortest interval of the kernel's clock. In a virtual machine its ticks may need all CPUs, so that nothing ends.
timeout -s KILL 100 "$collect" -p 10u -o often.er "$syn/spin" alpha:0.2 >/dev/null 2>often.err
check_that "-p 10u: the recording ends" "$? == 0" "$(cat often.err)"

# Descendants and their lineage. The third child of the shell executes a shell, whose child is a spin.
cat >family.sh <<'END'
"$syn/spin" alpha:0.1 >>spins
"$syn/spin" alpha:0.1 >>spins
sh -c '"$syn/spin" beta:0.1 >>spins; exit 0'
"$syn/spin" beta:0.2 >>spins &
exit 3
END
timeout 300 "$collect" -p high -o family.er sh family.sh
status=$?
check_that "family: the status is the founder's" "$status == 3" "$status"
"$er_print" -experiment_list family.er >list
for part in _f1_x1 _f2_x1 _f3_x1 _f3_x1_f1_x1 _f4_x1; do
	check_that "family: $part is there" "$(grep -c "family.er/$part.er\$" list) == 1" "$(cat list)"
done
check_that "family: descendants go on after the founder" \
	"$(grep -c '^cpu' spins) == 4 && $(seconds_of beta i.totalcpu family.er) >= 0.29" "$(cat spins)"
got=$(cpu_in family.er)
want=$(truth spins cpu)
check_that "family: all CPU time is there" "${got:-0} >= 0.995 * $want && ${got:-0} <= $want + 0.1" "$got of $want"

# More descendants than there are experiments for: the rest share one.
timeout 300 "$collect" -o many.er "$syn/many" 150 4 2 >many.out
got=$(ls many.er | grep -c '^_')
check_that "many: few get an experiment of their own" "$got > 10 && $got <= 66" "$got"
want=$(awk '/cpu/ { s += $2 } END { print s }' many.out)
got=$(cpu_in many.er)
check_that "many: all CPU time is there" "${got:-0} >= 0.98 * $want && ${got:-0} <= 1.05 * $want + 0.05" "$got of $want"

timeout 300 "$collect" -F off -p high -o off.er sh family.sh
check_that "-F off: no descendant is recorded" "$(ls off.er | grep -c '^_') == 0" "$(ls off.er)"
while pgrep -f "^$syn/spin beta:0.2" >/dev/null; do sleep 0.05; done
timeout 300 "$collect" -F '=_f2.*' -o some.er sh family.sh
check_that "-F =regexp: only this lineage has functions" \
	"$(ls some.er | grep -c '^_f') == $(ls some.er | grep -c '^_f2') && $(ls some.er | grep -c '^_f2') > 0" "$(ls some.er)"

# Attach. The target goes on.
"$syn/spin" -t 2 alpha:2 >target.out &
target=$!
wait_threads $target 2
before=$(cpu_of "$target")
timeout 300 "$collect" -t 1 -o attached.er -P $target 2>attached.err
status=$?
check_that "-P: ends after -t" "$status == 0" "$status"
check_that "-P: nothing is said of a process without children" "$(grep -c 'child process' attached.err) == 0" "$(cat attached.err)"
# At once: the target computes for a few seconds only.
timeout 300 "$collect" -o rest.er -P $target
check_that "-P: ends with the target" "$? == 0"
wait $target
status=$?
check_that "-P: the target ends as it would" "$status == 0 && $(grep -c '^cpu' target.out) == 1" "$status"
got=$(awk "BEGIN { print $(cpu_in attached.er) + $(cpu_in rest.er) }")
check_that "-P: the time is at most the target's" "$got > 0.5 && $got <= 1.005 * $(truth target.out cpu)" "$got"
check_that "-P: both threads are recorded" "$(query 'distinct(THRID) from packets where ON_CPU' attached.er) == 2"
sh -c 'sleep 60 & echo $!; wait' >child.out & parent=$!
until [ -s child.out ]; do sleep 0.05; done
timeout 300 "$collect" -t 1 -o parent.er -P $parent 2>parent.err
check_that "-P: children from before are said not to be recorded" \
	"$(grep -c "process $parent has 1 child process from before, not recorded" parent.err) == 1" "$(cat parent.err)"
kill "$(cat child.out)"
wait $parent
timeout 300 "$collect" -o none.er -P 4194305 2>err
check_that "-P: a process that is not there" "$? == 1 && $(wc -l <err) == 1 && $(grep -c 'no such process' err) == 1" "$(cat err)"

# A disk that the program fills.
if mount_own_disk; then
	on_exit=unmount_own_disk
	timeout 300 "$collect" -p high -d mnt -o full.er sh -c 'dd if=/dev/zero of=mnt/fill bs=64k 2>/dev/null; "$syn/spin" alpha:0.3 >/dev/null; exit 4' 2>full.err
	status=$?
	check_that "full disk: collect fails, with one message" "$status == 1 && $(wc -l <full.err) == 1" "$status: $(cat full.err)"
	check "full disk: the experiment opens" "$er_print" -header -functions mnt/full.er
else
	skip "full disk" "cannot mount"
fi

# What is printed without arguments.
"$collect" >usage 2>&1
check_that "alone: options, counters, clock range" \
	"$(grep -c '^  -p interval' usage) == 1 && $(grep -c 'page-faults' usage) > 0 && $(grep -c '^Clock intervals' usage) == 1" "$(cat usage)"
timeout 300 "$collect" -o quiet.er -p off -h page-faults sh -c 'ls >/dev/null' 2>err
check_that "-h: counters alone" "$? == 0 && $("$er_print" -metric_list quiet.er 2>&1 | grep -c page-faults) > 0" "$(cat err)"

timeout 300 "$collect" -A off -o every.er -p high -h page-faults,10 -s all -H on -i on "$syn/contend" 1 >every.out 2>&1
check_that "every kind of data in one recording" "$? == 0 &&
	$(find every.er -size +0 -name profile -o -size +0 -name hwcounters -o -size +0 -name heaptrace -o \
		-size +0 -name iotrace -o -size +0 -name lockcounts | wc -l) == 5" "$(cat every.out; ls -l every.er)"

# Programs into which nothing could be loaded.
if file -L "$(command -v busybox)" 2>/dev/null | grep -q 'statically linked'; then
	timeout 300 "$collect" -p high -o static.er busybox sh -c 'i=0; while [ $i -lt 200000 ]; do i=$((i + 1)); done'
	check_that "a static program is recorded" "$? == 0 && $(cpu_in static.er) > 0.02" "$(cpu_in static.er)"
else
	skip "a static program is recorded" "busybox is not static here"
fi
timeout 300 "$collect" -p high -o other.er setpriv --reuid 65534 --clear-groups "$syn/spin" alpha:0.3 >other.out
check_that "a program of another user is recorded" \
	"$? == 0 && $(seconds_of alpha i.totalcpu other.er) >= 0.29" "$(cat other.out)"
