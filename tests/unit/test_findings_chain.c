/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The rule of findings on a chain of wakings. */
#include "tests/unit/findings_fixture.h"

/* client waits for front, which waits for back, which computes, or waits for the disk. */
static void make_chain(struct made *m, bool disk)
{
	enum { CLIENT = 5, FRONT, BACK };
	struct wait_info wait = { .reason = REASON_PIPE, .length_ns = 10 * MS,
				  .waker_pid = BUILDER_PID };

	*m = (struct made){ 0 };
	fixture_new(&m->o);
	for (unsigned i = 0; i < 40; i++) {
		wait.waker = FRONT;
		exp_builder_at(m->o.builder, i * 10 * MS);
		put_wait(&m->o, CLIENT, "main>ask", MS_SLEEP, 10, wait);
		wait.waker = BACK;
		exp_builder_at(m->o.builder, i * 10 * MS);
		put_wait(&m->o, FRONT, "main>pass", MS_SLEEP, 10, wait);
		exp_builder_at(m->o.builder, i * 10 * MS);
		if (disk)
			put_wait(&m->o, BACK, "main>load", MS_SLEEP, 10,
				 (struct wait_info){ .reason = REASON_DISK, .length_ns = 10 * MS });
		else
			exp_builder_profile(m->o.builder, BACK, "main>count", MS_USER, 10);
	}
	fixture_open(&m->o);
	make(m);
}

static void test_chain(void **state)
{
	const struct finding *g;
	struct made m;

	for (int disk = 0; disk < 2; disk++) {
		make_chain(&m, disk);
		g = finding_of(&m, "chain");
		assert_non_null(g);
		assert_non_null(strstr(g->text, disk ? ", which waited for the disk." : ", which computed."));
		assert_non_null(strstr(g->text, "`test` waited 400 ms for `test`, which waited for `test`"));
		assert_int_equal(g->figure_ns, 400 * MS);
		assert_false(g->exact);
		assert_string_equal(g->command, "-wakechain 4711/5");
		unmake(&m);
	}
}

/* A packet of a thread that ends at this time, all in ms. Waits are for threads in pipes, or for disks. */
static void put_until(struct made *m, unsigned thread, unsigned end, unsigned length, unsigned weight,
		      unsigned waker)
{
	struct wait_info wait = { .reason = waker ? REASON_PIPE : REASON_DISK,
				  .length_ns = length * (uint64_t)MS, .waker = waker,
				  .waker_pid = waker ? BUILDER_PID : 0 };

	exp_builder_at(m->o.builder, (uint64_t)(end - weight) * MS);
	if (length)
		put_wait(&m->o, thread, "main>wait", MS_SLEEP, weight, wait);
	else
		exp_builder_profile(m->o.builder, thread, "main>count", MS_USER, weight);
}

enum { CLIENT = 5, FRONT, BACK, CYCLES = 256 };

/*
 * In each 20 ms the client waits for 10 ms. Front gets its message after 1 ms and waits for back,
 * which gets its message after 1 ms more. In the first half of the cycles back waits for the disk for
 * 2 ms and then computes for 6 ms. There a half of the waits and of the computing is recorded, and a
 * quarter of the waits for the disk, in all combinations. In the second half back computes for 8 ms.
 * There all waits of the client and of front for back are recorded.
 */
static void put_cycle(struct made *m, unsigned i)
{
	unsigned at = 1000 + 20 * i;
	bool second = i >= CYCLES / 2;

	if (second || i & 1)
		put_until(m, CLIENT, at + 10, 10, second ? 10 : 20, FRONT);
	if (second || i & 2)
		put_until(m, FRONT, at + 10, 9, second ? 9 : 18, BACK);
	if (i & 4)
		put_until(m, FRONT, at + 1, 11, 22, CLIENT);
	if (i & 8)
		put_until(m, BACK, at + 2, 12, 24, FRONT);
	if (!second && !(i & 48))
		put_until(m, BACK, at + 4, 2, 8, 0);
	if (i & 64)
		put_until(m, BACK, at + 7, 0, second ? 16 : 12, 0);
}

/* The estimate is the truth: 2,560 ms of waits, of which an eighth was for the disk. */
static void test_chain_sampled(void **state)
{
	const struct finding *g;
	struct made m = { 0 };

	fixture_new(&m.o);
	expwriter_text(exp_builder_writer(m.o.builder), "names.xml",
		       "<name pid=\"4711\" tid=\"5\" at=\"0\" comm=\"client\"/>\n"
		       "<name pid=\"4711\" tid=\"6\" at=\"0\" comm=\"front\"/>\n"
		       "<name pid=\"4711\" tid=\"7\" at=\"0\" comm=\"back\"/>");
	/* Packets of several CPUs are not in order of time. */
	for (unsigned i = 0; i < CYCLES; i++)
		put_cycle(&m, i * 37 % CYCLES);
	fixture_open(&m.o);
	make(&m);
	g = finding_of(&m, "chain");
	assert_non_null(g);
	assert_string_equal(g->text, "`test (client)` waited 2.2 s for `test (front)`, which waited "
				     "for `test (back)`, which computed.");
	assert_int_equal(g->figure_ns / MS, 2240);
	/*
	 * The root of the sum of three squares, in ms: 99 from the sampling of the client's waits,
	 * 182 from the differences between groups of waits, and 29 because only 160 and 84 waits
	 * tell what front and back did.
	 */
	assert_int_equal(g->error_ns / (MS / 10), 2093);
	unmake(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_chain),
		cmocka_unit_test(test_chain_sampled),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
