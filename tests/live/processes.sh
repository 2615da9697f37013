#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Several processes, forks and execs; followed processes (-F); no tick is recorded twice.
. "$(dirname "$0")/../lib/live.sh"

near() { check_that "$1" "($2 - $3)^2 <= (0.02 * $3 + 0.003)^2" "got $2, truth $3"; }

load='"$syn/spin" alpha:0.8 >one & "$syn/spin" beta:0.6 >two & "$syn/forktree" 1 1 0.7 >tree; wait'

must_record on.er -F on -p high -- sh -c "$load"
pids="$(pid_of one) $(pid_of two) $(awk -F'[:\t]' '/^(parent|child|exec):/ { print $2 }' tree | tr '\n' ' ')"
near "first process" "$(seconds_of alpha i.totalcpu on.er)" "$(truth one alpha)"
near "second process" "$(seconds_of beta i.totalcpu on.er)" "$(truth two beta)"
for who in parent child exec; do
	want=$(awk -F'[:\t]' -v w=$who '$1 == w { s += $3 } END { print s }' tree)
	near "the $who of a fork" "$(seconds_of ${who}_work i.totalcpu on.er)" "$want"
done
for who in parent child exec; do
	pid=$(awk -F'[:\t]' -v w=$who '$1 == w { print $2; exit }' tree)
	check_that "the $who is in the table" "$(programs_in on.er | grep -c "^<process pid=\"$pid\" ") >= 1"
	check "the $who shares an experiment" test "$(experiment_of "$pid" on.er)" = _forktree.1.er
	check "the $who has a row" sh -c "\"$er_print\" -processes on.er | grep -q ', PID $pid$'"
done
check_that "the time of a process is its own" "$("$er_print" -printmode , -filters \
	"PID==$(pid_of one)" -metrics e.user:name -functions on.er 2>/dev/null | csv_rows |
	awk -F'\t' '$2 == "alpha" { a = $1 } $2 == "beta" { b = $1 } END { print (a > 0.5) - b }') == 1"
check "gprofng opens an experiment with followed processes" opens_in_gprofng on.er

pids=

# Every tick has a CPU and a number. Each such pair occurs once in all experiments, or in both modes of a thread without
# a sample. A packet of another CPU than its record's has no number.
doubled=$(query 'count() from packets where ON_CPU && SEQ != 4294967295 by CPUID SEQ MSTATE' on.er | grep -cvx 1)
check_that "no tick is recorded twice" "$doubled == 0" "$doubled are"

# Each lives for a millisecond or two; /proc has its command line no longer when its first record is read. Where it
# lives for less, some have no record, and are in no table.
must_record short.er -F on -p high -- sh -c 'for i in $(seq 100); do /bin/true argument $i; done'
check_that "short-lived processes have their command lines" \
	"$(programs_in short.er | grep -c ' comm="true"') >= 20 && $(programs_in short.er | grep ' comm="true"' |
		grep -vc ' command="/bin/true argument [0-9]*"') == 0" "$(programs_in short.er)"

must_record all.er -F all -p high -- sh -c "$load"
for who in parent child exec; do
	pid=$(awk -F'[:\t]' -v w=$who '$1 == w { print $2; exit }' tree)
	check "-F all: the $who has its own experiment" sh -c "ls -d all.er/_*_PID_$pid.*er"
done

must_record off.er -F off -p high -- sh -c "$load"
check "-F off follows no process" sh -c '! ls -d off.er/_*.er 2>/dev/null | grep -v /_others_PID_0'

must_record some.er '-F' '=spin' -p high -- sh -c "$load"
for f in one two; do
	check "-F =regexp follows $f" sh -c "ls -d some.er/_spin_PID_$(pid_of $f).*er"
done
check "-F =regexp follows no other process" sh -c '! ls -d some.er/_*.er | grep -vE "/_(spin|others)_"'
want=$(awk -F'[:\t]' '/^(parent|child|exec):/ { s += $3 } END { print s }' tree)
check_that "-F =regexp: other processes are in the founder" \
	"$(function_seconds e.user some.er | awk -F'\t' '$2 ~ /^<forktree_PID_/ { s += $1 }
		END { print s + 0 }') > 0.7 * $want"
