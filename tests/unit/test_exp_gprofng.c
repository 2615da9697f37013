/* SPDX-License-Identifier: GPL-2.0-or-later */
/* gprofng, if it is installed, reads what the writer wrote. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/base/alloc.h"
#include "analysis/base/buf.h"
#include "analysis/experiment/exp_stacks.h"
#include "analysis/experiment/experiment.h"
#include "tests/fixtures/exp_builder.h"
#include "tests/fixtures/tempdir.h"

/* The output of `gprofng display text`; NULL: gprofng is not installed. */
static char *gprofng(const char *dir, const char *commands)
{
	__cleanup(freep) char *line = xasprintf(
		"cd '%s' && ASAN_OPTIONS= LC_ALL=C gp-display-text %s t.1.er 2>&1", dir, commands);
	char *out = xcalloc(1, 1 << 16);
	FILE *f;

	f = popen(line, "r");
	assert_non_null(f);
	assert_true(fread(out, 1, (1 << 16) - 1, f) < (1 << 16) - 1);
	assert_int_equal(pclose(f), 0);
	return out;
}

static void assert_line(const char *text, const char *line)
{
	if (!strstr(text, line))
		fail_msg("no '%s' in: %s", line, text);
}

static void gprofng_reads_the_same_numbers(void **state)
{
	__cleanup(freep) char *funcs = NULL, *head = NULL;
	struct exp_builder *b, *sub;

	if (system("command -v gp-display-text >/dev/null"))
		skip();
	b = exp_builder_new(*state, "t.1.er");
	exp_builder_profile(b, 1, "main>work>leaf", MS_USER, 300);
	exp_builder_profile(b, 1, "main>k:vfs_read>k:ext4`sync.isra.0", MS_SYSTEM, 200);
	exp_builder_profile(b, 2, "main>k:event_sched_in", MS_SYSTEM, 100);
	exp_builder_profile(b, 2, "main>?", MS_SLEEP, 50);
	exp_builder_profile(b, 2, "<5%20%x>", MS_SLEEP, 25);
	expwriter_message(exp_builder_writer(b), "cwarn", EXP_MSG_OURS, exp_builder_now(b), "W<1>");
	expwriter_message(exp_builder_writer(b), "comment", EXP_MSG_OURS, exp_builder_now(b), "C%2");
	sub = exp_builder_sub(b, "_work_PID_12.1.er", "./worker -x", 12);
	exp_builder_profile(sub, 12, "main>k:ext4`sync.isra.0", MS_SYSTEM, 7);
	exp_builder_close(sub);
	exp_builder_close(b);

	funcs = gprofng(*state,
			"-printmode , -metrics e.total:e.user:e.system:e.sleep:name -functions");
	assert_line(funcs, "\n\"0.682\",\"0.300\",\"0.307\",\"0.075\",\"<Total>\"\n");
	assert_line(funcs, "\n\"0.300\",\"0.300\",\"0.\",\"0.\",\"leaf\"\n");
	assert_line(funcs, "\"0.207\",\"0.\",\"0.207\",\"0.\",\"ext4`sync\u00b7isra\u00b7" "0\"\n");
	assert_line(funcs, "\"0.100\",\"0.\",\"0.100\",\"0.\",\"vmlinux`\u00b7event_sched_in\"\n");
	assert_line(funcs, "\n\"0.050\",\"0.\",\"0.\",\"0.050\",\"<Unknown>\"\n");
	assert_line(funcs, "\n\"0.025\",\"0.\",\"0.\",\"0.025\",\"<5%20%x>\"\n");
	head = gprofng(*state, "-header");
	assert_line(head, "Target command (64-bit): './worker -x'");
	assert_line(head, "(\"W<1>\")");
	assert_line(head, "C%2");
	assert_line(head, "Clock-profiling, interval = 1000 microsecs.");
}

enum { TAILS = 3, LEAVES = 20, DEPTH = 30, STACKS = TAILS * LEAVES, FIRST_UID = 1000 };

/* Stack i: combines a few tails and leaves; every other stack is in the kernel. */
static size_t make_stack(struct exp_builder *b, int i, uint64_t *pcs)
{
	int tail = i % TAILS, leaf = i / TAILS;
	size_t n = 0;

	if (i % 2) {
		pcs[n++] = exp_builder_func(b, "k:kleaf", 256) + leaf;
		for (int k = 0; k < 3 + tail; k++)
			pcs[n++] = exp_builder_func(b, "k:kcaller", 256) + k;
		pcs[n++] = exp_builder_func(b, "syscaller", 256) + tail;
	} else {
		pcs[n++] = exp_builder_func(b, "leaf", 256) + leaf;
	}
	for (int k = 0; k < DEPTH; k++)
		pcs[n++] = exp_builder_func(b, k % 2 ? "even" : "odd", 256) + tail;
	pcs[n++] = tail ? exp_builder_func(b, "main", 256) : ER_PC_TRUNCATED;
	return n;
}

/* A FRAME packet without links. */
static void add_plain(struct buf *b, uint64_t uid, const uint64_t *pcs, size_t n)
{
	uint16_t head[] = { 32 + n * 8, ER_PKT_FRAME };
	uint32_t sizes[] = { 16, 16 + n * 8, 1 };

	buf_add(b, head, 4);
	buf_add(b, sizes, 4);
	buf_add(b, &uid, 8);
	buf_add(b, sizes + 1, 8);
	buf_add(b, &uid, 8);
	buf_add(b, pcs, n * 8);
}

/* Read all stacks back; `plain` gets their size without links. */
static void check_stacks(const char *path, uint64_t pcs[][DEPTH + 8], const size_t *n,
			 struct buf *plain)
{
	struct experiment *e = experiment_open(path, NULL);

	assert_int_equal(e->stacks.len, STACKS);
	assert_int_equal(e->diag.nmsgs, 0);
	for (int i = 0; i < STACKS; i++) {
		const struct exp_stack *s = &e->stacks.data[experiment_stack(e, FIRST_UID + i)];

		assert_int_equal(s->npcs, n[i]);
		for (uint32_t k = 0; k < s->npcs; k++)
			assert_int_equal(experiment_pc(e, s, k), pcs[i][k]);
		add_plain(plain, FIRST_UID + i, pcs[i], n[i]);
	}
	experiment_close(e);
}

static void shared_callers_change_nothing(void **state)
{
	static const char commands[] = "-metrics e.total:i.total:name -functions -calltree";
	__cleanup(freep) char *path = xasprintf("%s/t.1.er", (char *)*state);
	__cleanup(freep) char *shared = NULL, *unshared = NULL;
	struct exp_builder *b = exp_builder_new(*state, "t.1.er");
	uint64_t pcs[STACKS][DEPTH + 8];
	size_t n[STACKS], size = 0;
	struct buf plain = { 0 };

	for (int i = 0; i < STACKS; i++) {
		struct clock_packet p = { .lwp = 1, .thread = 1, .stack = FIRST_UID + i,
					  .state = MS_USER, .nticks = 1 + i, .time_ns = 1 };

		n[i] = make_stack(b, i, pcs[i]);
		p.time_ns = exp_builder_now(b);
		expwriter_stack(exp_builder_writer(b), FIRST_UID + i, pcs[i], n[i]);
		expwriter_clock(exp_builder_writer(b), &p);
	}
	exp_builder_close(b);
	check_stacks(path, pcs, n, &plain);
	free(tempdir_read(path, "data.frameinfo", &size));
	assert_true(size < plain.len / 2);
	if (!system("command -v gp-display-text >/dev/null")) {
		shared = gprofng(*state, commands);
		tempdir_write(path, "data.frameinfo", plain.data, plain.len);
		unshared = gprofng(*state, commands);
		assert_string_equal(shared, unshared);
		assert_line(shared, "kcaller");
		assert_line(shared, "<Truncated-stack>");
	}
	buf_free(&plain);
}

/* Opening finds the stacks and their sizes. What needs no pcs does not pay for their numbers. */
static void pcs_are_numbered_when_needed(void **state)
{
	static const uint64_t pcs[] = { 0x1000, 0x2000, 0x1000 };
	__cleanup(freep) char *path = xasprintf("%s/t.1.er", (char *)*state);
	struct exp_builder *b = exp_builder_new(*state, "t.1.er");
	uint64_t got[3];
	struct experiment *e;

	expwriter_stack(exp_builder_writer(b), FIRST_UID, pcs, 3);
	exp_builder_close(b);
	e = experiment_open(path, NULL);
	assert_int_equal(e->stacks.data[0].npcs, 3);
	assert_int_equal(e->pcs.len, 0);
	experiment_pcs(e, &e->stacks.data[0], got, 3);
	assert_memory_equal(got, pcs, sizeof(pcs));
	assert_int_equal(e->pcs.len, 2);
	experiment_number_pcs(e);
	assert_int_equal(e->pcs.len, 2);
	assert_int_equal(experiment_pc(e, &e->stacks.data[0], 1), pcs[1]);
	experiment_close(e);
	/* Numbers that nobody asks for are never made. */
	e = experiment_open(path, NULL);
	assert_int_equal(e->pcs.len, 0);
	experiment_close(e);
}

/* A function that calls itself to any depth: each stack begins where another ends. */
static void recursion_is_read_as_written(void **state)
{
	enum { DEEPEST = 250, TURNS = 40 };
	__cleanup(freep) char *path = xasprintf("%s/t.1.er", (char *)*state);
	struct exp_builder *b = exp_builder_new(*state, "t.1.er");
	uint64_t pcs[DEEPEST];
	struct experiment *e;
	size_t size;

	for (int depth = 0; depth < DEEPEST; depth++)
		pcs[depth] = 0x1000;
	for (int turn = 0; turn < TURNS; turn++) {
		for (int depth = 1; depth <= DEEPEST; depth++) {
			pcs[0] = 0x2000 + turn;
			expwriter_stack(exp_builder_writer(b), FIRST_UID + turn * DEEPEST + depth, pcs,
					depth);
			pcs[0] = 0x1000;
		}
	}
	exp_builder_close(b);
	free(tempdir_read(path, "data.frameinfo", &size));
	assert_true(size < TURNS * DEEPEST * 64);
	e = experiment_open(path, NULL);
	assert_int_equal(e->diag.nmsgs, 0);
	assert_int_equal(e->stacks.len, TURNS * DEEPEST);
	/* The pcs are numbered by several threads, if there are CPUs. Each has one number all the same. */
	experiment_number_pcs(e);
	assert_int_equal(e->pcs.len, TURNS + 1);
	for (int i = 0; i < TURNS * DEEPEST; i++) {
		const struct exp_stack *s = &e->stacks.data[i];

		assert_int_equal(s->npcs, i % DEEPEST + 1);
		assert_int_equal(experiment_pc(e, s, 0), 0x2000 + i / DEEPEST);
		for (uint32_t k = 1; k < s->npcs; k++)
			assert_int_equal(experiment_pc(e, s, k), 0x1000);
	}
	experiment_close(e);
}

static void our_order(const char *dir, str_vec *ret)
{
	__cleanup(freep) char *path = xasprintf("%s/t.1.er", dir);
	struct diag d = { 0 };
	struct experiment *e = experiment_open(path, &d);

	assert_non_null(e);
	experiment_subs(e, ret);
	experiment_close(e);
	diag_free(&d);
}

/* EXPID names the same experiment in both: numbers in names sort by value. */
static void sub_experiments_have_the_same_numbers(void **state)
{
	static const char *const names[] = { "_s_PID_1000.1.er", "_s_PID_999.1.er", "_f10.er",
					     "_f2.er", "_x_01.1.er", "_x_1.1.er", "_f2_x1.er" };
	struct exp_builder *b;
	__cleanup(freep) char *out = NULL;
	str_vec subs = { 0 };
	const char *at;

	if (system("command -v gp-display-text >/dev/null"))
		skip();
	b = exp_builder_new(*state, "t.1.er");
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		struct exp_builder *sub = exp_builder_sub(b, names[i], "s", 5 + i);

		exp_builder_profile(sub, 5 + i, "main", MS_USER, 1);
		exp_builder_close(sub);
	}
	exp_builder_close(b);
	at = out = gprofng(*state, "-experiment_list");
	our_order(*state, &subs);
	assert_int_equal(subs.len, sizeof(names) / sizeof(*names));
	vec_for_each(name, &subs) {
		at = strstr(at, *name);
		if (!at)
			fail_msg("'%s' has another place: %s", *name, out);
		free(*name);
	}
	vec_free(&subs);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEMPDIR_CASE(gprofng_reads_the_same_numbers),
		TEMPDIR_CASE(sub_experiments_have_the_same_numbers),
		TEMPDIR_CASE(shared_callers_change_nothing),
		TEMPDIR_CASE(pcs_are_numbered_when_needed),
		TEMPDIR_CASE(recursion_is_read_as_written),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
