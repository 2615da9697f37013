#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Limits that make threads wait: cgroup v2 limits of CPU time and memory, and a freeze. The recorded
# reason must be right, for at least the time that the kernel reports. A thread's later wait for a
# CPU is part of the same wait.
. /bin/guest.sh

group=/sys/fs/cgroup/limits
echo "+cpu +memory" >/sys/fs/cgroup/cgroup.subtree_control
mkdir -p $group || { echo "skip limits: no cgroup can be made"; exit 0; }

# run NAME COMMAND…: record the command, which runs in the group.
run()
{
	name=$1
	shift
	rm -rf l.er
	er_kernel -o l.er -F on -q 0 -- sh -c "echo \$\$ >$group/cgroup.procs; exec $*" >out 2>err
	says "$name: records" "$? == 0" "$(cat err)"
	er_print -printmode , -metrics e.total:name -reasons l.er >reasons 2>err
}

# of REASON: the load's seconds with this reason, in all states.
of()
{
	er_print -printmode , -filters "REASON==$1 && PID==$pid" -metrics e.total:name -functions l.er 2>>err |
		awk -F'","' '/<Total>/ { sub(/^"/, ""); print $1 + 0; f = 1 } END { if (!f) print 0 }'
}

echo "10000 50000" >$group/cpu.max
run throttled spin alpha:0.2
pid=$(awk '$1 == "pid" { print int($2) }' out)
want=$(awk '$1 == "throttled_usec" { print $2 / 1000000 }' $group/cpu.stat)
got=$(of THROTTLED)
says "throttled: the reason is THROTTLED" "$want > 0.1 && $got > 0.5 * $want" \
	"$got s, by the kernel $want; $(cat reasons)"
echo max >$group/cpu.max

# The load uses more memory than its limit, and none of it can be reclaimed: the kernel
# makes it sleep.
if [ -e $group/memory.high ]; then
	echo 8M >$group/memory.high
	cat >/bin/hog <<-'END'
		#!/bin/sh
		echo pid $$
		exec dd if=/dev/zero of=/dev/null bs=24M count=1 2>/dev/null
	END
	chmod +x /bin/hog
	run "memory.high" hog
	pid=$(awk '$1 == "pid" { print int($2) }' out)
	sleep 2.5 # the kernel updates its figure every two seconds
	want=$(sed -n 's/^some.*total=//p' $group/memory.pressure | awk '{ print $1 / 1000000 }')
	got=$(of RECLAIM)
	says "memory.high: the reason is reclaim" "$want > 0.1 && $got > 0.3 * $want" \
		"$got s, by the kernel $want; $(cat reasons $group/memory.events)"
	echo max >$group/memory.high
else
	echo "skip memory.high: no memory controller"
fi

cat >/bin/thaw <<END
#!/bin/sh
echo 1 >$group/cgroup.freeze
sleep 0.5
echo 0 >$group/cgroup.freeze
END
chmod +x /bin/thaw
: >out
(while ! [ -s out ]; do sleep 0.1; done; sleep 0.3; thaw) &
run frozen "sh -c 'echo pid \$\$; exec spin alpha:1'"
pid=$(awk '$1 == "pid" { print int($2); exit }' out)
got=$(of FROZEN)
says "frozen: the reason is FROZEN" "$got > 0.45" "$got s; $(cat out reasons)"
wait
rmdir $group
