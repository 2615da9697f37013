/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "user/record/io_log.h"

#include <linux/magic.h>
#include <stdio.h>
#include <string.h>

#include "user/record/drops.h"

enum { FSTYPE_UNKNOWN = 24 }; /* field IOFSTYPE: the format's names are those of old systems */

void io_values(const void *record, int64_t *ret)
{
	const struct er_io *r = record;

	*ret++ = r->type;
	*ret++ = r->fd;
	*ret++ = r->bytes;
	*ret++ = r->began_ns;
	*ret++ = r->from;
	*ret++ = FSTYPE_UNKNOWN;
	*ret++ = r->at.h.seq;
	*ret++ = 0;
}

/* The bytes of the next name in `at`. */
static size_t part_size(const char *at, const char *end)
{
	return strnlen(at, end - at);
}

/* Names come from the file up to the root: write them from the end of `ret`, and move them then. */
static void put_path(const struct er_io *r, char ret[KIND_TEXT])
{
	const char *at = r->name, *end = r->name + r->nname;
	char *to = ret + KIND_TEXT - 1;

	*to = '\0';
	while (at < end) {
		size_t n = part_size(at, end);

		if (n + 1 > (size_t)(to - ret))
			break;
		to -= n;
		memcpy(to, at, n);
		*--to = '/';
		at += n + 1;
	}
	if (!*to)
		*--to = '/';
	memmove(ret, to, strlen(to) + 1);
}

static const char *pseudo_kind(uint32_t fs)
{
	static const struct {
		uint32_t fs;
		const char *kind;
	} kinds[] = {
		{ SOCKFS_MAGIC, "socket" }, { PIPEFS_MAGIC, "pipe" }, { ANON_INODE_FS_MAGIC, "anonymous" },
		{ TMPFS_MAGIC, "memory" },
	};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (kinds[i].fs == fs)
			return kinds[i].kind;
	return "file";
}

void io_name(const void *record, char ret[KIND_TEXT])
{
	const struct er_io *r = record;
	int n = part_size(r->name, r->name + r->nname);
	size_t mark = strlen("…");

	*ret = '\0';
	switch (r->name_kind) {
	case ER_IO_NAME_GIVEN:
		snprintf(ret, KIND_TEXT, "%.*s", n, r->name);
		break;
	case ER_IO_NAME_PATH:
		put_path(r, ret);
		break;
	case ER_IO_NAME_CUT:
		put_path(r, ret);
		memmove(ret + mark, ret, strlen(ret) + 1);
		memcpy(ret, "…", mark);
		break;
	case ER_IO_NAME_PSEUDO:
		snprintf(ret, KIND_TEXT, "<%s%s%.*s>", pseudo_kind(r->fs), n ? " " : "", n, r->name);
		break;
	}
}

void io_drops(const struct capture *c, const struct drops *base, struct drops *ret)
{
	struct capture_io io;

	capture_io_counts(c, &io);
	ret->n[DROP_IO_OPEN] = io.open;
	ret->n[DROP_IO_FOREIGN] = io.foreign - base->n[DROP_IO_FOREIGN];
}
