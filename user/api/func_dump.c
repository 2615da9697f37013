// SPDX-License-Identifier: GPL-2.0-or-later
#include "user/api/func_dump.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum {
	NAME = 1000,        /* bytes of a name or an alias that count */
	PATH = 1000,        /* a longer path of a source does not count */
	LINES_MAX = 40000,  /* longer tables do not count: the recorder reads 1 MB at once */
	LINES_AT_ONCE = 64,
	CODE_MAX = 8 << 20, /* code of a larger function is left out; a record may have 16 MB */
	PAGE = 4096,
	MAGIC = 0x4a695444,
	VERSION = 1,
};

/* Kinds of records: user/jit/jitdump.h. */
enum { LOAD = 0, LINES = 2, ALIAS = 0x45520001, GONE = 0x45520002 };

struct header {
	uint32_t magic, version, size, machine, pad, pid;
	uint64_t time_ns, flags;
};

struct head {
	uint32_t kind, size;
	uint64_t time_ns;
};

struct load {
	struct head h;
	uint32_t pid, tid;
	uint64_t vma, address, size, number;
};

struct lines {
	struct head h;
	uint64_t address, rows;
};

/* The rows but the first have the same source as the one before. */
struct row {
	uint64_t address;
	uint32_t line, column;
	char same[2];
} __attribute__((packed));

/* The file of process `pid`; -pid: the process can have none. The lock is the process's that writes. */
static struct {
	pid_t pid, lock;
	dev_t dev;
	ino_t ino;
	uint64_t number; /* of the last function */
} dump;

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * UINT64_C(1000000000) + t.tv_nsec;
}

/* A forked child may have been left the lock of a thread that it does not have. */
static void lock(pid_t pid)
{
	for (;;) {
		pid_t holder = __atomic_load_n(&dump.lock, __ATOMIC_RELAXED);

		if (holder != pid && __atomic_compare_exchange_n(&dump.lock, &holder, pid, false, __ATOMIC_ACQUIRE,
								 __ATOMIC_RELAXED))
			return;
		sched_yield();
	}
}

static void unlock(void)
{
	__atomic_store_n(&dump.lock, 0, __ATOMIC_RELEASE);
}

/* --- the file --- */

static void path_of(pid_t pid, char path[64])
{
	snprintf(path, 64, "/tmp/jit-%d.dump", pid);
}

/* An earlier process may have left a file of that name. Another user's, or what is no file, stays. */
static int create(const char *path)
{
	int flags = O_RDWR | O_APPEND | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
	int fd = open(path, flags, 0600);
	struct stat st;

	if (fd >= 0 || errno != EEXIST || lstat(path, &st) || !S_ISREG(st.st_mode) || st.st_uid != geteuid() ||
	    unlink(path))
		return fd;
	return open(path, flags, 0600);
}

/* The mapping stays: it shows where the file is. */
static bool begin(int fd, pid_t pid)
{
	const struct header h = { .magic = MAGIC, .version = VERSION, .size = sizeof(h), .machine = EM_X86_64,
				  .pid = pid, .time_ns = now_ns() };
	struct stat st;

	if (write(fd, &h, sizeof(h)) != sizeof(h) || fstat(fd, &st) ||
	    mmap(NULL, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0) == MAP_FAILED)
		return false;
	dump.dev = st.st_dev;
	dump.ino = st.st_ino;
	return true;
}

static int open_first(const char *path, pid_t pid)
{
	int fd = create(path);

	if (fd >= 0 && begin(fd, pid)) {
		dump.pid = pid;
		return fd;
	}
	if (fd >= 0) {
		unlink(path);
		close(fd);
	}
	dump.pid = -pid;
	return -1;
}

/* Only the file that this process has made is written. -1: it has none. */
static int open_dump(pid_t pid, bool first)
{
	char path[64];
	struct stat st;
	int fd;

	path_of(pid, path);
	if (dump.pid != pid && dump.pid != -pid)
		return first ? open_first(path, pid) : -1;
	if (dump.pid != pid)
		return -1;
	fd = open(path, O_WRONLY | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd >= 0 && (fstat(fd, &st) || st.st_dev != dump.dev || st.st_ino != dump.ino)) {
		close(fd);
		return -1;
	}
	return fd;
}

/* --- records --- */

static bool put(int fd, const struct iovec *parts, int n)
{
	ssize_t size = 0;

	for (int i = 0; i < n; i++)
		size += parts[i].iov_len;
	return writev(fd, parts, n) == size;
}

/* A copy for the file, without control characters. Returns its length with the NUL. */
static size_t plain(const char *text, char to[NAME + 1])
{
	size_t n = strnlen(text, NAME);

	for (size_t i = 0; i < n; i++)
		to[i] = (unsigned char)text[i] < ' ' ? '?' : text[i];
	to[n] = 0;
	return n + 1;
}

static bool put_alias(int fd, const char *alias, uint64_t time_ns)
{
	char text[NAME + 1];
	size_t n = plain(alias, text);
	struct head h = { ALIAS, sizeof(h) + n, time_ns };

	return put(fd, (struct iovec[]){ { &h, sizeof(h) }, { text, n } }, 2);
}

static bool put_rows(int fd, const struct func_description *f, size_t from)
{
	struct row rows[LINES_AT_ONCE];
	size_t n = 0;

	for (size_t i = from; i < f->nlines; i++) {
		rows[n++] = (struct row){ (uintptr_t)f->start + f->lines[i].offset, f->lines[i].lineno, 0,
					  { '\377', 0 } };
		if (n < LINES_AT_ONCE && i + 1 < f->nlines)
			continue;
		if (!put(fd, &(struct iovec){ rows, n * sizeof(*rows) }, 1))
			return false;
		n = 0;
	}
	return true;
}

/* The first row of the file is at the first byte of the code. Its line is 0 where the table begins later. */
static bool put_lines(int fd, const struct func_description *f, uint64_t time_ns)
{
	size_t path = strlen(f->source) + 1, later = f->lines[0].offset != 0, nrows = f->nlines + later;
	const size_t row = offsetof(struct row, same);
	struct lines l = { { LINES, sizeof(l) + row + path + (nrows - 1) * sizeof(struct row), time_ns },
			   (uintptr_t)f->start, nrows };
	struct row first = { (uintptr_t)f->start, later ? 0 : f->lines[0].lineno, 0, "" };

	return put(fd, (struct iovec[]){ { &l, sizeof(l) }, { &first, row }, { (char *)f->source, path } }, 3) &&
	       put_rows(fd, f, !later);
}

static bool put_code(int fd, const struct func_description *f, pid_t pid, uint64_t time_ns, bool code)
{
	char name[NAME + 1];
	size_t n = plain(f->name, name), bytes = code ? f->size : 0;
	uint64_t start = (uintptr_t)f->start;
	struct load l = { { LOAD, sizeof(l) + n + bytes, time_ns }, pid, pid, start, start, f->size, ++dump.number };

	return put(fd, (struct iovec[]){ { &l, sizeof(l) }, { name, n }, { (char *)f->start, bytes } }, 3);
}

static bool put_all(int fd, const struct func_description *f, pid_t pid, bool code)
{
	bool lines = f->source && *f->source && f->lines && f->nlines && f->nlines <= LINES_MAX &&
		     strlen(f->source) < PATH;
	uint64_t t = now_ns();

	return (!f->alias || !*f->alias || put_alias(fd, f->alias, t)) && (!lines || put_lines(fd, f, t)) &&
	       put_code(fd, f, pid, t, code);
}

/* A full disk, or memory that cannot be read, must leave no part of a record. */
static bool append(int fd, const struct func_description *f, pid_t pid, bool code)
{
	struct stat st;

	if (fstat(fd, &st))
		return false;
	if (put_all(fd, f, pid, code))
		return true;
	(void)!ftruncate(fd, st.st_size);
	return false;
}

bool func_dump_add(const struct func_description *f)
{
	int err = errno, fd;
	pid_t pid = getpid();

	lock(pid);
	fd = open_dump(pid, true);
	if (fd >= 0) {
		(void)((f->size <= CODE_MAX && append(fd, f, pid, true)) || append(fd, f, pid, false));
		close(fd);
	}
	unlock();
	errno = err;
	return fd >= 0 || dump.pid == pid;
}

bool func_dump_remove(const void *start)
{
	int err = errno, fd;
	pid_t pid = getpid();
	uint64_t at = (uintptr_t)start;
	struct head h = { GONE, sizeof(h) + sizeof(at), now_ns() };

	lock(pid);
	fd = open_dump(pid, false);
	if (fd >= 0) {
		(void)!put(fd, (struct iovec[]){ { &h, sizeof(h) }, { &at, sizeof(at) } }, 2);
		close(fd);
	}
	unlock();
	errno = err;
	return fd >= 0;
}
