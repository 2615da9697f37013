/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/base/program.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

#include "analysis/base/alloc.h"
#include "analysis/base/diag.h"

static void fill_streams(void)
{
	static const int modes[] = { O_RDONLY, O_RDONLY, O_WRONLY };

	/* In ascending order, because open() returns the lowest free number. */
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
		if (fcntl(fd, F_GETFD) < 0 && errno == EBADF)
			open("/dev/null", modes[fd] | O_CLOEXEC);
	}
}

int program_files(size_t files, struct diag *d)
{
	struct rlimit l;

	if (getrlimit(RLIMIT_NOFILE, &l) < 0 || l.rlim_cur >= files)
		return 0;
	if (l.rlim_max < files)
		return diag_error(d, "only %zu files may be open at a time, and %zu may be needed: "
				  "raise the limit (ulimit -n)", (size_t)l.rlim_max, files);
	l.rlim_cur = files;
	setrlimit(RLIMIT_NOFILE, &l);
	return 0;
}

/*
 * Map large blocks, always: a vector that doubles is then moved with its pages and not
 * copied. By default malloc stops mapping blocks of up to 32 MB once one has been freed.
 */
static void map_large_blocks(void)
{
	mallopt(M_MMAP_THRESHOLD, ALLOC_MAPPED);
	mallopt(M_TRIM_THRESHOLD, 16 << 20);
}

int program_begin(const char *program)
{
	struct diag d = { .prefix = program };

	fill_streams();
	map_large_blocks();
	return program_files(PROGRAM_FILES, &d) ? 1 : 0;
}

int program_end(const char *program, int status)
{
	struct diag d = { .prefix = program };
	int err = fflush(stdout) ? errno : 0;

	if (err)
		diag_errno(&d, err, "cannot write the output");
	else if (ferror(stdout) && !status)
		diag_error(&d, "cannot write the output"); /* the errno of that write is lost */
	return status || (!err && !ferror(stdout)) ? status : 1;
}
