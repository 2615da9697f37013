/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "user/space/procfs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analysis/base/alloc.h"
#include "loaders/privilege.h"
#include "user/space/opener.h"

enum {
	READ_MAX = 16 << 20,
	COMMAND_MAX = 4096,
	PF_KTHREAD = 0x00200000, /* the kernel's */
};

/* Read a number up to the delimiter, and skip the delimiter. */
static bool take(char **at, int base, char delimiter, uint64_t *ret)
{
	char *end;

	*ret = strtoull(*at, &end, base);
	if (end == *at || *end != delimiter)
		return false;
	*at = end + 1;
	return true;
}

/* Does not use sscanf, which takes ten times as long. There are thousands of lines at the start. */
bool procfs_maps_line(char *line, struct maps_line *ret)
{
	uint64_t major, minor;
	char *p = line, *perms;

	*ret = (struct maps_line){ 0 };
	line[strcspn(line, "\n")] = 0;
	if (!take(&p, 16, '-', &ret->start) || !take(&p, 16, ' ', &ret->end) || strcspn(p, " ") != 4)
		return false;
	perms = p;
	p += 4;
	if (!take(&p, 16, ' ', &ret->pgoff) || !take(&p, 16, ':', &major) ||
	    !take(&p, 16, ' ', &minor))
		return false;
	/* The line may end after the inode number if there is no path. */
	ret->ino = strtoull(p, &p, 10);
	ret->dev = major << 32 | minor;
	ret->exec = perms[2] == 'x';
	ret->path = p + strspn(p, " ");
	return ret->end > ret->start;
}

static int open_file(pid_t pid, const char *name)
{
	char path[64];
	uint64_t before;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/%s", pid, name);
	before = privilege_take(PRIVILEGE_PROC);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	fd = fd < 0 ? -errno : fd;
	privilege_return(before);
	return fd;
}

/* Read at most `most` bytes. */
static int read_file(int fd, size_t most, struct buf *ret)
{
	char chunk[8192];
	ssize_t n = 0;

	while (ret->len < most) {
		size_t left = most - ret->len;

		n = read(fd, chunk, left < sizeof(chunk) ? left : sizeof(chunk));
		if (n <= 0)
			break;
		buf_add(ret, chunk, n);
	}
	return n < 0 ? -errno : 0;
}

int procfs_read(pid_t pid, const char *name, struct buf *ret)
{
	__cleanup(closep) int fd = open_file(pid, name);

	return fd < 0 ? fd : read_file(fd, READ_MAX, ret);
}

/* The kernel's procmap_query, which headers older than 6.11 lack. */
struct query {
	uint64_t size, flags, addr;
	uint64_t start, end, vma_flags, page_size, pgoff, ino;
	uint32_t major, minor;
	uint32_t name_size, build_id_size;
	uint64_t name, build_id;
};

#define QUERY _IOWR('f', 17, struct query)

enum { QUERY_EXECUTABLE = 0x04, QUERY_THIS_OR_NEXT = 0x10 };

int procfs_code(pid_t pid, bool (*fn)(void *ctx, const struct maps_line *l), void *ctx)
{
	return opener_code(pid, fn, ctx);
}

static int query_code(int fd, bool (*fn)(void *ctx, const struct maps_line *l), void *ctx)
{
	char path[4096];
	struct query q = { 0 };

	for (;; q.addr = q.end) {
		q = (struct query){ .size = sizeof(q), .addr = q.addr, .name = (uintptr_t)path,
				    .flags = QUERY_EXECUTABLE | QUERY_THIS_OR_NEXT,
				    .name_size = sizeof(path) };
		if (ioctl(fd, QUERY, &q) < 0)
			return errno == ENOENT ? 0 : -errno;
		if (!fn(ctx, &(struct maps_line){ .start = q.start, .end = q.end, .pgoff = q.pgoff,
						  .dev = (uint64_t)q.major << 32 | q.minor,
						  .ino = q.ino, .exec = true,
						  .path = q.name_size ? path : "" }))
			return 0;
	}
}

static int read_code(int fd, bool (*fn)(void *ctx, const struct maps_line *l), void *ctx)
{
	struct buf maps = { 0 };
	int err = read_file(fd, READ_MAX, &maps);

	for (char *line = maps.data, *next; line && *line; line = next) {
		struct maps_line l;

		next = strchr(line, '\n');
		next = next ? next + 1 : NULL;
		if (procfs_maps_line(line, &l) && l.exec && !fn(ctx, &l))
			break;
	}
	buf_free(&maps);
	return err;
}

int procfs_code_here(pid_t pid, bool (*fn)(void *ctx, const struct maps_line *l), void *ctx)
{
	static bool cannot_query;
	__cleanup(closep) int fd = open_file(pid, "maps");
	int err;

	if (fd < 0)
		return fd;
	if (!cannot_query) {
		err = query_code(fd, fn, ctx);
		cannot_query = err == -ENOTTY;
		if (!cannot_query)
			return err;
	}
	return read_code(fd, fn, ctx);
}

void procfs_cmdline_here(pid_t pid, struct buf *ret)
{
	__cleanup(closep) int fd = open_file(pid, "cmdline");

	if (fd >= 0)
		read_file(fd, COMMAND_MAX, ret);
	buf_add(ret, "", 0);
}

void procfs_cmdline(pid_t pid, struct buf *ret)
{
	opener_cmdline(pid, ret);
	while (ret->len && !ret->data[ret->len - 1])
		ret->len--;
	for (size_t i = 0; i < ret->len; i++) {
		if (!ret->data[i])
			ret->data[i] = ' ';
	}
	buf_add(ret, "", 0);
}

/*
 * Parses ") S ppid pgrp session tty tpgid flags … num_threads", without sscanf: see
 * procfs_maps_line.
 */
static bool stat_numbers(const char *close, struct procfs_stat *ret)
{
	enum { PPID = 0, FLAGS = 5, NTHREADS = 16, N };
	char *p = strchr(close + 2, ' ');
	long n[N];

	for (int i = 0; i < N; i++) {
		char *end = p;

		n[i] = p ? strtol(p, &end, 10) : 0;
		if (end == p)
			return false;
		p = end;
	}
	ret->ppid = n[PPID];
	ret->nthreads = n[NTHREADS];
	ret->kthread = n[FLAGS] & PF_KTHREAD;
	return true;
}

bool procfs_stat(pid_t pid, struct procfs_stat *ret)
{
	struct buf b = { 0 };
	char *open = NULL, *close = NULL;

	*ret = (struct procfs_stat){ 0 };
	/* The name in parentheses may itself contain parentheses; the last one ends it. */
	if (!procfs_read(pid, "stat", &b)) {
		buf_add(&b, "", 1);
		open = strchr(b.data, '(');
		close = strrchr(b.data, ')');
	}
	if (open && close && close[1] && stat_numbers(close, ret))
		snprintf(ret->comm, sizeof(ret->comm), "%.*s", (int)(close - open - 1), open + 1);
	buf_free(&b);
	return *ret->comm;
}

uid_t procfs_user(pid_t pid)
{
	struct buf b = { 0 };
	const char *line = NULL;
	uid_t user;

	if (!procfs_read(pid, "status", &b) && b.data)
		line = strstr(b.data, "\nUid:");
	user = line ? strtoul(line + strlen("\nUid:"), NULL, 10) : 0;
	buf_free(&b);
	return user;
}

unsigned procfs_nthreads(pid_t pid)
{
	char path[64];
	struct stat st;
	uint64_t before;
	bool there;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	before = privilege_take(PRIVILEGE_PROC);
	there = !stat(path, &st);
	privilege_return(before);
	return !there || st.st_nlink < 2 ? 0 : st.st_nlink - 2;
}

/* If /proc hides other users' processes, reading the list needs the capability too. */
static struct dirent *next_entry(DIR *dir)
{
	uint64_t before = privilege_take(PRIVILEGE_PROC);
	struct dirent *e = readdir(dir);

	privilege_return(before);
	return e;
}

void procfs_for_each(void (*fn)(void *ctx, pid_t pid), void *ctx)
{
	DIR *dir = opendir("/proc");

	for (struct dirent *e; dir && (e = next_entry(dir));) {
		char *end;
		long pid = strtol(e->d_name, &end, 10);

		if (pid > 0 && !*end)
			fn(ctx, pid);
	}
	if (dir)
		closedir(dir);
}
