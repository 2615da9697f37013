/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "user/options/own_output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/base/alloc.h"
#include "analysis/base/diag.h"

enum { FIRST_FREE = STDERR_FILENO + 1 };

static int cannot_open(const char *path, struct diag *d)
{
	return diag_errno(d, errno, "-O '%s': cannot be opened: name a file that may be written", path);
}

int own_output_check(const char *path, struct diag *d)
{
	const char *slash = strrchr(path, '/');
	__cleanup(freep) char *dir = slash ? xstrndup(path, slash - path + 1) : xstrdup(".");
	/* O_NONBLOCK: a FIFO without a reader. */
	__cleanup(closep) int fd = open(path, O_WRONLY | O_APPEND | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);

	if (fd >= 0 || errno == ENXIO || (errno == ENOENT && !access(dir, W_OK | X_OK)))
		return 0;
	return cannot_open(path, d);
}

int own_output_to(const char *path, int load_fds[2], struct diag *d)
{
	__cleanup(closep) int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY,
					0666);

	if (fd < 0)
		return cannot_open(path, d);
	fflush(stdout);
	for (int i = 0; i < 2; i++) {
		int own = i ? STDERR_FILENO : STDOUT_FILENO;

		load_fds[i] = fcntl(own, F_DUPFD_CLOEXEC, FIRST_FREE);
		if (load_fds[i] < 0 || dup2(fd, own) < 0)
			return diag_errno(d, errno, "-O '%s': descriptors cannot be duplicated", path);
	}
	d->journal = false;
	return 0;
}
