#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# A thread gets another name, by its own call or by executing a program. Its time belongs to the
# name that it had then, in filters and in lists. Rows of threads show the last name.
. "$(dirname "$0")/../lib/live.sh"

# The CPU seconds that pass FILTER in EXPERIMENT
cpu_of()
{
	"$er_print" -printmode , -filters "$1" -metrics e.user:e.kcpu:name -functions "$2" \
		2>/dev/null | total_cpu
}

# near GOT WANT ROOM
near() { echo "($1 - $2)^2 <= ($2 * 0.02 + $3)^2"; }

# The time between the last sample before a change of names and the change counts for the later
# name. largest_sample EXPERIMENT PID: the most that this can be, in seconds.
largest_sample() { query "max(NTICK/1e6) from packets where ON_CPU && THRID == $2" "$1"; }

# by_name EXPERIMENT WHAT
by_name()
{
	for name in early later; do
		got=$(cpu_of "COMM==\"$name\"" "$1")
		check_that "$2: CPU time as $name" \
			"$(near "${got:-0}" "$(truth out $name)" "$(largest_sample "$1" "$(pid_of out)")")" \
			"${got:-none}, it says $(truth out $name); samples to $(largest_sample "$1" "$(pid_of out)") s"
	done
}

must_record own.er -p high -F =renames -- "$syn/renames" early later 0.4
cp record.out out
by_name own.er "followed"
# Sleep that the kernel's figures, which the program uses, take for waiting for a CPU. And the
# distance of the sample points of waits: up to that much of a wait can count with the next one.
moved=$(query "sum(moved/1e9) from thread where tid == $(pid_of out)" own.er)
distance=$(query 'widest_ns/1e9 from capture' own.er)
for name in early later; do
	got=$("$er_print" -printmode , -filters "COMM==\"$name\"" -metrics e.sleep:name -functions own.er \
		2>/dev/null | csv_rows | awk -F'\t' '$2 == "<Total>" { print $1 }')
	check_that "followed: sleep as $name" \
		"$(near "${got:-0}" "$(truth out $name-slept)" "(0.001 + $moved + $distance)")" \
		"${got:-none}, it says $(truth out $name-slept), moved $moved, distance $distance"
done
pid=$(truth out pid)
"$er_print" -threads own.er >threads
check_that "rows of threads show the last name" \
	"$(grep -c "PID ${pid%.*},.*(later)" threads) == 1 && $(grep -c "(early)" threads) == 0" \
	"$(grep "PID ${pid%.*}," threads)"
"$er_print" -printmode , -metrics e.user:e.kcpu:name -comms own.er >comms 2>/dev/null
check_that "the list of names has the first and the last name" "$(grep -cE '"(early|later)"$' comms) == 2" "$(cat comms)"
check "gprofng opens an experiment with renamed threads" opens_in_gprofng own.er

must_record off.er -p high -F off --states off -- "$syn/renames" early later 0.4
cp record.out out
by_name off.er "not followed, no states"

# The recording ends before the first program of the process is forgotten. The first program's name
# sorts after the second's, so that the directory's order cannot hide an error.
cp "$syn/spin" a_spin
must_record last.er -p high -- sh -c "i=0; while [ \$i -lt 500000 ]; do i=\$((i + 1)); done; exec ./a_spin alpha:0.3"
"$er_print" -processes last.er >list 2>&1
check_that "a process has the name of its last program" \
	"$(programs_in last.er | grep -c 'command="sh -c i=0') > 0 && $(grep -c ' a_spin, PID' list) == 1" "$(cat list)"

# A child of sh has the name sh until its exec. It has little CPU time before that; the rest belongs
# to the program. The program's name is unique to this test, because another checkout may run its
# tests at the same time.
spin=spin$$
cp "$syn/spin" "$spin"
must_record exec.er -p high -F "=$spin" -- sh -c "./$spin alpha:0.8; :"
cp record.out out
got=$(cpu_of "COMM==\"$spin\"" exec.er)
check_that "a program's time is under its name" \
	"$(near "${got:-0}" "$(truth out cpu)" "$(largest_sample exec.er "$(pid_of out)")")" \
	"${got:-none}, it says $(truth out cpu)"
