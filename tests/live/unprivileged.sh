#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# collect, started by a user without privileges: its experiments have the CPU time that the kernel
# counted, by function, and the program behaves as without it.
. "$(dirname "$0")/../lib/live.sh"
. "$top/tests/lib/as_user.sh" || exit 1

# true_cpu NAME EXPERIMENT SECONDS [UNTOLD]: within half a percent. The kernel works for the process
# before its main and after its exit was recorded; UNTOLD is what a killed process cannot tell.
true_cpu()
{
	local got
	got=$(metric "$2" e.totalcpu '<Total>')
	check_that "$1: CPU time is what getrusage says" \
		"$got >= 0.995 * $3 - 0.002 - ${4:-0} && $got <= 1.005 * $3 + 0.015 && $3 > 0" "$got, rusage $3"
	command -v gprofng >/dev/null || return
	check_that "$1: gprofng shows the same" "\"$(gprofng_text -printmode , -metrics e.totalcpu:name \
		-functions "$2" 2>/dev/null | csv_rows | awk -F'\t' '$2 == "<Total>" { printf "%.3f", $1 }')\" == \"$got\""
}

# An interval of the clock, which is noticed at the next tick, twice.
lag=0.030
# fate NAME STATUS [UNTOLD]: run it, under collect
fate()
{
	as_user timeout 300 "$collect" -o "$1.er" "$syn/fates" "$tmp/$1.cpu" 0.8 "$1" >"$1.out" 2>"$1.err"
	status=$?
	check_that "$1: the status is the program's" "$status == $2" "$status; $(cat "$1.err")"
	check_that "$1: collect says one sentence" \
		"$(grep -cvE "^(Segmentation fault|Killed)${3:+|CPU time are missing}" "$1.err") == 1 && $(wc -c <"$1.out") == 0" \
		"$(cat "$1.out" "$1.err")"
	true_cpu "$1" "$1.er" "$(truth "$1.cpu" cpu)" ${3:+"($3 + 2 * $(longest "$1.er"))"}
}
fate exit 5
fate segv 139 $lag
fate kill 137 $lag
fate close 0
fate daemon 0
fate threads 0
got=$(query 'distinct(THRID) from packets where ON_CPU' threads.er)
check_that "threads: each of 40 short threads is recorded" "$got >= 40" "$got"
got=$(metric threads.er e.totalcpu '<Unsampled-CPU>')
if awk "BEGIN { exit !($(longest exit.er) > $lag || $(longest close.er) > $lag) }"; then
	skip "threads: the end of each has its stack" "the machine is busy: samples are up to $(longest exit.er) s apart"
else
	# Without a sample at its end each thread would lack half a tick on average: 0.2 s in all.
	check_that "threads: the end of each has its stack" "$got <= 0.1" "$got"
fi
# The kernel divides the sum by what its ticks saw, again at each look.
longest=$(longest exit.er)
for name in user system; do
	got=$(metric exit.er e.$name '<Total>')
	want=$(truth exit.cpu $name)
	check_that "exit: $name time is what getrusage says" \
		"$got >= 0.995 * $want - 0.010 - $longest && $got <= 1.005 * $want + 0.015 + $longest" "$got of $want"
done
# Addresses of data are in perf's samples. Each fault copies a stack, so some may be lost.
as_user timeout 60 "$collect" -o data.er -p off -h +page-faults,1 "$syn/faults" 500 >data.out 2>data.err
got=$("$er_print" -printmode , -data_objects data.er 2>/dev/null | awk -F'","' '$2 ~ /^table / { print substr($1, 2) }')
lost=$(query 'sum(lost) from counterring' data.er) want=$(truth data.out table)
check_that "faults in a variable are getrusage's, less those lost" \
	"0${got} > 0 && $got <= $want * 1.01 + 2 && $got + $lost >= $want * 0.99 - 2" "got $got, $lost lost; $(cat data.err)"
check_that "exit: the sentence says what is missing and what to do" \
	"$(grep -cE 'waits and kernel stacks are missing.*setcap' exit.err) == 1" "$(cat exit.err)"
check_that "exit: the experiment says it, too" \
	"$("$er_print" -header exit.er | grep -c 'waits and kernel stacks are missing') == 1"
check_that "exit: all that was produced is recorded" \
	"$("$er_print" -header exit.er | grep -cE 'Nothing was lost: [0-9]+ samples produced, all recorded') == 1" \
	"$("$er_print" -header exit.er)"

# By function: a sample has all the time since the one before. When a thread goes from one function to the
# next, that may be the other function's.
as_user timeout 300 "$collect" -o spin.er "$syn/spin" -t 2 'outer>alpha:0.6' beta:0.4 >spin.out 2>/dev/null
longest=$(longest spin.er)
for name in alpha beta outer; do
	got=$(metric spin.er i.totalcpu $name)
	want=$(truth spin.out $name)
	check_that "spin: $name has its time" \
		"$got >= $want - 2 * $longest - $lag && $got <= $want + 2 * $longest + $lag" \
		"$got of $want; $longest"
done
true_cpu spin spin.er "$(truth spin.out cpu)"
got=$(metric spin.er i.totalcpu main)
check_that "spin: the first thread's stacks reach main" "$got > 0" "$got"
check_that "spin: no frame is the library's" \
	"$("$er_print" -objects spin.er | grep -c er_clock) == 0" "$("$er_print" -objects spin.er)"

# Time in the kernel has the stack of the system call's caller.
as_user timeout 300 "$collect" -o sys.er "$syn/sysload" zero:0.5 >sys.out 2>/dev/null
got=$(metric sys.er i.system load_zero)
want=$(truth sys.out system)
check_that "sysload: time in the kernel has its caller" "$got >= 0.9 * $want - $lag - $(longest sys.er) && $want > 0.3" "$got of $want"
true_cpu sysload sys.er "$(truth sys.out cpu)"

# Signals of the program's own, small stacks, files that are loaded later.
as_user timeout 300 "$collect" -o ordinary.er "$syn/ordinary" 0.5 >ordinary.out 2>/dev/null
check_that "ordinary: it handles its own signals only" "$(truth ordinary.out handled) == 3" "$(cat ordinary.out)"
check_that "ordinary: no sleep is cut short" "$(truth ordinary.out cut) == 0" "$(cat ordinary.out)"
longest=$(longest ordinary.er)
for name in main_work small_work; do
	got=$(metric ordinary.er i.totalcpu $name)
	check_that "ordinary: $name has its time" \
		"$got >= 0.5 - $lag - 2 * $longest && $got <= 0.5 + $lag + 2 * $longest" "$got; $longest"
done
got=$(metric ordinary.er e.totalcpu '<Unsampled-CPU>')
check_that "ordinary: a thread that is not sampled has its time" "$got >= 0.49 && $got <= 0.51 + $lag + 2 * $longest" "$got"
got=$("$er_print" -metrics i.totalcpu:name -objects ordinary.er | awk '/libm\.so/ { print $1 }')
check_that "ordinary: a library that was loaded later has its time" "${got:-0} >= 0.3 - $longest" "$got"
true_cpu ordinary ordinary.er "$(truth ordinary.out cpu)"

# Descendants and their lineage.
touch spins && chmod 666 spins
cat >family.sh <<END
"$syn/spin" alpha:0.4 >>spins
"$syn/spin" alpha:0.4 >>spins
sh -c '"$syn/spin" beta:0.4 >>spins; exit 0'
"$syn/spin" beta:0.4 >>spins &
exit 3
END
as_user timeout 300 "$collect" -o family.er sh family.sh 2>family.err
status=$?
check_that "family: the status is the founder's" "$status == 3" "$status; $(cat family.err)"
"$er_print" -experiment_list family.er >list
for part in _f1_x1 _f2_x1 _f3_x1_f1_x1 _f4_x1; do
	check_that "family: $part is there" "$(grep -c "family.er/$part.er\$" list) == 1" "$(cat list)"
done
got=$(metric family.er e.totalcpu '<Total>')
want=$(truth spins cpu)
check_that "family: all CPU time is there" \
	"$(grep -c '^cpu' spins) == 4 && $got >= 0.995 * $want && $got <= $want + 0.1" "$got of $want"

# Children that end by _exit, without an exec. The kernel's work to end each is not told.
as_user timeout 300 "$collect" -o many.er "$syn/many" 150 4 5 >many.out 2>/dev/null
want=$(awk '/cpu/ { s += $2 } END { print s }' many.out)
got=$(metric many.er e.totalcpu '<Total>')
check_that "many: CPU time is there" "$got >= 150 * 0.005 && $got <= 1.005 * $want + 0.05" "$got of $want"

as_user timeout 300 "$collect" -F off -o off.er sh family.sh 2>/dev/null
until [ "$(grep -c '^cpu' spins)" = 8 ]; do sleep 0.05; done
got=$(metric off.er i.totalcpu beta)
check_that "-F off: no descendant is recorded" "$got == 0" "$got"

# A process for which nothing can be recorded. A script clears the list of libraries.
as_user timeout 300 "$collect" -o untold.er env -u LD_PRELOAD "$syn/spin" alpha:0.3 >untold.out 2>untold.err
check_that "CPU time of a program without the library is missing, and is said to be" \
	"$(grep -cE '0\.[0-9]+ of 0\.[0-9]+ seconds of CPU time are missing' untold.err) == 1" "$(cat untold.err)"

# refused WHAT ARGUMENTS…: one sentence that names the option and the remedy
refused()
{
	local what=$1
	shift
	rm -rf no.er
	as_user "$collect" -o no.er "$@" >no.out 2>no.err
	status=$?
	check_that "$what: refused with the remedy" \
		"$status == 1 && $(grep -c -- "$what: .*setcap" no.err) == 1 && $(wc -l <no.err) == 1" "$status; $(cat no.err)"
	check_that "$what: nothing is written" "$(ls -d no.er 2>/dev/null | wc -l) == 0"
}
refused "-H with -P" -H on -P $$
refused -s -s on true
refused --exact-user --exact-user true
refused -i -i on true
refused --probe --probe libc:malloc true
refused --span --span q=libc:malloc true

as_user "$collect" --check >check.out
check_that "--check says what is possible" \
	"$? == 0 && $(grep -c '^yes  clock profiles of programs that collect starts' check.out) == 1" "$(cat check.out)"
rm bin/er_clock.so
refused_library=$(as_user "$collect" -o no.er true 2>&1)
check_that "without the library: a sentence" \
	"$? == 1 && $(echo "$refused_library" | grep -c 'er_clock.so is missing.*install it again') == 1" "$refused_library"
