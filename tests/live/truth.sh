#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Recordings of programs that report how much CPU time each function burned, in user mode and in the
# kernel.
. "$(dirname "$0")/../lib/live.sh"

# function_is NAME TRUTH-NAME METRIC INTERVAL EXPERIMENT: within 2 % or three samples, and what lies
# between two samples where the function begins and where it ends.
function_is()
{
	local want got between
	want=$(truth out "$2")
	got=$(seconds_of "$1" "$3" "$5")
	between=$(longest "$5")
	check_that "$1 $3 is $want" "($got - $want)^2 <= ($want * 0.02 + 2 * ${between:-0})^2 ||
		($got - $want)^2 <= (3 * $4)^2" "got $got, of $5; ${between:-0} between samples"
}

# sum_is EXPERIMENT: the process's whole CPU time, within 0.5 % of getrusage.
sum_is()
{
	local want got
	want=$(truth out cpu)
	got=$("$er_print" -printmode , -filters "$(pid_filter)" -metrics e.user:e.kcpu:name \
		-functions "$1" 2>/dev/null | total_cpu)
	check_that "sum of $1 is getrusage's $want" "($got - $want)^2 <= ($want * 0.005)^2" "got $got"
}

spin_at()
{
	must_record "$1.er" -F on -p "$1" -- "$syn/spin" -t 2 'outer>alpha:1.2' beta:0.8 'inner>gamma_:0.4'
	cp record.out out
	pids=$(pid_of out)
	for f in alpha beta gamma_ outer inner; do
		function_is $f $f i.totalcpu "$2" "$1.er"
	done
	sum_is "$1.er"
}

spin_at high 0.000997
check_that "what computes is user time" "$(seconds_of alpha i.user high.er) > 0.9 * $(truth out alpha)"
spin_at on 0.010007

must_record sys.er -F on -p high -- "$syn/sysload" zero:1 ppid:1 null:0.5 map:0.5
cp record.out out
pids=$(pid_of out)
for kind in zero ppid null map; do
	function_is load_$kind $kind i.totalcpu 0.000997 sys.er
done
# Entry and return of the system call are user time where a hypervisor does them: getrusage has up to 4 % of it, too.
check_that "reading /dev/zero is system time" \
	"$(seconds_of load_zero i.system sys.er) > 0.93 * $(truth out zero)" \
	"$(seconds_of load_zero i.system sys.er)"
check_that "reading /dev/zero is KCPU" "$(seconds_of load_zero i.kcpu sys.er) > 0.93 * $(truth out zero)" \
	"$(seconds_of load_zero i.kcpu sys.er)"
check_that "getppid spends time on both sides" "$(seconds_of load_ppid i.system sys.er) > 0.1 &&
	$(seconds_of load_ppid i.user sys.er) > 0.005"

must_record off.er -F off -p high -- "$syn/spin" alpha:1
cp record.out out
pids=
name="<spin_PID_$(pid_of out)>"
got=$(seconds_of "$name" e.user off.er)
# Interrupts and page faults in the program's time are system time: 2 % on a busy machine.
read -r user system <<END
$("$er_print" -printmode , -filters "LWPID==$(pid_of out)" -metrics e.user:e.system:name -functions \
	off.er 2>/dev/null | sed -n 's/^"\([0-9.]*\)","\([0-9.]*\)","<Total>"$/\1 \2/p')
END
want=$(truth out cpu)
check_that "not followed: all user time is $name" "$got > 0.99 * ${user:-999} && $got <= ${user:-0} && $got > 0.9 * $want" \
	"got $got of $user user time"
check_that "not followed: user and system time are the program's CPU time" \
	"(${user:-0} + ${system:-0} - $want)^2 < (0.01 * $want)^2" "$user + $system of $want"

must_record off2.er -F off -p high -- "$syn/sysload" zero:1
cp record.out out
got=$("$er_print" -printmode , -filters "LWPID==$(pid_of out)" -metrics e.system:name -functions \
	off2.er 2>/dev/null | csv_rows | awk -F'\t' '$2 == "<Total>" { print $1; exit }')
want=$(truth out zero)
check_that "not followed: kernel time is system time" "$got > 0.95 * $want && $got < 1.1 * $want" \
	"got $got of $want"
