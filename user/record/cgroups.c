/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "user/record/cgroups.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analysis/base/alloc.h"
#include "analysis/base/map.h"
#include "user/record/schedule.h"

enum { MAX_DEPTH = 32, MAX_GROUPS = 65536 };

#define AGAIN_NS 1000000000ULL

struct cgroups {
	const char *root; /* NULL: there is none */
	struct strtab paths;
	struct map by_id; /* inode number to an id of `paths` */
	uint64_t looked_ns;
};

/* The unified hierarchy is mounted alone, or next to those of version 1. */
static const char *mounted(void)
{
	static const char *const places[] = { "/sys/fs/cgroup", "/sys/fs/cgroup/unified" };
	char file[64];

	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		strcpy(stpcpy(file, places[i]), "/cgroup.controllers");
		if (!access(file, F_OK))
			return places[i];
	}
	return NULL;
}

struct cgroups *cgroups_new(const char *root)
{
	struct cgroups *c = xcalloc(1, sizeof(*c));

	c->root = root ? root : mounted();
	return c;
}

void cgroups_free(struct cgroups *c)
{
	if (!c)
		return;
	strtab_free(&c->paths);
	map_free(&c->by_id);
	free(c);
}

static void look(struct cgroups *c, int parent, const char *name, const char *path, int depth)
{
	int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct stat st;

	if (!dir) {
		closep(&fd);
		return;
	}
	if (!fstat(fd, &st) && c->by_id.len < MAX_GROUPS)
		*map_put(&c->by_id, st.st_ino, NULL) = strtab_id(&c->paths, *path ? path : "/");
	for (struct dirent *e; depth < MAX_DEPTH && (e = readdir(dir));) {
		__cleanup(freep) char *below = NULL;

		if (e->d_type != DT_DIR || e->d_name[0] == '.')
			continue;
		below = xasprintf("%s/%s", path, e->d_name);
		look(c, fd, e->d_name, below, depth + 1);
	}
	closedir(dir);
}

const char *cgroups_path(struct cgroups *c, uint64_t id)
{
	uint64_t *at = map_get(&c->by_id, id), t;

	if (!at && id && c->root) {
		t = now_ns();
		if (c->looked_ns && t - c->looked_ns < AGAIN_NS)
			return NULL;
		c->looked_ns = t;
		look(c, AT_FDCWD, c->root, "", 0);
		at = map_get(&c->by_id, id);
	}
	return at ? c->paths.strings[*at] : NULL;
}
