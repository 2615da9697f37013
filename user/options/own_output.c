/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "user/options/own_output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "analysis/base/alloc.h"
#include "analysis/base/diag.h"

enum { FIRST_FREE = STDERR_FILENO + 1 };

int own_output_to(const char *path, int load_fds[2], struct diag *d)
{
	__cleanup(closep) int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY,
					0666);

	if (fd < 0)
		return diag_errno(d, errno, "-O '%s': cannot be opened: name a file that may be "
					    "written", path);
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
