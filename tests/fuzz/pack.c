/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/fuzz/pack.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analysis/base/alloc.h"
#include "tests/fixtures/tempdir.h"

/* Stored corpora contain these numbers: append only. */
static const char *const names[] = {
	"log.xml", "map.xml", "data.frameinfo", "profile", "synctrace", "hwcounters", "heaptrace",
	"iotrace", "overview", "kallmodsyms", "recorder.xml", "threads.xml", "notes",
	"warnings.xml", PACK_SUB "/log.xml", PACK_SUB "/map.xml", PACK_SUB "/data.frameinfo", PACK_SUB "/profile",
	PACK_SUB "/kallmodsyms", "labels.xml", "spans.xml", "spanstrings.xml",
	"snapshots.xml",
};

enum { NNAMES = sizeof(names) / sizeof(names[0]), HEAD = 4 };

void pack_add(struct buf *b, const char *name, const void *data, size_t size)
{
	for (size_t i = 0; i < NNAMES; i++) {
		unsigned char head[HEAD] = { i, size, size >> 8, size >> 16 };

		if (strcmp(names[i], name))
			continue;
		buf_add(b, head, HEAD);
		buf_add(b, data, size);
	}
}

char *pack_path(void)
{
	char *base = tempdir_new(), *path = xasprintf("%s/x.er", base);

	free(base);
	return path;
}

static void clear(const char *dir)
{
	for (size_t i = 0; i < NNAMES; i++) {
		char *path = xasprintf("%s/%s", dir, names[i]);

		if (unlink(path) < 0 && errno != ENOENT)
			abort();
		free(path);
	}
}

void pack_write(const char *dir, const void *data, size_t size)
{
	const unsigned char *p = data, *end = p + size;
	char *sub = xasprintf("%s/" PACK_SUB, dir);

	if ((mkdir(dir, 0700) < 0 || mkdir(sub, 0700) < 0) && errno != EEXIST)
		abort();
	free(sub);
	clear(dir);
	while (end - p >= HEAD) {
		const char *name = names[p[0] % NNAMES];
		size_t n = p[1] | p[2] << 8 | p[3] << 16;

		p += HEAD;
		n = n < (size_t)(end - p) ? n : (size_t)(end - p);
		tempdir_write(dir, name, p, n);
		p += n;
	}
}
