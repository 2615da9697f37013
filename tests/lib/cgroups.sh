# SPDX-License-Identifier: GPL-2.0-or-later
#
# cgroups for live tests; source this file after live.sh. Each function sets $group, or fails if no
# such group can be made here. Remove the group with rmdir when its processes have ended.

# A group that may use a fifth of a CPU, in whichever hierarchy exists.
cpu_group()
{
	if grep -qw cpu /sys/fs/cgroup/cgroup.controllers 2>/dev/null; then
		echo +cpu >/sys/fs/cgroup/cgroup.subtree_control 2>/dev/null
		group=/sys/fs/cgroup/er-cpu-$$
		mkdir "$group" 2>/dev/null && echo "20000 100000" >"$group/cpu.max"
	elif [ -d /sys/fs/cgroup/cpu ]; then
		group=/sys/fs/cgroup/cpu/er-cpu-$$
		mkdir "$group" 2>/dev/null && echo 100000 >"$group/cpu.cfs_period_us" &&
			echo 20000 >"$group/cpu.cfs_quota_us"
	else
		false
	fi
} 2>/dev/null

# A group that must reclaim memory when it has more than 8 MB.
memory_group()
{
	group=/sys/fs/cgroup/er-mem-$$
	grep -qw memory /sys/fs/cgroup/cgroup.controllers &&
		{ echo +memory >/sys/fs/cgroup/cgroup.subtree_control; mkdir "$group" && echo 8M >"$group/memory.high"; }
} 2>/dev/null

# A group that has room for 16 MB of files: whoever reads more in it waits for memory.
small_cache_group()
{
	memory_group && return
	group=/sys/fs/cgroup/memory/er-mem-$$
	[ -d /sys/fs/cgroup/memory ] && mkdir "$group" && echo 16M >"$group/memory.limit_in_bytes"
} 2>/dev/null
