/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "user/probe/binary.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "analysis/base/alloc.h"
#include "analysis/base/diag.h"
#include "analysis/base/file.h"
#include "user/space/procfs.h"

#define LINKER_CACHE "/etc/ld.so.cache"

/* Take over fd unless the same file is there already. */
static void add(struct probe_sites *ret, int fd, const char *path)
{
	struct stat st;

	if (fstat(fd, &st) < 0) {
		close(fd);
		return;
	}
	vec_for_each (b, &ret->binaries) {
		if (b->dev == st.st_dev && b->ino == st.st_ino) {
			close(fd);
			return;
		}
	}
	vec_push(&ret->binaries, (struct probe_binary){ .path = xstrdup(path), .fd = fd,
							.dev = st.st_dev, .ino = st.st_ino });
}

/* Returns 0, or -errno. */
static int add_path(struct probe_sites *ret, const char *path, const char *shown)
{
	__cleanup(closep) int place = open(path, O_PATH | O_CLOEXEC);
	int fd = place < 0 ? -errno : file_open_place(place);

	if (fd < 0)
		return fd;
	add(ret, fd, shown);
	return 0;
}

/* A path as the process sees it. Links in it cannot lead out of the process's root. */
static int add_below(struct probe_sites *ret, pid_t pid, const char *path)
{
	const struct open_how how = { .flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_IN_ROOT |
								   RESOLVE_NO_MAGICLINKS };
	__cleanup(freep) char *root = xasprintf("/proc/%d/root", (int)pid), *shown = NULL;
	__cleanup(closep) int dir = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC), place = -1;
	int fd;

	if (dir < 0)
		return -errno;
	place = syscall(SYS_openat2, dir, path, &how, sizeof(how));
	if (place < 0)
		return -errno;
	fd = file_open_place(place);
	if (fd < 0)
		return fd;
	shown = xasprintf("%s%s%s", root, *path == '/' ? "" : "/", path);
	add(ret, fd, shown);
	return 0;
}

/* --- names --- */

bool binary_named(const char *file, const char *name)
{
	size_t n = strlen(name);
	const char *rest = file + n;

	if (strncmp(file, name, n))
		return false;
	if (!*rest || !strncmp(rest, ".so", 3))
		return true;
	return n > 3 && !strcmp(name + n - 3, ".so") && *rest == '.';
}

struct mapped_search {
	struct probe_sites *ret;
	const char *name; /* a file's name; NULL: any; or a path: of the file that was there, and is no more */
	pid_t pid;
};

static bool is_wanted(const char *path, const char *name)
{
	size_t n = name ? strlen(name) : 0;

	if (!name)
		return *path == '/';
	if (*name == '/')
		return !strncmp(path, name, n) && !strcmp(path + n, " (deleted)");
	return *path == '/' && binary_named(strrchr(path, '/') + 1, name);
}

/* The link in map_files leads to the mapped file, even if another one has its path now. */
static bool look_at_mapping(void *ctx, const struct maps_line *l)
{
	struct mapped_search *m = ctx;
	__cleanup(freep) char *link = NULL;

	if (!is_wanted(l->path, m->name))
		return true;
	link = xasprintf("/proc/%d/map_files/%llx-%llx", (int)m->pid, (unsigned long long)l->start,
			 (unsigned long long)l->end);
	if (add_path(m->ret, link, l->path))
		add_below(m->ret, m->pid, l->path);
	return true;
}

int binary_add(const char *path, struct probe_sites *ret)
{
	return add_path(ret, path, path);
}

void binary_find_code(pid_t pid, struct probe_sites *ret)
{
	struct mapped_search m = { ret, NULL, pid };

	procfs_code(pid, look_at_mapping, &m);
}

static void add_mapped(struct probe_sites *ret, const char *name, const pid_t *pids, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct mapped_search m = { ret, name, pids[i] };

		procfs_code(pids[i], look_at_mapping, &m);
	}
}

static void add_from_path(struct probe_sites *ret, const char *name)
{
	const char *env = getenv("PATH");
	__cleanup(freep) char *dirs = xstrdup(env ? env : "/usr/bin:/bin");
	char *save;

	for (char *dir = strtok_r(dirs, ":", &save); dir; dir = strtok_r(NULL, ":", &save)) {
		__cleanup(freep) char *path = xasprintf("%s/%s", dir, name);

		if (*dir == '/' && !access(path, X_OK) && !add_path(ret, path, path))
			return;
	}
}

/* The file that ldconfig writes, in the format of glibc 2.32 and later. */
struct cache_head {
	char magic[20];
	uint32_t nlibs, nstrings;
	uint8_t flags, pad[3];
	uint32_t extension, unused[3];
};

struct cache_entry {
	int32_t flags;
	uint32_t name, path; /* offsets in the file */
	uint32_t osversion;
	uint64_t hwcap;
};

enum { CACHE_X86_64 = 0x0303, CACHE_MAX = 1 << 20 };

static const char *cache_string(const struct file *f, uint32_t at)
{
	return at < f->size && memchr(f->data + at, '\0', f->size - at) ?
		       (const char *)f->data + at : NULL;
}

static void add_from_cache(struct probe_sites *ret, const struct file *f, const char *name)
{
	struct cache_head head;
	struct cache_entry e;

	if (f->size < sizeof(head))
		return;
	memcpy(&head, f->data, sizeof(head));
	if (memcmp(head.magic, "glibc-ld.so.cache1.1", sizeof(head.magic)) || head.nlibs > CACHE_MAX)
		return;
	for (size_t i = 0; i < head.nlibs; i++) {
		size_t at = sizeof(head) + i * sizeof(e);
		const char *lib, *path;

		if (at + sizeof(e) > f->size)
			return;
		memcpy(&e, f->data + at, sizeof(e));
		lib = cache_string(f, e.name);
		path = cache_string(f, e.path);
		if (e.flags == CACHE_X86_64 && lib && path && *path == '/' &&
		    binary_named(lib, name) && !add_path(ret, path, path))
			return;
	}
}

void binary_add_library(const char *name, struct probe_sites *ret)
{
	struct file f;

	if (file_open_at(AT_FDCWD, LINKER_CACHE, &f))
		return;
	add_from_cache(ret, &f, name);
	file_close(&f);
}

static void find_name(struct probe_sites *ret, const char *name, const pid_t *pids, size_t n)
{
	add_mapped(ret, name, pids, n);
	if (!ret->binaries.len)
		add_from_path(ret, name);
	if (!ret->binaries.len)
		binary_add_library(name, ret);
}

/* --- the whole --- */

static int find_path(struct probe_sites *ret, const char *path, const pid_t *pids, size_t n)
{
	for (size_t i = 0; i < n && *path == '/'; i++)
		add_below(ret, pids[i], path);
	if (*path == '/')
		add_mapped(ret, path, pids, n);
	return ret->binaries.len ? 0 : add_path(ret, path, path);
}

/* PID or PID/path. */
static int find_of_process(struct probe_sites *ret, pid_t pid, const char *path)
{
	__cleanup(freep) char *exe = xasprintf("/proc/%d/exe", (int)pid), *shown = NULL;
	char target[4096];
	ssize_t n;

	if (*path)
		return add_below(ret, pid, path);
	n = readlink(exe, target, sizeof(target) - 1);
	if (n > 0)
		shown = xstrndup(target, n);
	return add_path(ret, exe, shown ? shown : exe);
}

static bool has_process(pid_t pid)
{
	__cleanup(freep) char *dir = xasprintf("/proc/%d", (int)pid);

	return !access(dir, F_OK);
}

/* `pid`: the binary is that of a process, or a file that it sees; else 0. */
static int report(const struct probe_spec *s, pid_t pid, int err, struct diag *d)
{
	const char *option = probe_option(s);

	if (pid && !has_process(pid))
		return diag_error(d, "%s '%s': there is no process %d: write the number of one that runs, or the "
				     "path of a program", option, s->text, (int)pid);
	if (pid && !strchr(s->binary, '/') && err == -ENOENT)
		return diag_error(d, "%s '%s': process %d has no program, as threads of the kernel have none: "
				     "write the path of a program", option, s->text, (int)pid);
	if (!strchr(s->binary, '/') && !pid)
		return diag_error(d, "%s '%s': no program in $PATH, library or recorded process has the "
				     "name '%s': write its path", option, s->text, s->binary);
	if (err == -EINVAL)
		return diag_error(d, "%s '%s': '%s' is not a regular file: write the path of a program "
				     "or library", option, s->text, s->binary);
	if (err == -ENOENT)
		return diag_error(d, "%s '%s': cannot open the binary '%s': there is no such file: write its path; for one "
				     "in a container PID/path, with the PID of a process in it", option, s->text, s->binary);
	diag_errno(d, -err, "%s '%s': cannot open the binary '%s'", option, s->text, s->binary);
	return -1;
}

int binary_find(const struct probe_spec *s, const pid_t *pids, size_t n, struct diag *d,
		struct probe_sites *ret)
{
	char *rest;
	long number = strtol(s->binary, &rest, 10);
	pid_t pid = 0;
	int err = 0;

	if (rest > s->binary && number > 0 && number <= INT32_MAX && (!*rest || *rest == '/')) {
		pid = number;
		err = find_of_process(ret, pid, rest);
	} else if (strchr(s->binary, '/')) {
		err = find_path(ret, s->binary, pids, n);
	} else {
		find_name(ret, s->binary, pids, n);
	}
	return ret->binaries.len ? 0 : report(s, pid, err, d);
}
