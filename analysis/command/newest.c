/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/command/newest.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "analysis/base/alloc.h"
#include "analysis/experiment/experiment.h"

/* The time at which the experiment's log.xml was written; false: it is not an experiment. */
static bool written(const char *name, struct timespec *ret)
{
	__cleanup(freep) char *log = xasprintf("%s/log.xml", name);
	struct stat dir, st;

	if (fstatat(AT_FDCWD, name, &dir, AT_SYMLINK_NOFOLLOW) || !S_ISDIR(dir.st_mode) ||
	    fstatat(AT_FDCWD, log, &st, AT_SYMLINK_NOFOLLOW) || !S_ISREG(st.st_mode))
		return false;
	*ret = st.st_mtim;
	return true;
}

static bool is_newer(const struct timespec *a, const char *name, const struct timespec *b,
		     const char *than)
{
	if (a->tv_sec != b->tv_sec)
		return a->tv_sec > b->tv_sec;
	if (a->tv_nsec != b->tv_nsec)
		return a->tv_nsec > b->tv_nsec;
	return strverscmp(name, than) > 0;
}

char *newest_experiment(void)
{
	struct timespec best = { 0 }, t;
	char *newest = NULL;
	DIR *dir = opendir(".");

	for (struct dirent *e; dir && (e = readdir(dir));) {
		if (!is_experiment_name(e->d_name) || !written(e->d_name, &t) ||
		    (newest && !is_newer(&t, e->d_name, &best, newest)))
			continue;
		free(newest);
		newest = xstrdup(e->d_name);
		best = t;
	}
	if (dir)
		closedir(dir);
	return newest;
}
