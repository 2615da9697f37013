/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "user/space/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "analysis/base/alloc.h"
#include "analysis/base/file.h"

static int write_at(int fd, const void *p, size_t n, off_t offset)
{
	ssize_t done = pwrite(fd, p, n, offset);

	return done == (ssize_t)n ? 0 : done < 0 ? -errno : -EIO;
}

int memory_want(int fd, off_t size, const uint64_t *addresses, size_t n)
{
	struct memory_unit *units;
	int err;

	if (!n || n > MEMORY_UNITS_MAX)
		return -EINVAL;
	units = xcalloc(n, sizeof(*units));
	for (size_t i = 0; i < n; i++)
		units[i].address = addresses[i];
	err = write_at(fd, units, n * sizeof(*units), size);
	free(units);
	return err;
}

/* A unit lies within a page, so it is read whole or not at all. */
static void fill(int mem, struct memory_unit *u)
{
	ssize_t n = u->address % MEMORY_UNIT ? -1 : pread(mem, u->bytes, MEMORY_UNIT, u->address);

	u->state = n == MEMORY_UNIT ? MEMORY_READ : MEMORY_UNREADABLE;
}

int memory_copy_here(pid_t pid, int fd, off_t offset, size_t n)
{
	__cleanup(freep) struct memory_unit *units = NULL;
	__cleanup(closep) int mem = -1;
	char path[32];

	if (!n || n > MEMORY_UNITS_MAX)
		return -EINVAL;
	snprintf(path, sizeof(path), "/proc/%d/mem", pid);
	mem = open(path, O_RDONLY | O_CLOEXEC);
	if (mem < 0)
		return -errno;
	units = xcalloc(n, sizeof(*units));
	if (pread(fd, units, n * sizeof(*units), offset) != (ssize_t)(n * sizeof(*units)))
		return -EIO;
	for (size_t i = 0; i < n; i++)
		fill(mem, &units[i]);
	return write_at(fd, units, n * sizeof(*units), offset);
}
