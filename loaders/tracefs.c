/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "loaders/tracefs.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/mount.h>
#include <sys/syscall.h>
#include <unistd.h>

int tracefs_open(void)
{
	int fd = open("/sys/kernel/tracing/events", O_PATH | O_DIRECTORY | O_CLOEXEC), fs, err;

	if (fd >= 0) {
		close(fd);
		return open("/sys/kernel/tracing", O_PATH | O_DIRECTORY | O_CLOEXEC);
	}
	fs = syscall(SYS_fsopen, "tracefs", FSOPEN_CLOEXEC);
	if (fs < 0)
		return -errno;
	if (syscall(SYS_fsconfig, fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0) < 0 ||
	    (fd = syscall(SYS_fsmount, fs, FSMOUNT_CLOEXEC, 0)) < 0) {
		err = errno;
		close(fs);
		return -err;
	}
	close(fs);
	return fd;
}
