/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/base/streams.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "analysis/base/diag.h"

void streams_fill(void)
{
	static const int modes[] = { O_RDONLY, O_RDONLY, O_WRONLY };

	/* From 0 up, so that what is opened gets the number that was looked at. */
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
		if (fcntl(fd, F_GETFD) < 0 && errno == EBADF)
			open("/dev/null", modes[fd] | O_CLOEXEC);
	}
}

int streams_flush(const char *program, int status)
{
	struct diag d = { .prefix = program };
	int err = fflush(stdout) ? errno : 0;

	if (err)
		diag_errno(&d, err, "cannot write the output");
	else if (ferror(stdout) && !status)
		diag_error(&d, "cannot write the output"); /* whose errno is long gone */
	return status || (!err && !ferror(stdout)) ? status : 1;
}
