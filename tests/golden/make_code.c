/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * make_code DIR WORK.so writes four experiments. code.1.er ran the functions of
 * tests/fixtures/source/work.s and has a copy of the library in its archives. bare.1.er is the same
 * without archives, so names, lines and code are unknown. cold.1.er also ran the code that the
 * compiler split off hot(). counted.1.er is code.1.er with counters, which three threads on two CPUs overflowed.
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

/* .text is linked at 0x2000 and ran at 0x7f0000001000. A caller's pc lies inside its call. */
struct stack {
	const char *names;
	unsigned ticks;
};

static const struct stack stacks[] = {
	{ "0x7f00000010cc>0x7f0000001077", 60 }, /* work > hot: mix, inlined in twice */
	{ "0x7f00000010cc>0x7f000000107f", 30 },
	{ "0x7f00000010cc>0x7f00000010a7", 8 },	 /* hot itself */
	{ "0x7f00000010d5>0x7f0000001030", 45 }, /* work > warm: mix */
	{ "0x7f00000010d5>0x7f0000001022", 5 },
	{ "0x7f00000010cd", 2 }, /* work */
	{ NULL, 0 },
};

static const struct stack cold_stacks[] = {
	{ "0x7f00000010cc>0x7f0000001077", 10 },	       /* work > hot */
	{ "0x7f00000010cc>0x7f0000001003", 3 },	       /* work > (hot >) hot.cold */
	{ "0x7f00000010cc>0x7f000000100c>0x7f0000001000", 20 }, /* the same > fail */
	/* hot > hot.cold: recorded as if hot() had called itself */
	{ "0x7f00000010cc>0x7f0000001077>0x7f0000001003", 5 },
	{ NULL, 0 },
};

static struct exp_builder *build(const char *dir, const char *name, const struct stack *st)
{
	struct exp_builder *b = exp_builder_new(dir, name);

	exp_builder_segment(b, path, 0x7f0000001000, 0x1000, 0x1000);
	for (; st->names; st++)
		exp_builder_profile(b, 1, st->names, MS_USER, st->ticks);
	return b;
}

static const struct exp_counter_desc counters[] = {
	{ 0, "cycles", "cycles", "CPU Cycles", 9999991, true, false },
	{ 1, "insts", "insts", "Instructions Executed", 7000003, false, false },
};

/* Numbers that have no common factor, so that each filter leaves another sum. */
static struct exp_builder *count(const char *dir)
{
	enum { NSTACKS = sizeof(stacks) / sizeof(stacks[0]) - 1, PACKETS = 700 };
	struct exp_builder *b = build(dir, "counted.1.er", stacks);

	expwriter_counter_profile(exp_builder_writer(b), ER_PKT_HWC, counters, 2);
	for (int i = 0; i < PACKETS; i++) {
		int thread = 1 + i % 3, tag = i % 7 < 3;
		const int64_t values[] = { thread, thread, i / 5 % 2, exp_builder_now(b),
					   exp_builder_stack(b, stacks[i * i % NSTACKS].names), tag,
					   counters[tag].interval + i, i };

		expwriter_packet(exp_builder_writer(b), ER_PKT_HWC, values, NULL);
		exp_builder_sleep(b, 137000);
	}
	return b;
}

/* Put the object into the experiment's archives. */
static int archive(const char *experiments, const char *experiment, const char *file,
		   struct diag *d)
{
	char *name = xasprintf("%s/%s", experiments, experiment);
	int dir = open(name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int object = open(file, O_RDONLY | O_CLOEXEC);
	int rc = dir < 0 || object < 0 || archive_add(dir, object, path, ARCHIVE_COPY, d);

	free(name);
	close(object);
	close(dir);
	return rc;
}

int main(int argc, char **argv)
{
	struct diag d = { .prefix = "make_code" };

	if (argc != 3) {
		fprintf(stderr, "usage: make_code DIR WORK.so\n");
		return 2;
	}
	exp_builder_close(build(argv[1], "bare.1.er", stacks));
	exp_builder_close(build(argv[1], "code.1.er", stacks));
	exp_builder_close(build(argv[1], "cold.1.er", cold_stacks));
	exp_builder_close(count(argv[1]));
	return archive(argv[1], "code.1.er", argv[2], &d) || archive(argv[1], "counted.1.er", argv[2], &d) ||
	       archive(argv[1], "cold.1.er", argv[2], &d);
}
