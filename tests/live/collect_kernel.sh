#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# er_kernel collect PROGRAM: both experiments opened together have one clock, no tick counts twice, and
# calls go from the program's main to the kernel's functions in one tree.
. "$(dirname "$0")/../lib/live.sh"

timeout 300 "$er_kernel" -p high -q 0 -o k.er "$O/bin/collect" -p high -o t.er \
	"$syn/forktree" 2 1 0.3 >tree.out 2>err
check_that "both record" "$? == 0 && $(ls -d k.er t.er 2>/dev/null | wc -l) == 2" "$(cat err)"

# cpu OPTIONS… : all CPU time
cpu()
{
	"$er_print" -printmode , -metrics e.totalcpu:name "$@" 2>cpu.err | csv_rows |
		awk -F'\t' '$2 == "<Total>" { print $1; exit }'
}
program=$(cpu -functions t.er)
kernel=$(cpu -functions k.er)
once=$(cpu -functions k.er t.er)
check_that "er_print says what is in both" "$(grep -c 'TWICE==0' cpu.err) == 1" "$(cat cpu.err)"
both=$(cpu -filters 'TWICE>=0' -functions k.er t.er)
alone=$(cpu -filters 'TWICE==0' -functions k.er)
check_that "a recording alone has nothing twice" "$alone == $kernel" "$alone, $kernel"
check_that "a filter on TWICE counts the program in both" "$program > 1 && ($both - $kernel - $program)^2 < 0.003^2" \
	"$both = $kernel + $program"
# er_kernel also has the program's start, before collect began.
check_that "together they count it once" "($once - $kernel)^2 < (0.01 * $program + 0.02)^2" \
	"$once, the whole system $kernel, the program $program"

# Time on a CPU is in the kernel or outside, whichever recording has it.
once_in_kernel=$("$er_print" -printmode , -metrics e.user:e.kcpu:e.cpu:name -functions k.er t.er 2>/dev/null |
	sed 's/"//g' | awk -F, '$NF == "<Total>" { print $1 + $2 - $3, $2; exit }')
set -- $once_in_kernel
check_that "user and kernel CPU time are all CPU time" "${2:-0} > 0 && (${1:-9})^2 < 0.003^2" "$once_in_kernel"
kernel_read=$("$er_print" -printmode , -filters 'MSTATE==1' -metrics e.kcpu:e.system:name -functions k.er t.er 2>/dev/null |
	sed 's/"//g' | awk -F, '$NF == "<Total>" { print $1, $2; exit }')
set -- $kernel_read
check_that "a program's system time is kernel time" "${1:-0} > 0 && ${1:-0} == ${2:-9}" "$kernel_read"

# Two clocks sample the same function, so they agree except for a few ticks.
in_kernel=$(seconds_of parent_work i.user k.er)
in_program=$(seconds_of parent_work i.user t.er)
check_that "the function has its time in both" \
	"$in_kernel > 0.25 && ($in_kernel - $in_program)^2 < 0.05^2" "$in_kernel, $in_program"

# A client asks another process by pipes: it waits in read(2), below main.
timeout 300 "$er_kernel" -p high -q 0 -o kc.er "$O/bin/collect" -p high -o tc.er "$syn/chain" 1 >chain.out 2>err
check_that "both record waits" "$? == 0 && $(ls -d kc.er tc.er 2>/dev/null | wc -l) == 2" "$(cat err)"
client=$(truth chain.out client)
waited=$(truth chain.out waited)

# tree_seconds OPTIONS…: seconds below main, read, the kernel's read and the scheduler, in this order, and
# how many places of the tree these are.
tree_seconds()
{
	"$er_print" -limit 0 "$@" -metrics i.total:name -calltree kc.er tc.er 2>/dev/null | awk '
	{ at = index($0, "+-") }
	at {
		path[at] = substr($0, at + 2)
		line = ""
		for (i = 1; i <= at; i++)
			if (i in path)
				line = line ">" path[i]
		for (i in path)
			if (i > at)
				delete path[i]
		if (line ~ />main>(.*>)?receive>.*read>.*`ksys_read>.*`vfs_read>.*pipe_read>.*`schedule$/) {
			sum += $1
			n++
		}
	}
	END { printf "%.3f %d\n", sum, n }'
}
set -- $(tree_seconds -filters "PID==${client%.*}")
# The client may also wait for a CPU elsewhere before it has its answer.
check_that "one tree goes from main through the call to what it waits for" \
	"$2 == 1 && $1 > 0.4 * $waited && $1 < 1.1 * $waited + 0.05" "$1 s at $2 places; it waited $waited s"

# A filter applies to both: what it leaves of the program is in neither recording twice, nor missing.
half=$(query 'tstamp from event where kind eq "run"' tc.er | tail -n 1 |
	awk '{ split($1, t, "."); printf "%d%s\n", t[1], t[2] }')
half=$((half + 500000000))
for filter in "ATSTAMP>=$half" 'FNAME("compute") IN STACK'; do
	kernel=$(cpu -filters "$filter" -functions kc.er)
	program=$(cpu -filters "$filter" -functions tc.er)
	once=$(cpu -filters "$filter" -functions kc.er tc.er)
	check_that "$filter: together they count it once" \
		"$program > 0.02 && ($once - $kernel)^2 < (0.01 + 0.02 * $program)^2" \
		"$once, the whole system $kernel, the program $program"
done
before=$(cpu -filters "ATSTAMP<$half" -functions kc.er tc.er)
after=$(cpu -filters "ATSTAMP>=$half" -functions kc.er tc.er)
together=$(cpu -functions kc.er tc.er)
check_that "both halves of the time add up" "$before > 0 && $after > 0 &&
	($before + $after - $together)^2 < 0.003^2" "$before, $after, $together"
all=$(cpu -functions tc.er)
columns=$("$er_print" -compare on -printmode , -metrics e.totalcpu:name -functions kc.er tc.er 2>/dev/null |
	sed 's/"//g' | awk -F, '$NF == "<Total>" { print ($1 > $2), $2; exit }')
set -- $columns
check_that "a comparison shows both in full" "${1:-0} == 1 && (${2:-0} - $all)^2 < 0.003^2" "$columns, $all"
