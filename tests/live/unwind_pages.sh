#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# User stacks whose pages are not in memory when they are walked: the thread walks again before it returns
# to user mode. Pages that another program has to bring are not asked for.
. "$(dirname "$0")/../lib/live.sh"
. "$top/tests/lib/oracle.sh"

# held EXPERIMENT ATTRIBUTE: of the stacks that were held for a second walk.
held() { sed -n "s/.*<unread .*$2=\"\([0-9]*\)\".*/\1/p" "$1/recorder.xml"; }

must_record alone.er -F '=^paged$' -p high -q 0 -- "$syn/paged" 0.3
if ! grep -qw bpf_task_work_schedule_resume_impl /proc/kallsyms; then
	check_that "without second walks none is held" "$(held alone.er held) == 0"
	skip "stacks with missing pages" "this kernel cannot call a thread back (Linux 6.18)"
	finish
	exit
fi
must_record pages.er -F '=^paged$' -p high -q 0 -- "$syn/paged" 2
n=$(held pages.er again)
# A call may come when the thread has gone on already, if the machine is busy.
check_that "threads walk again" "$n >= 100 && $n >= 0.5 * $(held pages.er held)" "$(grep '<unread' pages.er/recorder.xml)"
check_that "and find complete stacks" "$(held pages.er complete) >= 0.9 * $n" "$(grep '<unread' pages.er/recorder.xml)"
set -- $(complete_of pages.er paged cpu) 0
check_that "most stacks are complete" "$1 >= 50" "$1 %: $("$er_print" -header 1 pages.er | grep -A6 'User stacks')"
sub=$(echo pages.er/_paged_PID_*.er)
all=$(seconds_of '<Total>' i.user "$sub") main=$(seconds_of enter i.user "$sub") deep=$(seconds_of deep i.user "$sub")
check_that "their time is under the function that calls the others" "$main >= 0.5 * $all && $all > 0.2 && $deep <= $all" \
	"$main of $all, $deep"
check_that "no stack is said to have failed" "$(sed -n 's/.*<stacks .*user_failed="\([0-9]*\)".*/\1/p' pages.er/recorder.xml) == 0"

# A timer interrupts the thread, with pages missing, and wakes another one. For the stack of a waker no second
# walk is asked: it is that of the interrupt, and not the one that woke somebody before.
cat >ticks.sh <<'END'
cpu=$(taskset -pc $$ | sed 's/.*[ ,-]//')
taskset -c $cpu "$syn/paged" 2 >/dev/null &
taskset -c $cpu perl -e 'open F, ">pid"; print F $$; close F; for (1 .. 1000) { select undef, undef, undef, 0.001; syswrite STDOUT, "x" }' |
	taskset -c $cpu perl -e '1 while sysread STDIN, $_, 1'
wait
END
must_record ticks.er -q 0 -s all sh ticks.sh
n=$(query "count() from packets where LWPID == $(cat pid) && REASON eq POLL" ticks.er)
timer=$(query "count() from packets where LWPID == $(cat pid) && REASON eq POLL && WAKER_TIMER" ticks.er)
check_that "a waker's stack is its own" "$n >= 900 && $timer >= 0.95 * $n" "a timer woke $timer of $n times"

# A thread that sleeps in a system call would keep its place for as long.
must_record sleep.er -F '=^paged$' -p high -s all -q 0 -- "$syn/paged" 1 sleep
set -- $(complete_of sleep.er paged waits) 100
check_that "stacks of waits in system calls stay as they are" "$1 < 80 && $(held sleep.er held) < 200" \
	"$1 %, $(grep '<unread' sleep.er/recorder.xml)"

# A thread that would have to wait for another program is left alone.
"$syn/paged" 0.1 uffd >out 2>err
if [ $? = 0 ]; then
	must_record uffd.er -F '=^paged$' -p high -q 0 -- "$syn/paged" 1 uffd
	set -- $(complete_of uffd.er paged cpu) 100
	check_that "pages of a userfaultfd are not fetched" "$1 < 50 && $(held uffd.er again) >= 50" \
		"$1 %, $(grep '<unread' uffd.er/recorder.xml)"
else
	skip "userfaultfd" "$(cat err)"
fi
