/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * make_compare DIR: before.1.er and after.1.er, of which every difference is known. Each sample is
 * 5 ms of one thread, each wait 20 ms of another:
 *
 *              before   after
 *   f             400     800 samples
 *   g             800     400
 *   old           400       -  it vanished
 *   young           -     400  it is new
 *   little        100     110  a difference that sampling explains
 *   lock_it        10      40 waits for a lock
 *   (cut)           -      20 samples of which the callers are unknown
 *
 * With each sample the counter cycles overflowed once, after CYCLES.
 *
 * The functions of the second recording have other addresses. In it thread 1 lost 7 records in the
 * third second, and a thread without events lost 2 in the sixth.
 */
#include <stdio.h>

#include "tests/fixtures/exp_builder.h"

struct load {
	const char *stack;
	unsigned n;
};

static const struct load before[] = {
	{ "main>f", 400 }, { "main>g", 800 }, { "main>little", 100 }, { "main>old", 400 }, { NULL, 0 },
};

static const struct load after[] = {
	{ "main>young", 400 }, { "main>little", 110 }, { "main>g", 400 }, { "main>f", 800 },
	{ "...>cut", 20 }, { NULL, 0 },
};

enum { CYCLES = 2000003 };

static const struct exp_counter_desc cycles = { 0, "cycles", "cycles", "CPU Cycles", CYCLES, false, false };

static void put_overflow(struct exp_builder *b, const char *stack)
{
	int64_t values[] = { 1, 1, 0, exp_builder_now(b), exp_builder_stack(b, stack), 0, CYCLES, 0 };

	expwriter_packet(exp_builder_writer(b), ER_PKT_HWC, values, NULL);
}

static struct exp_builder *record(const char *dir, const char *name, const struct load *load,
				  unsigned nwaits)
{
	struct exp_builder *b = exp_builder_new(dir, name);
	const struct wait_info lock = { .reason = REASON_USER_LOCK, .syscall = 202,
					.flags = WFLAG_TRACED, .length_ns = 20 * BUILDER_TICK_NS };

	for (unsigned i = 0; i < nwaits; i++)
		exp_builder_wait(b, 2, "start>lock_it>k:futex_wait", MS_USER_LOCK, 20, &lock);
	exp_builder_at(b, 0);
	expwriter_counter_profile(exp_builder_writer(b), ER_PKT_HWC, &cycles, 1);
	for (; load->stack; load++) {
		for (unsigned i = 0; i < load->n; i++) {
			exp_builder_profile(b, 1, load->stack, MS_USER, 5);
			put_overflow(b, load->stack);
		}
	}
	return b;
}

int main(int argc, char **argv)
{
	struct exp_builder *b;

	if (argc != 2) {
		fprintf(stderr, "usage: make_compare DIR\n");
		return 2;
	}
	exp_builder_close(record(argv[1], "before.1.er", before, 10));
	b = record(argv[1], "after.1.er", after, 40);
	expwriter_replace(exp_builder_writer(b), "recorder.xml",
		"<recorder version=\"1\" pid=\"7\" state=\"closed\"/>\n"
		"<ring cpu=\"0\" produced=\"1779\" recorded=\"1770\" lost=\"9\"/>\n"
		"<loss second=\"2\" pid=\"4711\" tid=\"1\" kind=\"clock\" count=\"7\"/>\n"
		"<loss second=\"5\" pid=\"4711\" tid=\"99\" kind=\"wait\" count=\"2\"/>\n"
		"<loss second=\"3\" pid=\"4711\" tid=\"1\" kind=\"counter\" count=\"5\"/>\n");
	exp_builder_close(b);
	return 0;
}
