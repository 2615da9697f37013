/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "user/options/own_output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analysis/base/alloc.h"
#include "analysis/base/diag.h"

enum { FIRST_FREE = STDERR_FILENO + 1 };

static int cannot_open(const char *path, int err, struct diag *d)
{
	return diag_errno(d, err, "-O '%s': cannot be opened: name a file that may be written", path);
}

/* The file is not opened: the reader of a FIFO would see its end, and some devices begin to work. */
int own_output_check(const char *path, struct diag *d)
{
	const char *slash = strrchr(path, '/');
	__cleanup(freep) char *dir = slash ? xstrndup(path, slash - path + 1) : xstrdup(".");
	struct stat st;
	int err = stat(path, &st) < 0 ? errno : S_ISDIR(st.st_mode) ? EISDIR : 0;

	if (err == ENOENT)
		err = access(dir, W_OK | X_OK) < 0 ? errno : 0;
	else if (!err)
		err = access(path, W_OK) < 0 ? errno : 0;
	return err ? cannot_open(path, err, d) : 0;
}

int own_output_to(const char *path, int load_fds[2], struct diag *d)
{
	__cleanup(closep) int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY,
					0666);

	if (fd < 0)
		return cannot_open(path, errno, d);
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
