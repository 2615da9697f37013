#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Reasons, lock holders and wakers of waits. Each thread waits for one kind of thing
# (tests/synprog/states.c). Checks the packets and er_print.
# Time limit: 400 s
. "$(dirname "$0")/../lib/live.sh"
. "$top/tests/lib/cgroups.sh"

disk=$tmp
on_exit=clean_up
mount_own_disk && disk=$tmp/mnt
clean_up()
{
	unmount_own_disk
	[ ! -d "${group:-}" ] || rmdir "$group"
}

must_record r.er -p high -F on -q 0 -- "$syn/states" -d "$disk" sleep:2 futex:2 pipe:2 event:2 net:2 \
	epoll:2 timeout:2 mutex:2 flock:2 klock:2 child:2 stop:2 disk:2 fsync:2 dfault:2 tfault:2 runq:2 runq:2
grep '^thread' record.out >truths

# tid_of KIND, peer_of KIND: the thread of that kind and its peer, as reported by the workload.
tid_of() { awk -F'\t' -v k="$1" '$2 == k { print $4; exit }' truths; }
peer_of() { awk -F'\t' -v k="$1" '$2 == k { print $5; exit }' truths; }

# share PART WEIGHT CONDITION: among the waits for which CONDITION holds, the share of the weight
# for which PART holds, too; and the number of these waits. Remainders of totals are not waits.
share()
{
	query "sum(($2) * ($1)) sum($2) count() from packets where !ON_CPU && !REST && $3" r.er |
		awk '{ printf "%.4f %d\n", $2 ? $1 / $2 : 0, $3 }'
}

# reason_is KIND REASON…: nearly all of the time that the kind waited, except for a CPU, has the
# first reason or one of the others. The others are side effects, such as handing over a turn or
# dropping pages from memory.
reason_is()
{
	local kind=$1 name=$2 tid part got n r
	shift
	tid=$(tid_of $kind) part=0
	for r; do part="$part || REASON eq $r"; done
	read -r got n <<-END
	$(share "$part" NTICK "THRID == $tid && MSTATE ne WAIT_CPU")
	END
	# On a busy machine the recorder samples fewer waits, and the share means nothing.
	if [ "$n" -lt 10 ] && [ "$(query 'widest_ns from capture' r.er)" -ge 10000000 ]; then
		skip "$kind: the reason is $name" "only $n of its waits were recorded here"
		return
	fi
	check_that "$kind: the reason is $name" "$got >= 0.9" "$got of its time; reasons: $(reasons_of "$tid" r.er)"
}

# reasons_of TID EXPERIMENT: state, reason, flags and microseconds
reasons_of() { query "MSTATE REASON WFLAGS sum(NTICK) from packets where !ON_CPU && THRID == $1" "$2"; }

reason_is sleep TIMER
reason_is futex USER_LOCK
reason_is pipe PIPE
reason_is event EVENT
reason_is net NETWORK
reason_is epoll POLL
reason_is timeout POLL NETWORK
reason_is mutex USER_LOCK PIPE
reason_is flock FILE_LOCK PIPE
reason_is klock KERNEL_LOCK TIMER
reason_is child CHILD
reason_is stop STOPPED
reason_is disk DISK
reason_is fsync WRITEBACK DISK
reason_is dfault FAULT DISK WRITEBACK
reason_is tfault FAULT DISK WRITEBACK

# ended NAME PART KIND STATE: nearly all waits of that kind in that state satisfy PART. Waits are
# counted, because a signal may have ended a single one.
ended()
{
	local got=$(share "$2" 1 "THRID == $(tid_of $3) && MSTATE eq $4")

	check_that "$3: $1" "${got% *} >= 0.9" "$got of the waits; $(reasons_of "$(tid_of $3)" r.er)"
}

for kind in pipe event net epoll; do
	ended "its peer ended the waits" "WAKER == $(peer_of $kind)" $kind SLEEP
done
# Data sent over the loopback device arrives in a soft interrupt in the sender's thread.
ended "no interrupt did" "!WAKER_IRQ" net SLEEP
# A few may have no waker's stack: a busy host may queue the thread long after the wakeup.
for kind in sleep:SLEEP futex:USER_LOCK timeout:SLEEP; do
	ended "a timer ended the waits" "WAKER_IRQ && WAKER_TIMER" ${kind%:*} ${kind#*:}
done
"$er_print" -filters "REASON==POLL && TID==$(awk -F'\t' '$2 == "timeout" { print $4 }' truths)" -wakers r.er >wakers.out 2>&1
check_that "er_print shows that the timer ended them" \
	"$(grep -c '<timer> -> ' wakers.out) > 0" "$(head -n 20 wakers.out)"
ended "its peer held the lock" "HOLDER == $(peer_of mutex)" mutex USER_LOCK
ended "its peer let it go" "WAKER == $(peer_of mutex)" mutex USER_LOCK
ended "its peer let it go on" "WAKER == $(peer_of stop)" stop STOPPED

# Waits for a CPU name the thread that had it: the other one of the two that share a CPU.
read -r one two <<END
$(awk -F'\t' '$2 == "runq" { print $4 }' truths | tr '\n' ' ')
END
known=$(share "HOLDER != 0" 1 "THRID == $one && MSTATE eq WAIT_CPU")
other=$(share "HOLDER == $two" 1 "THRID == $one && MSTATE eq WAIT_CPU")
check_that "a wait for a CPU names the thread that had it" "${known% *} >= 0.9 && ${other% *} > 0" \
	"known $known, the other $other"

# er_print's sums for reasons are the same.
"$er_print" -printmode csv -metrics e.total:name -reasons r.er 2>/dev/null >reasons.csv
for kind in PIPE:pipe TIMER:timer CHILD:child; do
	want=$(query "sum(NTICK/1e6) from packets where REASON eq ${kind%:*}" r.er)
	check "er_print lists the reason ${kind#*:}" grep -qi "\\b${kind#*:}\\b" reasons.csv
	waits=$("$er_print" -printmode csv -filters "REASON==${kind%:*}" -metrics e.total:name -functions r.er 2>/dev/null |
		awk -F, '/<Total>/ { print $1; exit }')
	check_that "the filter REASON==${kind%:*} has the time of the reason" "(${waits:-0} - $want)^2 <= (0.0011 + 0.001 * $want)^2" \
		"got ${waits:-nothing}, packets $want"
done

# A cgroup that has used up its share of CPU time.
if cpu_group; then
	must_record t.er -p high -F on -q 0 -- sh -c "echo \$\$ >$group/cgroup.procs; exec \"\$syn/spin\" alpha:0.4"
	tid=$(pid_of record.out)
	got=$(query "sum(NTICK/1e6) from packets where THRID == $tid && MSTATE eq WAIT_CPU && REASON eq THROTTLED" t.er)
	# The group's own figure of the time for which it was held back, in ns or us.
	want=$(awk '$1 == "throttled_time" { print $2 / 1e9 } $1 == "throttled_usec" { print $2 / 1e6 }' "$group/cpu.stat")
	check_that "throttled: the reason is THROTTLED" "$want > 0.2 && $got >= 0.4 * $want" \
		"got $got s, the kernel held it back for $want s; $(cat "$group/cpu.stat"); $(reasons_of "$tid" t.er)"
	rmdir "$group"
else
	skip "throttled" "no cgroup with a CPU limit can be made here"
fi

# Memory is short: memory.high makes the group reclaim memory.
if memory_group; then
	must_record m.er -p high -F on -q 0 -t 5 -- timeout 4 sh -c \
		"echo \$\$ >$group/cgroup.procs; exec perl -e '\$x = qq(x) x 40000000; sleep 1'"
	check_that "memory.high: a thread waits for RECLAIM" \
		"$(query 'count() from packets where REASON eq RECLAIM' m.er) > 0"
	rmdir $group
else
	skip "reclaim" "no cgroup with a memory limit of the second version here"
fi
