#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Why each wait was, who held what was waited for, and who ended it: threads that
# wait for one kind of thing (tests/synprog/states.c) against the packets, and
# against er_print.
# Time limit: 400 s
. "$(dirname "$0")/../lib/live.sh"

disk=$tmp
on_exit=clean_up
if truncate -s 96M image && mkfs.ext4 -q image 2>/dev/null && mkdir mnt; then
	mount -o loop image mnt 2>/dev/null && disk=$tmp/mnt
fi
clean_up()
{
	cd / && { umount "$tmp/mnt" || umount -l "$tmp/mnt"; } 2>/dev/null
	[ -z "${group:-}" ] || rmdir "$group"
}

must_record r.er -p high -F on -q 0 -- "$syn/states" -d "$disk" sleep:2 futex:2 pipe:2 event:2 net:2 \
	epoll:2 timeout:2 mutex:2 flock:2 klock:2 child:2 stop:2 disk:2 fsync:2 dfault:2 tfault:2 runq:2 runq:2
grep '^thread' record.out >truths
packets_all r.er >packets

# Number of a reason by its name, as the sources have it.
reason() { sed -n '/^enum er_reason {/,/^};/p' "$top/analysis/experiment/packet.h" |
	grep -o 'REASON_[A-Z_]*' | awk -v n="REASON_$1" '$1 == n { print NR - 1; exit }'; }

# reason_is KIND REASON…: of the time off the CPU in the state of the kind (not
# waiting for a CPU, 8; not what is left of totals, 32), nearly all is for the first
# reason, or for one of the others, which have their part (handing on a turn, taking
# pages out of memory again).
reason_is()
{
	local kind=$1 name=$2 tid got r known=" "
	shift
	for r; do known="$known$(reason "$r") "; done
	tid=$(awk -F'\t' -v k="$kind" '$2 == k { print $4; exit }' truths)
	got=$(awk -v t="$tid" -v known="$known" '
		$1 > 44 && $5 == t && $6 > 2 && $6 != 8 && int($9 / 32) % 2 == 0 { n++; all += $7; if (index(known, " " $8 " ")) it += $7 }
		END { printf "%.4f %d", all ? it / all : 0, n }' packets)
	# A machine with much else to do: the recorder takes fewer, and the share says nothing.
	if [ "${got#* }" -lt 10 ] && grep -q 'widest_ns="[0-9]\{8,\}"' r.er/recorder.xml; then
		skip "$kind: the reason is $name" "only ${got#* } of its waits were recorded here"
		return
	fi
	got=${got% *}
	check_that "$kind: the reason is $name" "$got >= 0.9" "$got of its time; reasons: $(reasons_of "$tid")"
}

reasons_of() { awk -v t="$1" '$1 > 44 && $5 == t { us[$6 " " $8 " " $9] += $7 }
	END { for (k in us) print "state, reason, flags " k ": " us[k] " us" }' packets | sort; }

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

# who_is KIND COLUMN WHAT STATE: in waits in that state the thread in that column is
# the peer; by their number, for one that was woken by a signal or a timer has another.
who_is()
{
	local got
	got=$(awk -F'\t' -v k="$1" '$2 == k { print $4, $5; exit }' truths | {
		read -r tid peer
		awk -v t="$tid" -v p="$peer" -v col="$2" -v st="$4" '
			$1 > 44 && $5 == t && $6 == st && int($9 / 32) % 2 == 0 { n++; if ($col == p) it++ }
			END { printf "%.3f", n ? it / n : 0 }' packets
	})
	check_that "$1: $3" "$got >= 0.9" "$got of the waits; $(awk -F'\t' -v k="$1" '$2 == k' truths
		awk -v t="$(awk -F'\t' -v k="$1" '$2 == k { print $4; exit }' truths)" '$1 > 44 && $5 == t' packets | head)"
}

for kind in pipe event net epoll; do who_is $kind 12 "its peer ended the waits" 7; done
# What is sent over the loopback device arrives in a soft interrupt, of the sender's own.
got=$(awk -F'\t' '$2 == "net" { print $4; exit }' truths | {
	read -r tid
	awk -v t="$tid" '$1 > 44 && $5 == t && $6 == 7 && int($9 / 32) % 2 == 0 { n++; if (!(int($9 / 16) % 2)) it++ }
		END { printf "%.3f", n ? it / n : 0 }' packets
})
check_that "net: no interrupt did" "$got >= 0.9" "$got of the waits"
# An interrupt ended these, and it was a timer's: 16 and 128 of the flags. A few have no
# waker's stack: they were a moment longer than they seemed when they were ended.
for kind in sleep:7 futex:6 timeout:7; do
	got=$(awk -F'\t' -v k="${kind%:*}" '$2 == k { print $4; exit }' truths | {
		read -r tid
		awk -v t="$tid" -v st="${kind#*:}" '$1 > 44 && $5 == t && $6 == st && int($9 / 32) % 2 == 0 { n++; if (int($9 / 16) % 2 && int($9 / 128) % 2) it++ }
			END { printf "%.3f", n ? it / n : 0 }' packets
	})
	check_that "${kind%:*}: a timer ended the waits" "$got >= 0.9" "$got of the waits; $(reasons_of "$(awk -F'\t' -v k="${kind%:*}" '$2 == k { print $4; exit }' truths)")"
done
"$er_print" -filters "REASON==POLL && LWPID==$(awk -F'\t' '$2 == "timeout" { print $4 }' truths)" -wakers r.er >wakers.out 2>&1
check_that "er_print shows the timer as who ended them" \
	"$(grep -c '<timer> -> ' wakers.out) > 0" "$(head -n 20 wakers.out)"
who_is mutex 11 "its peer held the lock" 6
who_is mutex 12 "its peer let it go" 6
who_is stop 12 "its peer let it go on" 9

# Waits for a CPU name who had it: of the two that share one, the other.
read -r one two <<END
$(awk -F'\t' '$2 == "runq" { print $4 }' truths | tr '\n' ' ')
END
cpu=$(awk -v a="$one" -v b="$two" '$1 > 44 && $5 == a && $6 == 8 && int($9 / 32) % 2 == 0 {
	n++; if ($11 == b) other++; if ($11) known++ }
	END { printf "%.3f %.3f", n ? known / n : 0, n ? other / n : 0 }' packets)
check_that "a wait for a CPU names who had it" "${cpu% *} >= 0.9 && ${cpu#* } > 0" "known, the other: $cpu"

# What er_print says of reasons are the same sums.
"$er_print" -printmode csv -metrics e.total:name -reasons r.er 2>/dev/null >reasons.csv
for kind in PIPE:pipe TIMER:timer CHILD:child; do
	want=$(awk -v r="$(reason "${kind%:*}")" '$1 > 44 && $8 == r { s += $7 } END { printf "%.3f", s / 1e6 }' packets)
	check "er_print lists the reason ${kind#*:}" grep -qi "\\b${kind#*:}\\b" reasons.csv
	waits=$("$er_print" -printmode csv -filters "REASON==${kind%:*}" -metrics e.total:name -functions r.er 2>/dev/null |
		awk -F, '/<Total>/ { print $1; exit }')
	check_that "and the filter REASON==${kind%:*} has its time" "(${waits:-0} - $want)^2 <= (0.0011 + 0.001 * $want)^2" \
		"got ${waits:-nothing}, packets $want"
done

# A cgroup that has used up its share of CPU. Both hierarchies, whichever is there.
limit_cpu()
{
	if grep -qw cpu /sys/fs/cgroup/cgroup.controllers 2>/dev/null; then
		echo +cpu >/sys/fs/cgroup/cgroup.subtree_control 2>/dev/null
		group=/sys/fs/cgroup/er-test-$$
		mkdir "$group" 2>/dev/null && echo "20000 100000" >"$group/cpu.max"
	elif [ -d /sys/fs/cgroup/cpu ]; then
		group=/sys/fs/cgroup/cpu/er-test-$$
		mkdir "$group" 2>/dev/null && echo 100000 >"$group/cpu.cfs_period_us" &&
			echo 20000 >"$group/cpu.cfs_quota_us"
	else
		false
	fi
}
if limit_cpu 2>/dev/null; then
	must_record t.er -p high -F on -q 0 -- sh -c "echo \$\$ >$group/cgroup.procs; exec \"\$syn/spin\" alpha:0.4"
	tid=$(pid_of record.out)
	packets_all t.er >packets
	got=$(awk -v t="$tid" -v r="$(reason THROTTLED)" '$1 > 44 && $5 == t && $6 == 8 && $8 == r { it += $7 }
		END { printf "%.3f", it / 1e6 }' packets)
	# The group's own figure: while it held the CPU back, in ns or us.
	want=$(awk '$1 == "throttled_time" { print $2 / 1e9 } $1 == "throttled_usec" { print $2 / 1e6 }' "$group/cpu.stat")
	check_that "throttled: the reason is THROTTLED" "$want > 0.2 && $got >= 0.4 * $want" \
		"got $got s, the kernel held it back for $want s; $(cat "$group/cpu.stat"); $(reasons_of "$tid")"
else
	skip "throttled" "no cgroup with a CPU limit can be made here"
fi

# Memory is short: memory.high holds a group back in reclaim.
memory=/sys/fs/cgroup/er-mem-$$
if grep -qw memory /sys/fs/cgroup/cgroup.controllers 2>/dev/null &&
	{ echo +memory >/sys/fs/cgroup/cgroup.subtree_control; mkdir $memory; echo 8M >$memory/memory.high; } 2>/dev/null; then
	must_record m.er -p high -F on -q 0 -t 5 -- timeout 4 sh -c \
		"echo \$\$ >$memory/cgroup.procs; exec perl -e '\$x = qq(x) x 40000000; sleep 1'"
	packets_all m.er >packets
	check_that "memory.high: somebody waits for RECLAIM" \
		"$(awk -v r="$(reason RECLAIM)" '$8 == r' packets | wc -l) > 0"
	rmdir $memory
else
	skip "reclaim" "no cgroup with a memory limit of the second version here"
fi
