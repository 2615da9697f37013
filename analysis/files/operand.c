/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/files/operand.h"

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
#include "analysis/experiment/experiment.h"

int operand_init(struct operand *p, const char *path, struct diag *d)
{
	__cleanup(freep) char *parent = NULL;
	size_t n = strlen(path);
	char *slash;

	while (n > 1 && path[n - 1] == '/')
		n--;
	*p = (struct operand){ .dir = -1, .path = xstrndup(path, n) };
	slash = strrchr(p->path, '/');
	p->name = slash ? slash + 1 : p->path;
	if (!p->name[0] || !strcmp(p->name, ".") || !strcmp(p->name, ".."))
		return diag_error(d, "'%s': is not the name of an experiment", path);
	parent = slash ? xstrndup(p->path, slash == p->path ? 1 : slash - p->path) : xstrdup(".");
	p->dir = open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (p->dir < 0)
		diag_errno(d, errno, "'%s': cannot open its directory", path);
	return p->dir < 0 ? -1 : 0;
}

void operand_free(struct operand *p)
{
	if (p->dir >= 0)
		close(p->dir);
	free(p->path);
	*p = (struct operand){ .dir = -1 };
}

bool operand_exists(const struct operand *p)
{
	struct stat st;

	return fstatat(p->dir, p->name, &st, AT_SYMLINK_NOFOLLOW) == 0;
}

bool operand_inside(int inner, int outer)
{
	__cleanup(closep) int at = openat(inner, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct stat here, there, last = { 0 };

	if (at < 0 || fstat(outer, &there) < 0)
		return false;
	while (!fstat(at, &here) && (here.st_ino != last.st_ino || here.st_dev != last.st_dev)) {
		int up;

		if (here.st_ino == there.st_ino && here.st_dev == there.st_dev)
			return true;
		up = openat(at, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (up < 0)
			return false;
		close(at);
		at = up;
		last = here;
	}
	return false;
}

/* The files that er_kernel, gprofng's collector and the tools create in an experiment. */
static bool belongs(const char *name)
{
	static const char *const known[] = {
		".", "..", "log.xml", "map.xml", "data.frameinfo", "profile", "hwcounters",
		"synctrace", "heaptrace", "iotrace", "overview", "dyntext", "dynscopes", "jclasses",
		"jdynclasses", "kallmodsyms", "notes", "labels.xml", "warnings.xml", "archives",
		"archive.log", "recorder.xml", "threads.xml", "threads.xml.gz", "names.xml",
		"names.xml.gz", "processes.xml", "processes.xml.gz", "spans", "spans.xml", "probes",
		"spanstrings.xml.gz", "snapshots.xml.gz", "common.xml", "common.kallmodsyms",
		"ifreq", "omptrace", "dataraces", "deadlocks",
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (!strcmp(name, known[i]))
			return true;
	}
	return name[0] == '_' && is_experiment_name(name);
}

static bool only_what_belongs(int fd)
{
	int own = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = own < 0 ? NULL : fdopendir(own);
	struct dirent *e;
	bool good = dir;

	while (good && (e = readdir(dir)))
		good = belongs(e->d_name);
	if (dir)
		closedir(dir);
	return good;
}

int operand_open_experiment(const struct operand *p, struct diag *d)
{
	struct stat st;
	int fd;

	if (!is_experiment_name(p->name))
		return diag_error(d, "'%s': the name of an experiment ends in .er", p->path);
	if (fstatat(p->dir, p->name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(st.st_mode))
		return diag_error(d, "experiment '%s': is a symbolic link: "
				  "name the directory it leads to", p->path);
	fd = openat(p->dir, p->name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0) {
		diag_errno(d, errno, "experiment '%s': cannot open", p->path);
		return -1;
	}
	if (fstatat(fd, "log.xml", &st, AT_SYMLINK_NOFOLLOW) == 0 || only_what_belongs(fd))
		return fd;
	close(fd);
	return diag_error(d, "'%s': is no experiment: there is no log.xml in it", p->path);
}

int operand_each(const char *operand, int (*fn)(void *ctx, const char *path, struct diag *d),
		 void *ctx, struct diag *d)
{
	str_vec members = { 0 };
	int err;

	if (!is_group_name(operand))
		return fn(ctx, operand, d);
	err = group_read(operand, &members, d);
	vec_for_each(m, &members) {
		err |= fn(ctx, *m, d);
		free(*m);
	}
	vec_free(&members);
	return err;
}
