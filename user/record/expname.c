/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "user/record/expname.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analysis/base/alloc.h"
#include "analysis/base/diag.h"
#include "analysis/experiment/exp_group.h"

enum { MAX_NUMBER = 999999999 }; /* a larger number is part of the stem */

/* Returns N if name is STEM.N and the suffix, else -1. */
static long number_in(const char *name, const char *stem, size_t stemlen, const char *suffix)
{
	char *end;
	long n;

	if (strncmp(name, stem, stemlen) || name[stemlen] != '.')
		return -1;
	name += stemlen + 1;
	if (*name < '0' || *name > '9')
		return -1;
	errno = 0;
	n = strtol(name, &end, 10);
	return errno || n > MAX_NUMBER || strcmp(end, suffix) ? -1 : n;
}

static long highest(int dirfd, const char *stem, size_t stemlen, const char *suffix)
{
	int fd = openat(dirfd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	long max = 0;

	for (struct dirent *e; dir && (e = readdir(dir));) {
		long n = number_in(e->d_name, stem, stemlen, suffix);

		max = n > max ? n : max;
	}
	if (dir)
		closedir(dir);
	else if (fd >= 0)
		close(fd);
	return max;
}

static bool taken(int dirfd, const char *name)
{
	struct stat st;

	return !fstatat(dirfd, name, &st, AT_SYMLINK_NOFOLLOW);
}

/* Returns the length of STEM in STEM.N.er, or 0. */
static size_t stem_length(const char *name)
{
	size_t len = strlen(name) - strlen(".er");
	size_t i = len;

	while (i && name[i - 1] >= '0' && name[i - 1] <= '9')
		i--;
	return i < len && i > 1 && name[i - 1] == '.' ? i - 1 : 0;
}

static char *next_name(int dirfd, const char *stem, size_t stemlen, const char *suffix)
{
	long n = highest(dirfd, stem, stemlen, suffix);
	char *name = xasprintf("%.*s.%ld%s", (int)stemlen, stem, ++n, suffix);

	/* The name with the number after the largest may exist. */
	while (taken(dirfd, name)) {
		free(name);
		name = xasprintf("%.*s.%ld%s", (int)stemlen, stem, ++n, suffix);
	}
	return name;
}

/* The wanted name exists: take the next number. */
static int take_number(struct expname *n, const char *wanted, struct diag *d)
{
	size_t stem = stem_length(wanted);

	if (!stem) {
		diag_error(d, "experiment '%s': exists already: remove it or choose another name",
			   wanted);
		return -EEXIST;
	}
	n->name = next_name(n->dirfd, wanted, stem, ".er");
	diag_warn(d, "experiment '%s': exists already: recording as '%s'", wanted, n->name);
	return 0;
}

/* With -o: keep the name, or take the next number. */
static int choose_number(struct expname *n, const char *wanted, struct diag *d)
{
	if (taken(n->dirfd, wanted))
		return take_number(n, wanted, d);
	n->name = xstrdup(wanted);
	return 0;
}

static void default_name(struct expname *n, const struct plan *plan)
{
	const char *base = plan->group ? strrchr(plan->group, '/') : NULL;
	const char *stem = base ? base + 1 : plan->group ? plan->group : plan->program ? "test" : "ktest";

	n->name = next_name(n->dirfd, stem, strlen(stem) - (plan->group ? strlen(".erg") : 0), ".er");
}

/* Join -d and the directory part of -o. */
static char *directory(const struct plan *plan)
{
	const char *slash = plan->name ? strrchr(plan->name, '/') : NULL;
	int len = slash ? slash - plan->name : 0;

	if (slash == plan->name && slash)
		return xstrdup("/");
	if (plan->dir && slash)
		return xasprintf("%s/%.*s", plan->dir, len, plan->name);
	if (slash)
		return xstrndup(plan->name, len);
	return xstrdup(plan->dir ? plan->dir : ".");
}

int expname_choose(const struct plan *plan, struct expname *ret, struct diag *d)
{
	__cleanup(freep) char *dir = directory(plan);
	const char *slash = plan->name ? strrchr(plan->name, '/') : NULL;
	int err = 0;

	*ret = (struct expname){ .dirfd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC) };
	if (ret->dirfd < 0)
		return diag_errno(d, errno, "directory '%s': cannot record into it: choose another "
					    "with -d", dir);
	/* Check with the effective identity now: a later failure could leave files behind. */
	if (faccessat(ret->dirfd, ".", W_OK | X_OK, AT_EACCESS) < 0)
		return diag_errno(d, errno, "directory '%s': cannot record into it: choose another "
					    "with -d", dir);
	if (plan->flight_ns)
		ret->name = xstrdup(slash ? slash + 1 : plan->name ? plan->name : "flight.er");
	else if (plan->name)
		err = choose_number(ret, slash ? slash + 1 : plan->name, d);
	else
		default_name(ret, plan);
	if (err)
		return err;
	ret->path = strcmp(dir, ".") ? xasprintf("%s/%s", dir, ret->name) : xstrdup(ret->name);
	if (plan->group)
		ret->group = plan->dir && *plan->group != '/' ?
				     xasprintf("%s/%s", plan->dir, plan->group) :
				     xstrdup(plan->group);
	return 0;
}

/* The length of the stem, with or without a number behind it. */
static size_t stem_of(const struct expname *n)
{
	size_t stem = stem_length(n->name);

	return stem ? stem : strlen(n->name) - strlen(".er");
}

char *expname_stem(const struct expname *n)
{
	return xstrndup(n->name, stem_of(n));
}

char *expname_dumps(const struct expname *n)
{
	size_t dirlen = strlen(n->path) - strlen(n->name);

	return xasprintf("%.*s.N", (int)(dirlen + stem_of(n)), n->path);
}

char *expname_dump(const struct expname *n)
{
	return next_name(n->dirfd, n->name, stem_of(n), "");
}

/* Put `ret`, which has a name, beside `n`. */
static void place_beside(const struct expname *n, struct expname *ret)
{
	size_t dirlen = strlen(n->path) - strlen(n->name);

	ret->dirfd = fcntl(n->dirfd, F_DUPFD_CLOEXEC, 0);
	ret->path = xasprintf("%.*s%s", (int)dirlen, n->path, ret->name);
	ret->group = n->group ? xstrdup(n->group) : NULL;
}

void expname_next(const struct expname *n, struct expname *ret)
{
	*ret = (struct expname){ .name = next_name(n->dirfd, n->name, stem_of(n), ".er") };
	place_beside(n, ret);
}

int expname_evade(const struct expname *n, struct expname *ret, struct diag *d)
{
	int err;

	*ret = (struct expname){ .dirfd = n->dirfd };
	err = take_number(ret, n->name, d);
	if (!err)
		place_beside(n, ret);
	return err;
}

/* The line of an experiment in its group file. The caller frees it. */
static char *entry(const struct expname *n, const char *path)
{
	const char *slash = strrchr(n->group, '/'), *name = strrchr(path, '/');
	size_t dirlen = name ? name + 1 - path : 0;
	char *absolute;

	if ((slash ? (size_t)(slash + 1 - n->group) : 0) == dirlen &&
	    !strncmp(n->group, path, dirlen))
		return xstrdup(path + dirlen);
	absolute = realpath(path, NULL);
	return absolute ? absolute : xstrdup(path);
}

int expname_join_group(const struct expname *n, struct diag *d)
{
	__cleanup(freep) char *line = n->group ? entry(n, n->path) : NULL;

	return line ? group_add(n->group, line, d) : 0;
}

int expname_leave_group(const struct expname *n, const char *path, struct diag *d)
{
	__cleanup(freep) char *line = n->group ? entry(n, path) : NULL;

	return line ? group_remove(n->group, line, d) : 0;
}

void expname_free(struct expname *n)
{
	if (n->dirfd >= 0)
		close(n->dirfd);
	free(n->name);
	free(n->path);
	free(n->group);
	*n = (struct expname){ .dirfd = -1 };
}
