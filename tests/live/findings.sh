#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# findings: each rule finds its trouble in a load that has it, and only that. Loads run with real-time
# priority where they can, so that other programs on the machine cannot take their CPU. They use
# little CPU time, because the kernel holds real-time threads back that use a whole second.
# Time limit: 400 s
. "$(dirname "$0")/../lib/live.sh"
. "$top/tests/lib/cgroups.sh"

chrt -f 30 true 2>/dev/null || skip_all "real-time priority is not permitted here"
disk=
on_exit=clean_up
mount_own_disk && disk=$tmp/mnt
clean_up()
{
	unmount_own_disk
	[ ! -d "${group:-}" ] || rmdir "$group"
}

# findings EXPERIMENT ARGUMENTS…: write "rule<TAB>seconds<TAB>error<TAB>sentence" to `got`
findings()
{
	"$er_print" -printmode '|' "$@" -findings 2>err |
		awk -F'"[|]"' 'NR > 4 { sub(/^"/, "", $1); sub(/"$/, "", $6); print $3 "\t" $1 "\t" $2 "\t" $6 }' >got
}

# noise: the seconds for which the threads of `states` waited for a CPU, by the kernel's own figure
noise() { awk -F'\t' '$1 == "thread" { s += $NF } END { print s + 0 }' record.out; }

# record_load EXPERIMENT ARGUMENTS…: must_record; sets $stolen, what the hypervisor took meanwhile
record_load()
{
	local before=$(steal)

	must_record "$@"
	stolen=$(stolen_since "$before")
}

# others RULE: findings beside this one and the CPU time. A thread that waits for the one that waits for
# the lock has a finding of its own, which is right. On a busy machine threads wait for a CPU
# even with real-time priority; then this finding is right, and its time is the kernel's. On a busy
# host the hypervisor takes time, at most what it took from the whole machine. The kernel counts
# that in ticks.
others()
{
	awk -F'\t' -v r="$1" -v noise="$(noise)" -v stolen="$stolen" '
		$1 == r || $1 == "computing" { next }
		r == "lock" && $1 == "chain" && $4 ~ /, which waited for a lock\./ { next }
		$1 == "cpu" && noise > 0.05 && ($2 - noise) ^ 2 < (0.02 + 0.1 * noise) ^ 2 { next }
		$1 == "stolen" && $2 <= stolen + 0.05 { next }
		{ print }' got
}

# disk_is_slow: whether the threads waited a quarter of their time or more, by their own report
disk_is_slow() { awk -F'\t' '$1 == "thread" { exit !($6 >= $7 / 4) }' record.out; }

# finds RULE PATTERN ARGUMENTS…: the rule speaks, its sentence matches, and no other rule speaks
# except that on CPU time
finds()
{
	local rule=$1 pattern=$2 others

	shift 2
	findings "$@"
	if awk -F'\t' -v r="$rule" '$1 == r { print $4 }' got | grep -qE -- "$pattern"; then
		ok "$rule: is found"
	else
		not_ok "$rule: is found" "$(cat got err)"
	fi
	others=$(others "$rule")
	if [ -z "$others" ]; then ok "$rule is the only finding"; else not_ok "$rule is the only finding" "$others"; fi
}

# seconds_found RULE: the figure of its finding
seconds_found() { awk -F'\t' -v r="$1" '$1 == r { print $2; n++ } END { if (!n) print 0 }' got; }

# states KIND: record threads of that kind. $threads selects them, without the program's start.
states()
{
	record_load "$1.er" -p high -F on -q 0 -- chrt -f 30 "$syn/states" -d "${disk:-$tmp}" "$1:2"
	threads="TID IN ($(awk -F'\t' '$1 == "thread" { print $4; if ($5) print $5 }' record.out | paste -sd,))"
}

# must KIND: the time that the threads waited, by their own report
must() { awk -F'\t' -v k="$1" '$2 == k { s += $6 } END { print s }' record.out; }

states mutex
finds lock 'were for (a lock|several locks|the lock .*,) taken in wait_mutex; `states \(mutex-peer\)` had (it|them)' -filters "$threads" mutex.er
check_that "lock: the finding's time is right" "($(seconds_found lock) - $(must mutex))^2 < (0.2 * $(must mutex))^2" "$(cat got record.out)"
states flock
finds file_lock 'for a file lock, mostly in .*wait_flock' -filters "$threads" flock.er
states klock
finds kernel_lock 'for a lock in the kernel' -filters "$threads" klock.er
if [ "$disk" ]; then
	states fsync
	finds disk 'were for the disk' -filters "$threads" fsync.er
	states dfault
	if disk_is_slow; then
		finds faults 'page faults.*wait_dfault' -filters "$threads" dfault.er
	else
		skip "faults" "the disk answers too fast for this"
	fi
else
	skip "disk, faults" "no file system can be mounted here"
fi

# Two processes on one CPU.
record_load cpu.er -p high -q 0 -- "$syn/states" runq:2 runq:2
pids=$(awk -F'\t' '$1 == "thread" { print $3 }' record.out | sort -u | paste -sd,)
finds cpu '`states` waited were for a CPU; `[^`]*` had it [0-9]' -pid "$pids" cpu.er
check_that "cpu: the finding's time is the kernel's, and marked as counted" \
	"$(grep -c '^cpu.*exact' got) == 1 && ($(seconds_found cpu) - $(noise))^2 < (0.02 + 0.1 * $(noise))^2" \
	"$(noise) $(cat got)"

# A client waits for a thread that waits for another one, which computes.
record_load chain.er -q 0 -- chrt -f 30 "$syn/chain" 3
pids=$(awk '$1 != "waited" { print $2 }' record.out | paste -sd,)
# With the CPU taken away the threads wait for it, and not only for each other.
if awk "BEGIN { exit !($stolen < 0.3) }"; then
	finds chain '`[^`]*client[^`]*` waited .* for `[^`]*front[^`]*`, which waited for `[^`]*back[^`]*`, which computed' \
		-pid "$pids" chain.er
	read -r got_s error <<END
$(awk -F'\t' '$1 == "chain" { print $2, $3 }' got)
END
	check_that "chain: the finding's time is right, within four errors" \
		"(${got_s:-0} - $(truth record.out waited))^2 < (4 * ${error:-0})^2" "$(cat got record.out)"
else
	skip "chain" "the hypervisor took the CPUs for $stolen s"
fi

# Waits for messages, timers and children, and CPU time, are not reported as trouble.
for kind in pipe event net epoll timeout sleep child futex; do
	states $kind
	findings -filters "$threads" $kind.er
	check_that "a healthy load has one finding: $kind" \
		"$(others computing | wc -l) == 0 && $(grep -c '^computing' got) == 1" "$(noise) $(cat got)"
done
record_load healthy.er -q 0 -- chrt -f 30 sh -c \
	'for i in 1 2 3 4 5 6; do "$syn/spin" alpha:0.1 beta:0.05; sleep 0.1; done'
findings -pid "$(awk '$1 == "pid" { print int($2) }' record.out | paste -sd,)" healthy.er
check_that "a healthy load has one finding: spin" \
	"$(others computing | wc -l) == 0 && $(grep -c '^computing' got) == 1" "$(cat got)"
check "the finding on CPU time names the functions" grep -qE '^computing.*: alpha [56][0-9] %.*, beta [23][0-9] %' got

# The recording is cut by its size limit.
record_load limit.er -q 0 -L 1 -p high -s all -- "$syn/contend" 3
if "$er_print" -header limit.er 2>/dev/null | grep -q 'size limit was reached'; then
	findings limit.er
	check "losses: a recording that was cut says so" \
		grep -qE "^losses.*The recording lacks .* the size limit was reached" got
	check "losses: the finding on losses comes first" sh -c 'head -n 1 got | grep -q "^losses"'
else
	skip "losses" "the limit was not reached"
fi

if cpu_group; then
	record_load quota.er -q 0 -- sh -c "echo \$\$ >$group/cgroup.procs; exec \"\$syn/spin\" alpha:0.4"
	findings -pid "$(pid_of record.out)" quota.er
	check "quota: is found" grep -qE '^quota.*for the CPU quota' got
	rmdir "$group"
else
	skip "quota" "no cgroup with a CPU limit can be made here"
fi
if memory_group; then
	record_load memory.er -q 0 -t 5 -- timeout 4 sh -c \
		"echo \$\$ >$group/cgroup.procs; exec perl -e '\$x = qq(x) x 40000000; sleep 1'"
	findings -comm perl memory.er
	check "memory: is found" grep -qE '^memory.*for memory to be freed' got
	rmdir "$group"
else
	skip "memory" "no cgroup with a memory limit of the second version here"
fi

# No test can make the hypervisor take the CPU. If it does, /proc/stat must say so, too.
skip "stolen" "a guest cannot cause it; tests/unit/test_findings.c has it"
