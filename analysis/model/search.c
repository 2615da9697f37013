/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/model/search.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/base/buf.h"
#include "analysis/base/diag.h"
#include "analysis/base/file.h"
#include "analysis/model/session.h"
#include "analysis/symbols/archive.h"

static const char experiments[] = "$expts";

void search_init(struct search_path *sp)
{
	*sp = (struct search_path){ 0 };
	search_set(sp, "$expts:.");
}

static void free_dirs(struct search_path *sp)
{
	vec_for_each (d, &sp->dirs)
		free(*d);
	vec_free(&sp->dirs);
}

void search_free(struct search_path *sp)
{
	free_dirs(sp);
	vec_for_each (m, &sp->maps) {
		free(m->from);
		free(m->to);
	}
	vec_free(&sp->maps);
}

static void add_dir(struct search_path *sp, const struct buf *b)
{
	if (!b->len)
		return;
	vec_push(&sp->dirs, xstrdup(strcmp(b->data, "$") ? b->data : experiments));
}

void search_add(struct search_path *sp, const char *list)
{
	struct buf b = { 0 };

	sp->changes++;
	for (; *list; list++) {
		if (*list == ':') {
			add_dir(sp, &b);
			buf_clear(&b);
			continue;
		}
		if (*list == '\\' && list[1])
			list++;
		buf_add(&b, list, 1);
	}
	add_dir(sp, &b);
	buf_free(&b);
}

void search_set(struct search_path *sp, const char *list)
{
	free_dirs(sp);
	search_add(sp, list);
}

void search_print(const struct search_path *sp, struct buf *b)
{
	buf_puts(b, "");
	for (size_t i = 0; i < sp->dirs.len; i++) {
		if (i)
			buf_puts(b, ":");
		for (const char *p = sp->dirs.data[i]; *p; p++) {
			if (*p == ':' || *p == '\\')
				buf_puts(b, "\\");
			buf_add(b, p, 1);
		}
	}
}

int search_map(struct search_path *sp, const char *from, const char *to, struct diag *d)
{
	if (!*from || !*to)
		return diag_error(d, "pathmap: a prefix is empty: pathmap old-prefix new-prefix");
	sp->changes++;
	vec_push(&sp->maps, (struct pathmap){ xstrdup(from), xstrdup(to) });
	return 0;
}

/* --- looking --- */

/* Takes ownership of path. Opens it and stores it in *found; -1: cannot be opened. */
static int try_path(char *path, char **found)
{
	int fd = file_open_regular(path);

	if (fd < 0)
		free(path);
	else
		*found = path;
	return fd;
}

/* An experiment has no source tree: only the archive of the file's own name is tried. */
static int try_archive(const struct experiment *e, const char *path, char **found)
{
	int dir = open(e->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC), fd;
	char *name;

	if (dir < 0)
		return -1;
	fd = archive_open(dir, path);
	close(dir);
	if (fd < 0)
		return -1;
	name = archive_name(path);
	*found = xasprintf("%s/archives/%s", e->path, name);
	free(name);
	return fd;
}

static int try_dir(const struct session *s, const char *dir, const char *path, char **found)
{
	int fd = -1;

	if (!strcmp(dir, experiments)) {
		for (size_t i = 0; s && fd < 0 && i < s->experiments.len; i++) {
			if (!s->experiments.data[i]->founder)
				fd = try_archive(s->experiments.data[i], path, found);
		}
		return fd;
	}
	while (fd < 0) {
		fd = try_path(xasprintf("%s%s%s", dir, *path == '/' ? "" : "/", path), found);
		path = strchr(path + 1, '/');
		if (!path)
			break;
	}
	return fd;
}

static bool is_prefix(const char *prefix, const char *path)
{
	size_t n = strlen(prefix);

	return !strncmp(prefix, path, n) && (!path[n] || path[n] == '/' || prefix[n - 1] == '/');
}

int search_open(const struct search_path *sp, const struct session *s, const char *path,
		char **found)
{
	int fd = -1;

	if (!*path)
		return -1;
	for (size_t i = 0; fd < 0 && i < sp->dirs.len; i++)
		fd = try_dir(s, sp->dirs.data[i], path, found);
	for (size_t i = 0; fd < 0 && i < sp->maps.len; i++) {
		const struct pathmap *m = &sp->maps.data[i];

		if (is_prefix(m->from, path))
			fd = try_path(xasprintf("%s%s", m->to, path + strlen(m->from)), found);
	}
	return fd >= 0 ? fd : try_path(xstrdup(path), found);
}
