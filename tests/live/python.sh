#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Python functions in stacks. The program python_stacks.py knows its own calls, and the CPU time of
# each. All of it is spent in its function `spin`, so these stacks are compared: with its times, its
# callers and its line. What the interpreter does before is not. For each release that is here.
# Time limit: 600 s
. "$(dirname "$0")/../lib/live.sh"
. "$top/tests/lib/python.sh"

[ -n "$(pythons)" ] || skip_all "there is no Python whose functions are shown"
program=$top/tests/live/python_stacks.py
seconds=0.5

# seconds_in MODE REGEXP: CPU seconds of the stacks that match.
seconds_in()
{
	r=$2 perl -ne 'my ($stack, $us) = /^(.*) (\d+)$/; $sum += $us if $stack =~ /$ENV{r}/;
		END { printf "%.6f\n", $sum / 1e6 }' "$1.folded"
}

# chain NAME…: as a regular expression, the functions of python_stacks.py in this order, and nothing
# between them.
chain() { echo "$*" | sed 's/[^ ]*/python_stacks.py:&/g; s/ /;/g'; }

# The CPU time of each task, and of all.
check_times()
{
	local task leaf own got off all own_all=0
	for task in recurse sorted map sub generator hook except del async thread made; do
		leaf=$(chain leaf_$task)
		case $task in
		del) leaf=$(chain Deleted.__del__) ;;
		made) leaf='string:leaf_made_[0-4]' ;;
		esac
		own=$(truth record.out $task)
		own_all=$(awk "BEGIN { print $own_all + $own }")
		got=$(seconds_in user "$leaf;.*$(chain spin)")
		off=$(awk "BEGIN { d = $got - $own; print d < 0 ? -d : d }")
		check_that "$release: $task has its CPU time" \
			"$own > 0.9 * $seconds && $off < 0.02 * $own + 0.01 + $stolen" \
			"$got of $own seconds, stolen $stolen"
	done
	all=$(seconds_in user "$(chain spin)")
	check_that "$release: 99 % of the CPU time has Python functions" \
		"$all >= 0.99 * $own_all - $stolen" "$all of $own_all, stolen $stolen"
}

# complete NAME MODE REGEXP TASK: all stacks of a task match.
complete()
{
	local got own
	own=$(seconds_in $2 "$4")
	got=$(seconds_in "$2" "$3")
	check_that "$1" "$own > 0 && $got >= 0.99 * $own" "$got of $own seconds have $3:
$(grep "$4" "$2.folded" | head -n 3)"
}

check_chains()
{
	complete "$release: recursion has its depth" user \
		";$(chain main);(python_stacks.py:recurse;){50}$(chain timed leaf_recurse spin)" leaf_recurse
	complete "$release: a generator has its callers" user \
		";$(chain main task_generator middle_generator leaf_generator timed);" leaf_generator
	complete "$release: a coroutine has its callers" user \
		"events.py:Handle._run;.*$(chain middle_async leaf_async timed)" leaf_async
	complete "$release: a thread has its own functions only" user \
		"threading.py:Thread.run;$(chain leaf_thread timed)" leaf_thread
	complete "$release: a C extension has Python callers and callees" user \
		"json/__init__.py:loads;.*:JSONDecoder.raw_decode;[^;]*(_json|scan)[^;]*;.*$(chain leaf_hook timed)" \
		leaf_hook
	complete "$release: expert shows the interpreter between them" expert \
		"$(chain task_sorted);[^;]*_PyEval_EvalFrameDefault;.*;$(chain leaf_sorted)" leaf_sorted
	check_that "$release: machine shows no Python function" "$(grep -c '\.py:' machine.folded) == 0"
	check_that "$release: machine shows the interpreter" "$(grep -c _PyEval_EvalFrameDefault machine.folded) > 0"
	check_that "$release: user does not show the interpreter" \
		"$(grep 'python_stacks.py:main;' user.folded | grep -c _PyEval_EvalFrameDefault) == 0"
}

# check_release: of $python. The first process makes the interpreter's unwind table. It stays until the
# end, so that the table does. Other programs' stacks are left out: reading them takes long.
check_release()
{
	local mode
	stolen=$(steal)
	must_record $release.er -p high -q 0 -F =$release -- sh -c "$python -c 'import asyncio, json
while True: pass' & echo \$! >pid
		sleep 1; $python '$program' $seconds & echo \$! >own; wait \$!; kill \$(cat pid)"
	stolen=$(stolen_since "$stolen") # the samples of this time came later, perhaps in the next task
	for mode in user expert machine; do
		check "$release: exports with viewmode $mode" "$O/bin/er_export" --to folded --metric totalcpu \
			-filters "PID==$(cat own)" -viewmode $mode -o $mode.folded $release.er
	done
	# A task takes half a second: with more allowance these checks could not fail.
	if awk "BEGIN { exit !($stolen < 0.3) }"; then
		check_times
	else
		skip "$release: CPU times" "the hypervisor took the CPUs for $stolen s"
	fi
	check_chains
}

for python in $(pythons); do
	release=${python##*/}
	check_release
done

# What follows is of 3.11.
python=/usr/bin/python3.11
[ -x $python ] || exit 0

# Three threads compute, so that each waits for the other two to give the interpreter back. The lock has
# several words to wait for, but is one. The threads know how long they were without it.
cat >gil.py <<'END'
import threading, time

waited = []

def compute():
    begin, cpu = time.monotonic(), time.thread_time()
    while time.monotonic() - begin < 3:
        sum(i * i for i in range(1000))
    waited.append(time.monotonic() - begin - (time.thread_time() - cpu))

threads = [threading.Thread(target=compute) for _ in range(3)]
for t in threads:
    t.start()
for t in threads:
    t.join()
print("waited", sum(waited), sep="\t")
END
must_record gil.er -q 0 -- $python gil.py
"$er_print" -printmode , -comm python3.11 -limit 100 -locks gil.er 2>err | tr -d '"' |
	awk -F, '/PID.*GIL/ { n++; s += $1 } END { print "rows\t" n + 0 "\nwaited\t" s + 0 }' >gil
check_that "the interpreter's lock is one lock" "$(truth gil rows) == 1" "$("$er_print" -locks gil.er)"
check_that "threads that compute wait for the interpreter's lock, or for a CPU" \
	"$(truth gil waited) > 0 && $(truth gil waited) <= $(truth record.out waited) + 0.1" \
	"$(cat gil record.out)"
check_that "a finding names the lock" \
	"$("$er_print" -comm python3.11 -findings gil.er | grep -c "Python's interpreter lock (GIL)") == 1" "$("$er_print" -findings gil.er)"

# A release after the last known one: a program that has what an interpreter is recognized by.
cat >later.c <<'END'
#include <time.h>
long _PyRuntime[256] = { 1 }, PyCode_Type[64] = { 1 };
const unsigned long Py_Version = 0x030e02f0;
int main(void)
{
	while (clock() < CLOCKS_PER_SEC / 5)
		;
	return 0;
}
END
if cc -rdynamic -o python3.14 later.c 2>cc.err; then
	must_record later.er -q 0 -- ./python3.14
	check_that "a release that is not known is said by name" \
		"$("$er_print" -header full later.er | grep -c 'Python 3\.14 is not known: its functions are not in stacks') == 1" \
		"$("$er_print" -header full later.er)"
else
	skip "a release that is not known" "cc: $(head -n 1 cc.err)"
fi
