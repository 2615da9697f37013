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

/* Users may make any number of groups, with any names. */
enum {
	MAX_DEPTH = 32,
	MAX_PATH = 1024,    /* each thread's line contains the path */
	MAX_GROUPS = 16384, /* found in one look, or kept of several */
	REST = 20,          /* after a look, wait for so many times as long as it took */
};

#define AGAIN_NS 1000000000ULL

struct cgroups {
	const char *root; /* NULL: there is none */
	struct strtab paths;
	struct map by_id; /* inode number to an id of `paths` */
	uint64_t next_ns; /* no look before this time */
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

static bool is_group(const struct dirent *e)
{
	return e->d_type == DT_DIR && strcmp(e->d_name, ".") && strcmp(e->d_name, "..");
}

static void look(struct cgroups *c, int parent, const char *name, const char *path, int depth)
{
	int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *e;
	struct stat st;

	if (!dir) {
		closep(&fd);
		return;
	}
	if (!fstat(fd, &st))
		*map_put(&c->by_id, st.st_ino, NULL) = strtab_id(&c->paths, *path ? path : "/");
	while (depth < MAX_DEPTH && c->by_id.len < MAX_GROUPS && (e = readdir(dir))) {
		__cleanup(freep) char *below = is_group(e) ? xasprintf("%s/%s", path, e->d_name) : NULL;

		if (below && strlen(below) <= MAX_PATH)
			look(c, fd, e->d_name, below, depth + 1);
	}
	closedir(dir);
}

/* If no more can be kept, forget those that were found before: most of them may be gone. */
static void look_again(struct cgroups *c, uint64_t begin_ns)
{
	uint64_t rest;

	if (c->by_id.len >= MAX_GROUPS) {
		strtab_free(&c->paths);
		map_free(&c->by_id);
	}
	look(c, AT_FDCWD, c->root, "", 0);
	rest = (now_ns() - begin_ns) * REST;
	c->next_ns = now_ns() + (rest > AGAIN_NS ? rest : AGAIN_NS);
}

const char *cgroups_path(struct cgroups *c, uint64_t id)
{
	uint64_t *at = map_get(&c->by_id, id), t = now_ns();

	if (!at && id && c->root && t >= c->next_ns) {
		look_again(c, t);
		at = map_get(&c->by_id, id);
	}
	return at ? c->paths.strings[*at] : NULL;
}
