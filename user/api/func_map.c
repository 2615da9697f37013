// SPDX-License-Identifier: GPL-2.0-or-later
#include "user/api/func_map.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { NAME = 1000 }; /* bytes of a name that count */

static pid_t begun; /* the process whose map this is */

/* Others may have put something else under this name: only the user's own file is written. */
static int open_map(int flags)
{
	char path[64];
	struct stat st;
	int fd;

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", getpid());
	fd = open(path, O_WRONLY | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | flags, 0600);
	if (fd >= 0 && (fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_uid != geteuid() || st.st_nlink != 1)) {
		close(fd);
		return -1;
	}
	return fd;
}

static void make_empty(int fd)
{
	pid_t pid = getpid(), before = __atomic_exchange_n(&begun, pid, __ATOMIC_RELAXED);

	if (before != pid && ftruncate(fd, 0))
		return;
}

void func_map_begin(void)
{
	int fd = open_map(0);

	begun = getpid();
	if (fd < 0)
		return;
	(void)!ftruncate(fd, 0);
	close(fd);
}

/* Append a line of n bytes. With O_CREAT the file is made if it is missing. */
static void append(const char *line, int n, int flags)
{
	int fd = open_map(flags);

	if (fd < 0)
		return;
	make_empty(fd);
	(void)!write(fd, line, n);
	close(fd);
}

void func_map_add(const char *name, const void *start, unsigned size)
{
	int err = errno;
	char line[NAME + 64];
	int n = snprintf(line, sizeof(line), "%lx %x %.*s\n", (unsigned long)start, size, (int)NAME, name);

	for (int i = 0; i < n - 1; i++)
		if ((unsigned char)line[i] < ' ')
			line[i] = '?';
	append(line, n, O_CREAT);
	errno = err;
}

void func_map_remove(const void *start)
{
	int err = errno;
	char line[64];
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	append(line, snprintf(line, sizeof(line), "%lx %lx\n", (unsigned long)start,
			      t.tv_sec * 1000000000UL + t.tv_nsec), 0);
	errno = err;
}
