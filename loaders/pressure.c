/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "loaders/pressure.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "analysis/base/alloc.h"
#include "loaders/privilege.h"

const char pressure_remedy[] = "needs root or the capability cap_sys_resource, and a kernel with "
			       "CONFIG_PSI (with psi=1 on its command line where it is off)";

const char *pressure_remedy_of(int err)
{
	if (err == EINVAL)
		return "without the capability cap_sys_resource the time must be 2, 4, 6, 8 or 10 s";
	return pressure_remedy;
}

static const char *const names[] = {
	[PRESSURE_CPU] = "cpu", [PRESSURE_MEMORY] = "memory", [PRESSURE_IO] = "io",
};

const char *pressure_name(enum pressure what)
{
	return names[what];
}

static int open_file(enum pressure what, int flags)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/pressure/%s", names[what]);
	return open(path, flags | O_NONBLOCK | O_CLOEXEC);
}

/* The kernel counts in microseconds, and reads the terminating NUL. */
static int watch(int fd, const struct pressure_limit *limit)
{
	char text[64];
	int n = snprintf(text, sizeof(text), "some %.0f %.0f", limit->percent / 100 * limit->window_ns / 1e3,
			 limit->window_ns / 1e3);

	return write(fd, text, n + 1) < 0 ? -errno : 0;
}

int pressure_open(enum pressure what, const struct pressure_limit *limit)
{
	uint64_t before = privilege_take(PRIVILEGE_CAPTURE);
	int fd = open_file(what, O_RDWR), err = fd < 0 ? -errno : watch(fd, limit);

	privilege_return(before);
	if (!err)
		return fd;
	if (fd >= 0)
		close(fd);
	return err;
}

double pressure_now(enum pressure what)
{
	__cleanup(closep) int fd = open_file(what, O_RDONLY);
	char text[256];
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	double percent;

	if (n <= 0)
		return -1;
	text[n] = '\0';
	return sscanf(text, "some avg10=%lf", &percent) == 1 ? percent : -1;
}
