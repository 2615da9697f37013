/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Makes a cgroup for a test, of version 2 or 1, whichever has the controller here. */
#ifndef CGROUP_H
#define CGROUP_H

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static inline bool cgroup_put(const char *dir, const char *file, const char *text)
{
	char path[128];
	bool ok;
	int fd;

	snprintf(path, sizeof(path), "%s/%s", dir, file);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	ok = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);
	if (fd >= 0)
		close(fd);
	return ok;
}

/*
 * Create a cgroup that has the file `v2`, or one below the version 1 controller that has the file
 * `v1`. Either name may be NULL. Returns its path in a static buffer, or NULL if there is none.
 * Remove it with rmdir.
 */
static inline const char *cgroup_make(const char *v2, const char *controller, const char *v1)
{
	static char path[96];
	char file[160];

	cgroup_put("/sys/fs/cgroup", "cgroup.subtree_control", "+cpu");
	for (int i = 0; i < 3; i++) {
		const char *roots[] = { "", "unified/", controller }, *wanted = i == 2 ? v1 : v2;

		if (!wanted)
			continue;
		snprintf(path, sizeof(path), "/sys/fs/cgroup/%s%ser-selftest-%d", roots[i],
			 i == 2 ? "/" : "", getpid());
		if (mkdir(path, 0755))
			continue;
		snprintf(file, sizeof(file), "%s/%s", path, wanted);
		if (!access(file, W_OK))
			return path;
		rmdir(path);
	}
	return NULL;
}

#endif
