#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# A uretprobe replaces return addresses on the stack with the address of the kernel's trampoline.
# Stacks through probed functions must still be complete and have the true callers. Checked on CPUs,
# and for a thread that sleeps when the recording ends, whose stack is copied.
. "$(dirname "$0")/../lib/tracefs.sh"
. "$(dirname "$0")/../lib/live.sh"

[ -w $tracing/uprobe_events ] || skip_all "no uprobes here"
readelf -lW "$syn/spin" | awk '$1 == "LOAD" && /E/ && $2 != $3 { exit 1 }' ||
	skip_all "the file offsets of functions are not their addresses"

group=er_test_$$
probe_off()
{
	for function in main inner outer alpha; do
		[ -d $tracing/events/$group/$function ] || continue
		echo 0 >$tracing/events/$group/$function/enable
		echo "-:$group/$function" >>$tracing/uprobe_events
	done
}
on_exit=probe_off

for function in main inner outer alpha; do
	at=$(nm "$syn/spin" | awk -v f=$function '$3 == f { print $1 }')
	echo "r:$group/$function $syn/spin:0x$at" >>$tracing/uprobe_events 2>err &&
		echo 1 >$tracing/events/$group/$function/enable 2>err ||
		skip_all "cannot set a uretprobe: $(cat err)"
done

must_record probed.er -F '=^spin$' -p high -q 0 -- "$syn/spin" 'outer>alpha:1'
hits=$(awk -v f="$syn/spin" '$1 == f && $2 == "alpha" { print $3 }' $tracing/uprobe_profile)
check_that "uretprobes: the probe is hit" "${hits:-0} >= 1" "$(cat $tracing/uprobe_profile)"
# Another program named spin may run at the same time.
pids=$(truth record.out pid | cut -d. -f1)
all=$(seconds_of '<Total>' i.user probed.er)
failed=$(seconds_of '<Stack-unwind-failed>' i.user probed.er)
late=$(late_of probed.er spin)
in_time uretprobes probed.er spin
check_that "uretprobes: stacks on CPUs are complete" "$failed - $late <= 0.01 * $all && $all > 0.5" \
	"$failed of $all, before the table $late: $pids"
all=$(awk "BEGIN { print $(seconds_of alpha e.user probed.er) - $late }")
for function in inner outer main __libc_start_call_main; do
	got=$(seconds_of $function i.user probed.er)
	check_that "$function has its callee's time" "$got >= 0.99 * $all && $all > 0.5" "$got of $all"
done
check_that "no frame is in the trampoline" "$(seconds_of '[uprobes]' i.user probed.er) == 0" \
	"$("$er_print" -metrics i.user:name -functions probed.er)"

# The thread is inside the probed functions when the recording ends.
must_record asleep.er -F on -q 0 -- sh -c '"$syn/spin" "outer>alpha:9" >spin.out &
	sleep 0.5; kill -STOP $!; echo $! >pid; sleep 0.8'
pids=$(cat pid)
kill -KILL "$pids"
all=$(seconds_of '<Total>' i.stop asleep.er)
for function in outer __libc_start_call_main; do
	got=$(seconds_of $function i.stop asleep.er)
	check_that "stopped: $function has all its time" "$got >= 0.99 * $all && $all > 0.3" "$got of $all"
done
