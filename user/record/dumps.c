/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "user/record/dumps.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analysis/base/alloc.h"
#include "analysis/base/buf.h"
#include "analysis/base/copy.h"
#include "analysis/base/diag.h"
#include "analysis/base/tree.h"
#include "analysis/experiment/exp_group.h"
#include "user/record/retain.h"
#include "user/record/status.h"

enum { MAX_TRIES = 100 }; /* another program may take the same numbers */

struct dumps {
	const struct expname *place;
	char *stem;
	char *temporary; /* the name of a dump that is not complete */
	struct retain *retain;
	uint64_t keep;
	bool said_tight; /* one dump takes more than that */
};

/*
 * True if the name is of an incomplete dump, and its recorder does not run in our PID namespace. A
 * dump with our own PID is not ours: ours comes later.
 */
static bool is_left_over(const char *name, const char *prefix)
{
	size_t n = strlen(prefix);
	char *end = NULL;
	long pid = 0;

	if (!strncmp(name, prefix, n) && isdigit((unsigned char)name[n]))
		pid = strtol(name + n, &end, 10);
	if (pid <= 0 || pid > INT_MAX || *end)
		return false;
	return pid == getpid() || (kill(pid, 0) < 0 && errno == ESRCH);
}

/*
 * Remove the directory if it is ours and nobody writes it. A recorder of another PID namespace may:
 * it has a lock on the directory meanwhile.
 */
static void remove_unlocked(int dir, const char *name)
{
	__cleanup(closep) int fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW |
							     O_CLOEXEC);
	struct diag quiet = { 0 };
	struct stat st;

	if (fd >= 0 && !fstat(fd, &st) && st.st_uid == geteuid() && !flock(fd, LOCK_EX | LOCK_NB))
		tree_remove(dir, name, name, &quiet);
	diag_free(&quiet);
}

static void remove_left_over(const struct dumps *u, const char *prefix)
{
	int fd = openat(u->place->dirfd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);

	for (struct dirent *e; dir && (e = readdir(dir));) {
		if (is_left_over(e->d_name, prefix))
			remove_unlocked(fd, e->d_name);
	}
	if (dir)
		closedir(dir);
}

struct dumps *dumps_new(const struct expname *place, uint64_t keep)
{
	struct dumps *u = xcalloc(1, sizeof(*u));
	char *prefix;

	u->place = place;
	u->stem = expname_stem(place);
	prefix = xasprintf(".%s.dump.", u->stem);
	u->temporary = xasprintf("%s%d", prefix, getpid());
	u->retain = retain_new(keep);
	u->keep = keep;
	remove_left_over(u, prefix);
	free(prefix);
	return u;
}

void dumps_free(struct dumps *u)
{
	if (!u)
		return;
	retain_free(u->retain);
	free(u->stem);
	free(u->temporary);
	free(u);
}

/* --- one dump --- */

/* Write text at the end of a file, which is created if need be. 0 or -errno. */
static int append(int dir, const char *name, const char *text, size_t len)
{
	__cleanup(closep) int fd = openat(dir, name, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW |
						     O_CLOEXEC, 0600);

	return fd < 0 ? -errno : fd_write(fd, text, len);
}

static int add_note(int root, const char *segment, const char *note)
{
	__cleanup(closep) int dir = openat(root, segment, O_RDONLY | O_DIRECTORY | O_NOFOLLOW |
							  O_CLOEXEC);
	__cleanup(freep) char *line = xasprintf("%s\n", note);

	return dir < 0 ? -errno : append(dir, "notes", line, strlen(line));
}

static int copy_segment(const struct dump *what, size_t i, const char *copy,
			struct tree_links *links, struct diag *d)
{
	struct tree_copy c = { .from = what->from, .to = links->root, .name = what->names[i],
			       .copy = copy, .path = copy, .links = links,
			       .relief = what->relief, .ctx = what->ctx };
	int err = tree_copy(&c, d);

	if (err)
		return err;
	err = add_note(links->root, copy, what->note);
	return err ? diag_errno(d, -err, "%s: cannot write its notes", copy) : 0;
}

/* Fill the directory of a dump. 0, or -1 after reporting. */
static int fill(const struct dumps *u, const struct dump *what, int root, struct diag *d)
{
	struct tree_links links = { .root = root };
	__cleanup(freep) char *name = xasprintf("%s.erg", u->stem);
	struct buf group = { 0 };
	int err = 0;

	buf_printf(&group, "%s\n", group_first_line);
	for (size_t i = 0; !err && i < what->n; i++) {
		char *copy = xasprintf("%s.%zu.er", u->stem, i + 1);

		err = copy_segment(what, i, copy, &links, d);
		buf_printf(&group, "%s\n", copy);
		free(copy);
	}
	if (!err) {
		err = append(root, name, group.data, group.len);
		if (err)
			diag_errno(d, -err, "%s: cannot be written", name);
	}
	tree_links_free(&links);
	buf_free(&group);
	return err ? -1 : 0;
}

/* Give the complete dump its name. Returns the name, or NULL after reporting. */
static char *publish(const struct dumps *u, struct diag *d)
{
	int dir = u->place->dirfd;

	for (int i = 0; i < MAX_TRIES; i++) {
		char *name = expname_dump(u->place);

		if (!renameat2(dir, u->temporary, dir, name, RENAME_NOREPLACE))
			return name;
		/* Not every file system has this kind of rename. An existing dump is not empty. */
		if ((errno == EINVAL || errno == ENOSYS) && !renameat(dir, u->temporary, dir, name))
			return name;
		free(name);
		if (errno != EEXIST && errno != ENOTEMPTY)
			break;
	}
	diag_errno(d, errno, "its directory cannot be renamed");
	return NULL;
}

/* The path of a name beside the place. */
static char *beside(const struct dumps *u, const char *name)
{
	int dirlen = strlen(u->place->path) - strlen(u->place->name);

	return xasprintf("%.*s%s", dirlen, u->place->path, name);
}

static void retain(struct dumps *u, const char *name, struct diag *d)
{
	__cleanup(freep) char *path = beside(u, name);
	char taken[32], quota[32];

	retain_add(u->retain, u->place->dirfd, name, path);
	retain_make_room(u->retain, 0, d);
	if (u->said_tight || retain_bytes(u->retain) <= u->keep)
		return;
	u->said_tight = true;
	status_bytes(retain_bytes(u->retain), taken, sizeof(taken));
	status_bytes(u->keep, quota, sizeof(quota));
	diag_warn(d, "%s: --keep is %s, and this dump takes %s: only the newest is kept: give --keep several times as "
		     "much, or a shorter time to --flight", path, quota, taken);
}

char *dumps_write(struct dumps *u, const struct dump *what, struct diag *d)
{
	int dir = u->place->dirfd;
	__cleanup(closep) int root = -1;
	__cleanup(freep) char *name = NULL;
	__cleanup(freep) char *group = NULL;
	struct diag quiet = { 0 };

	if (mkdirat(dir, u->temporary, 0700) < 0) {
		diag_errno(d, errno, "its directory cannot be made");
		return NULL;
	}
	root = openat(dir, u->temporary, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (root < 0) {
		diag_errno(d, errno, "its directory cannot be opened");
	} else {
		flock(root, LOCK_EX | LOCK_NB); /* see remove_unlocked; it may be unsupported */
		if (!fill(u, what, root, d))
			name = publish(u, d);
	}
	if (!name) {
		tree_remove(dir, u->temporary, u->temporary, &quiet);
		diag_free(&quiet);
		return NULL;
	}
	retain(u, name, d);
	group = xasprintf("%s/%s.erg", name, u->stem);
	return beside(u, group);
}
