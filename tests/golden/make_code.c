/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * make_code DIR WORK.so: code.1.er, an experiment that ran the functions of
 * tests/fixtures/source/work.s, archived as a copy; bare.1.er, the same without
 * any archive, so that neither names nor lines nor code are known.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "analysis/base/alloc.h"
#include "analysis/base/diag.h"
#include "analysis/symbols/archive.h"
#include "tests/fixtures/exp_builder.h"

static const char path[] = "/opt/demo/work.so";

/* .text, linked at 0x2000, ran at 0x7f0000001000. Callers' pcs are within the call. */
static const struct {
	const char *stack;
	unsigned ticks;
} stacks[] = {
	{ "0x7f00000010cc>0x7f0000001077", 60 }, /* work > hot: mix, inlined in twice */
	{ "0x7f00000010cc>0x7f000000107f", 30 },
	{ "0x7f00000010cc>0x7f00000010a7", 8 },	 /* hot itself */
	{ "0x7f00000010d5>0x7f0000001030", 45 }, /* work > warm: mix */
	{ "0x7f00000010d5>0x7f0000001022", 5 },
	{ "0x7f00000010cd", 2 }, /* work */
};

static struct exp_builder *build(const char *dir, const char *name)
{
	struct exp_builder *b = exp_builder_new(dir, name);

	exp_builder_segment(b, path, 0x7f0000001000, 0x1000, 0x1000);
	for (size_t i = 0; i < sizeof(stacks) / sizeof(stacks[0]); i++)
		exp_builder_profile(b, 1, stacks[i].stack, MS_USER, stacks[i].ticks);
	return b;
}

int main(int argc, char **argv)
{
	struct diag d = { .prefix = "make_code" };
	int dir, object, rc;
	char *name;

	if (argc != 3) {
		fprintf(stderr, "usage: make_code DIR WORK.so\n");
		return 2;
	}
	exp_builder_close(build(argv[1], "bare.1.er"));
	exp_builder_close(build(argv[1], "code.1.er"));
	name = xasprintf("%s/code.1.er", argv[1]);
	dir = open(name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	object = open(argv[2], O_RDONLY | O_CLOEXEC);
	rc = dir < 0 || object < 0 || archive_add(dir, object, path, ARCHIVE_COPY, &d);
	free(name);
	close(object);
	close(dir);
	return rc != 0;
}
