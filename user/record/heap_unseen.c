/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "user/record/heap_unseen.h"

#include <stdbool.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "analysis/base/alloc.h"
#include "analysis/base/buf.h"
#include "analysis/base/map.h"
#include "user/probe/heap_sites.h"
#include "user/space/mapped.h"
#include "user/space/opener.h"
#include "user/space/procfs.h"
#include "user/space/procmap.h"
#include "user/space/space.h"

enum { NAMED = 8 }; /* programs that are named */

struct heap_unseen {
	const struct heap_sites *sites;
	struct map looked;   /* by the number of the file */
	struct buf names;
	size_t n;
};

struct heap_unseen *heap_unseen_new(const struct heap_sites *sites)
{
	struct heap_unseen *u = xcalloc(1, sizeof(*u));

	u->sites = sites;
	return u;
}

void heap_unseen_free(struct heap_unseen *u)
{
	if (!u)
		return;
	map_free(&u->looked);
	buf_free(&u->names);
	free(u);
}

static uid_t real_user(pid_t pid)
{
	struct buf b = { 0 };
	unsigned uid = 0;
	char *line;

	if (!procfs_read(pid, "status", &b) && (line = strstr(b.data, "\nUid:")))
		sscanf(line, "\nUid: %u", &uid);
	buf_free(&b);
	return uid;
}

/* Whether the kernel has removed the breakpoints when the process began to run this program. */
static bool changes_user(const struct image *im, const struct stat *st)
{
	return st->st_mode & S_ISUID && st->st_uid != real_user(im->pid);
}

static bool is_known(const struct heap_sites *h, const struct stat *st)
{
	vec_for_each (b, &h->files.binaries)
		if (b->dev == st->st_dev && b->ino == st->st_ino)
			return true;
	return false;
}

static void name(struct heap_unseen *u, const struct image *im, const char *why, const char *path)
{
	if (u->n++ < NAMED)
		buf_printf(&u->names, "%s%s (%s%s)", u->n > 1 ? ", " : "", im->comm, why, path);
}

void heap_unseen_mapped(void *ctx, const struct image *im, const struct mapping *m)
{
	struct heap_unseen *u = ctx;
	const struct mapping *first = image_program(im);
	bool fresh, program = first && first->start == m->start;
	struct stat st;
	int fd;

	map_put(&u->looked, m->file, &fresh);
	fd = fresh && m->file ? mapped_open(im->pid, m) : -1;
	if (fd < 0)
		return;
	if (!fstat(fd, &st) && !is_known(u->sites, &st)) {
		if (program && changes_user(im, &st))
			name(u, im, "set-user-id", "");
		else if (heap_sites_in(fd, program))
			name(u, im, "by functions of ", m->path);
	}
	opener_close(&fd);
}

char *heap_unseen_text(const struct heap_unseen *u)
{
	if (!u || !u->n)
		return NULL;
	return xasprintf("-H: allocations of some programs that the process has started are not traced: %s%s: let collect start "
			 "them", u->names.data, u->n > NAMED ? " and others" : "");
}
