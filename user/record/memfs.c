/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "user/record/memfs.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/mount.h>
#include <stdio.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "analysis/base/alloc.h"
#include "loaders/privilege.h"

static int set(int fs, const char *key, const char *value)
{
	return syscall(SYS_fsconfig, fs, FSCONFIG_SET_STRING, key, value, 0);
}

static int open_with(const char *size)
{
	__cleanup(closep) int fs = syscall(SYS_fsopen, "tmpfs", FSOPEN_CLOEXEC);
	int fd;

	if (fs < 0 || set(fs, "size", size) < 0 || set(fs, "mode", "0700") < 0 ||
	    syscall(SYS_fsconfig, fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0) < 0)
		return -errno;
	fd = syscall(SYS_fsmount, fs, FSMOUNT_CLOEXEC,
		     MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC);
	return fd < 0 ? -errno : fd;
}

int memfs_open(uint64_t bytes)
{
	uint64_t before = privilege_take(PRIVILEGE_CAPTURE);
	char size[32];
	int fd;

	snprintf(size, sizeof(size), "%" PRIu64, bytes);
	fd = open_with(size);
	privilege_return(before);
	return fd;
}

bool memfs_take(int reserve, uint64_t bytes)
{
	return fallocate(reserve, 0, 0, bytes) == 0;
}

bool memfs_lend(int reserve)
{
	return ftruncate(reserve, 0) == 0;
}

int memfs_reserve(int fd, uint64_t bytes)
{
	int reserve = openat(fd, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	if (reserve < 0)
		return -errno;
	if (memfs_take(reserve, bytes))
		return reserve;
	close(reserve);
	return -ENOSPC;
}

uint64_t memfs_used(int fd)
{
	struct statvfs st;

	return fstatvfs(fd, &st) < 0 ? 0 : (uint64_t)(st.f_blocks - st.f_bfree) * st.f_bsize;
}
