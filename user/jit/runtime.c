/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "user/jit/runtime.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "user/space/procmap.h"

/*
 * A program, or a library such as "libnode.so.108". A library decides before the program, because
 * many programs can load it.
 */
static const struct runtime {
	const char *file;
	bool library;
	const char *code;
} runtimes[] = {
	{ "libjvm.so", true, "<Java>" },
	{ "libnode.so", true, "<JavaScript>" },
	{ "node", false, "<JavaScript>" },
	{ "nodejs", false, "<JavaScript>" },
	{ "chromium", false, "<JavaScript>" },
	{ "chrome", false, "<JavaScript>" },
	{ "electron", false, "<JavaScript>" },
};

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static bool is_library(const struct mapping *m, const char *file)
{
	const char *name = base_name(m->path);
	size_t n = strlen(file);

	return !strncmp(name, file, n) && (!name[n] || name[n] == '.');
}

static const struct mapping *library(const struct image *im, const char *file)
{
	vec_for_each(m, &im->space->maps) {
		if (is_library(m, file))
			return m;
	}
	return NULL;
}

bool runtime_is_java(const struct mapping *m)
{
	return is_library(m, "libjvm.so");
}

const char *runtime_code(const struct image *im)
{
	for (size_t i = 0; i < sizeof(runtimes) / sizeof(runtimes[0]); i++) {
		const struct runtime *r = &runtimes[i];

		if (r->library ? library(im, r->file) != NULL : !strcmp(image_file(im), r->file))
			return r->code;
	}
	return NULL;
}

/* It is asked for each sample of a process that generates code, so the answer is kept. */
uint64_t runtime_java(const struct image *im)
{
	struct space *sp = im->space;
	const struct mapping *m;

	if (sp->java.nmaps != sp->maps.len || sp->java.nold != sp->nold) {
		m = library(im, "libjvm.so");
		sp->java.answer = m && m->pgoff < m->start ? m->start - m->pgoff : 0;
		sp->java.nmaps = sp->maps.len;
		sp->java.nold = sp->nold;
	}
	return sp->java.answer;
}
