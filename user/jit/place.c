/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "user/jit/place.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/base/buf.h"
#include "user/space/opener.h"
#include "user/space/procfs.h"
#include "user/space/procmap.h"

/* The text behind a heading of /proc/PID/status, such as "\nNSpid:"; NULL: there is none. */
static const char *line_of(const char *status, const char *heading)
{
	const char *p = strstr(status, heading);

	return p ? p + strlen(heading) : NULL;
}

/* Parses "real effective saved file-system". */
static bool parse_uid(const char *p, uid_t *ret)
{
	char *end;

	if (!p)
		return false;
	strtoul(p, &end, 10);
	*ret = strtoul(end, &end, 10);
	return *end == '\t';
}

/* Parses one ID for each nested PID namespace, the innermost last. */
static bool parse_inner(const char *p, pid_t *ret)
{
	char *end;

	*ret = 0;
	while (p && *p == '\t') {
		*ret = strtol(p, &end, 10);
		p = end;
	}
	return *ret > 0;
}

static int read_status(pid_t pid, struct jit_place *ret)
{
	struct buf b = { 0 };
	int err = procfs_read(pid, "status", &b);

	buf_add(&b, "", 1);
	if (!err && (!parse_uid(line_of(b.data, "\nUid:"), &ret->uid) ||
		     !parse_inner(line_of(b.data, "\nNSpid:"), &ret->inner)))
		err = -EINVAL;
	buf_free(&b);
	return err;
}

int jit_place_open(pid_t pid, struct jit_place *ret)
{
	int err;

	*ret = (struct jit_place){ .pid = pid, .dir = -1 };
	err = read_status(pid, ret);
	if (err)
		return err;
	ret->dir = opener_root_dir(pid, "tmp");
	return ret->dir < 0 ? ret->dir : 0;
}

void jit_place_close(struct jit_place *p)
{
	if (p->dir >= 0)
		close(p->dir);
	p->dir = -1;
}

int jit_place_map(const struct jit_place *p)
{
	char name[32];

	snprintf(name, sizeof(name), "perf-%d.map", p->inner);
	return opener_below(p->pid, p->dir, name, p->uid);
}

const struct mapping *jit_place_dump_mapping(const struct jit_place *p, const struct image *im)
{
	char name[32];
	size_t n = snprintf(name, sizeof(name), "/jit-%d.dump", p->inner);

	vec_for_each(m, &im->space->maps) {
		size_t len = strlen(m->path);

		if (len >= n && !strcmp(m->path + len - n, name))
			return m;
	}
	return NULL;
}

int jit_place_dump(const struct jit_place *p, const struct mapping *m)
{
	return opener_mapped(p->pid, m, true, p->uid);
}
