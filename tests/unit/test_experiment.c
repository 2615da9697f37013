/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reading experiments: ours, other collectors', damaged ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "analysis/base/buf.h"
#include "analysis/experiment/exp_map.h"
#include "analysis/experiment/exp_packets.h"
#include "analysis/experiment/exp_recorder.h"
#include "analysis/experiment/exp_stacks.h"
#include "analysis/experiment/experiment.h"
#include "analysis/experiment/usage.h"
#include "tests/fixtures/exp_builder.h"
#include "tests/fixtures/exp_rich.h"
#include "tests/fixtures/tempdir.h"

static struct experiment *open_in(const char *dir, const char *name)
{
	__cleanup(freep) char *path = xasprintf("%s/%s", dir, name);

	return experiment_open(path, NULL);
}

static bool said(const struct experiment *e, const char *text)
{
	for (size_t i = 0; i < e->diag.nmsgs; i++) {
		if (strstr(e->diag.msgs[i].text, text))
			return true;
	}
	return false;
}

static void put_file(const char *dir, const char *exp, const char *file, const void *p, size_t n)
{
	__cleanup(freep) char *path = xasprintf("%s/%s", exp, file);

	tempdir_write(dir, path, p, n);
}

/* An experiment of another collector: this log.xml; the caller adds the other files. */
static void make_foreign(const char *dir, const char *log)
{
	__cleanup(freep) char *path = xasprintf("%s/f.1.er", dir);

	assert_int_equal(mkdir(path, 0700), 0);
	put_file(dir, "f.1.er", "log.xml", log, strlen(log));
	put_file(dir, "f.1.er", "map.xml", "", 0);
	put_file(dir, "f.1.er", "overview", "", 0);
}

static void remove_foreign(const char *dir)
{
	__cleanup(freep) char *command = xasprintf("rm -r '%s/f.1.er'", dir);

	assert_int_equal(system(command), 0);
}

static const char foreign_log[] =
	"<?xml version=\"1.0\"?>\n<experiment version=\"12.4\">\n<collector>2.40.00</collector>\n"
	"</experiment>\n<system hostname=\"vm\" arch=\"x86_64\" os=\"Linux\" pagesz=\"4096\">\n"
	"<cpu id=\"0\" clk=\"2596\"/><cpu id=\"1\" clk=\"2000\"/></system>\n"
	"<process wsize=\"64\"></process><process>./cpu 500000</process>\n"
	"<event kind=\"run\" tstamp=\"895.537841267\" time=\"1795215908\" tm_zone=\"0\"/>\n"
	"<profile name=\"profile\" ptimer=\"10007\" numstates=\"1\">\n"
	"<profdata fname=\"profile\"/><profpckt kind=\"8\" uname=\"Clock\">\n"
	"<field name=\"THRID\" offset=\"4\" type=\"INT32\"/>\n"
	"<field name=\"NTICK\" offset=\"8\" type=\"INT32\">"
	"<state value=\"1\" name=\"X\" uname=\"Y\"/></field>\n"
	"</profpckt></profile>\n<event kind=\"exit\" tstamp=\"1.888005344\"/>\n";

static void the_header_is_read(void **state)
{
	struct experiment *e;

	make_foreign(*state, foreign_log);
	e = open_in(*state, "f.1.er/");
	assert_string_equal(e->name, "f.1.er");
	assert_string_equal(e->version, "12.4");
	assert_string_equal(e->collector, "2.40.00");
	assert_string_equal(e->hostname, "vm");
	assert_string_equal(e->command, "./cpu 500000");
	assert_string_equal(e->process, "cpu");
	assert_string_equal(e->notes, "");
	assert_int_equal(e->ncpus, 2);
	assert_int_equal(e->mhz, 2596);
	assert_int_equal(e->start_ns, 895537841267);
	assert_int_equal(e->end_ns, 1888005344);
	assert_true(e->closed && e->opened && !e->swap);
	assert_int_equal(e->streams.len, 1);
	assert_int_equal(e->streams.data[0].ptimer_us, 10007);
	assert_int_equal(e->streams.data[0].numstates, STATES_LINUX);
	assert_int_equal(e->diag.nmsgs, 0);
	experiment_close(e);
	experiment_close(NULL);
}

/* An experiment needs log.xml to open; a warning names each other file that is missing. */
static void missing_files_are_reported(void **state)
{
	static const char *const files[] = { "map.xml", "overview" };

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		struct experiment *e;
		char *path = xasprintf("%s/f.1.er/%s", (char *)*state, files[i]);
		char *want = xasprintf("%s: missing: ", files[i]);

		make_foreign(*state, foreign_log);
		assert_int_equal(unlink(path), 0);
		e = open_in(*state, "f.1.er");
		assert_int_equal(e->diag.nmsgs, 1);
		assert_non_null(strstr(e->diag.msgs[0].text, want));
		experiment_close(e);
		remove_foreign(*state);
		free(path);
		free(want);
	}
}

static void what_is_no_experiment_is_refused(void **state)
{
	struct diag d = { 0 };
	__cleanup(freep) char *empty = xasprintf("%s/empty.er", (char *)*state);

	assert_int_equal(mkdir(empty, 0700), 0);
	assert_null(experiment_open("/etc", &d));
	assert_null(experiment_open("/none.er", &d));
	assert_null(experiment_open(empty, &d));
	assert_int_equal(d.nerrors, 3);
	assert_non_null(strstr(d.msgs[2].text, "log.xml"));
	diag_free(&d);
}

/* {u16 size, u16 type, i32 thread, i32 ticks}, as the log above describes it. */
static void put_clock(struct buf *b, uint16_t type, int32_t thread, int32_t ticks)
{
	uint16_t head[2] = { 12, type };
	int32_t body[2] = { thread, ticks };

	buf_add(b, head, sizeof(head));
	buf_add(b, body, sizeof(body));
}

static int64_t sum_ticks(const struct experiment *e, uint64_t *nbad)
{
	const struct exp_stream *s = &e->streams.data[0];
	struct field_ref nticks = stream_field(s, "NTICK");
	struct packet_iter it;
	struct packet p;
	int64_t sum = 0;

	packet_iter_init(&it, e, s);
	while (packet_next(&it, &p))
		sum += packet_int(&p, nticks);
	*nbad = it.nbad;
	return sum;
}

/* Blocks of 64 KiB with holes: an EMPTY packet, a CLOSED one, a size of 0. */
static void blocks_and_holes_are_passed_over(void **state)
{
	struct buf b = { 0 };
	uint16_t empty[2] = { 1000, ER_PKT_EMPTY }, closed[2] = { 500, ER_PKT_CLOSED };
	struct experiment *e;
	uint64_t nbad;

	put_clock(&b, 8, 1, 1);
	buf_add(&b, empty, sizeof(empty));
	buf_zero(&b, 996);
	put_clock(&b, 8, 1, 10);
	put_clock(&b, 12, 1, 5000); /* an unknown kind */
	buf_zero(&b, 16384 - b.len);
	put_clock(&b, 8, 1, 100);
	buf_add(&b, closed, sizeof(closed));
	buf_zero(&b, 496);
	put_clock(&b, 8, 1, 1000);
	make_foreign(*state, foreign_log);
	put_file(*state, "f.1.er", "profile", b.data, b.len);
	e = open_in(*state, "f.1.er");
	assert_int_equal(sum_ticks(e, &nbad), 1111);
	assert_int_equal(nbad, 0);
	experiment_close(e);

	/* An impossible size makes the rest of its 16 KiB unreadable. */
	memset(b.data + 12, 0xff, 2);
	put_file(*state, "f.1.er", "profile", b.data, 2 * 12);
	e = open_in(*state, "f.1.er");
	assert_int_equal(sum_ticks(e, &nbad), 1);
	assert_int_equal(nbad, 1);
	experiment_close(e);
	buf_free(&b);
}

static void the_other_byte_order_is_swapped(void **state)
{
	static const unsigned char packet[] = { 0, 12, 0, 8, 0, 0, 0, 1, 0, 0, 1, 2 };
	__cleanup(freep) char *log = xstrdup(foreign_log);
	struct experiment *e;
	uint64_t nbad;

	memcpy(strstr(log, "x86_64"), "sparc9", 6);
	make_foreign(*state, log);
	put_file(*state, "f.1.er", "profile", packet, sizeof(packet));
	e = open_in(*state, "f.1.er");
	assert_true(e->swap);
	assert_int_equal(sum_ticks(e, &nbad), 258);
	experiment_close(e);
}

static void old_clock_packets_are_read(void **state)
{
	struct buf b = { 0 };
	__cleanup(freep) char *log = xstrdup(foreign_log);
	struct experiment *e;
	struct packet_iter it;
	struct packet p[3];

	strstr(log, "kind=\"8\"")[6] = '1';
	put_clock(&b, 1, 1, 1);
	put_clock(&b, 1, 1, 1);
	make_foreign(*state, log);
	put_file(*state, "f.1.er", "profile", b.data, b.len);
	e = open_in(*state, "f.1.er");
	assert_int_equal(e->streams.data[0].kind, ER_PKT_PROF);
	packet_iter_init(&it, e, &e->streams.data[0]);
	assert_int_equal(packet_batch(&it, p, 3), 2);
	experiment_close(e);
	buf_free(&b);
}

static void assert_stack(struct experiment *e, uint64_t uid, const uint64_t *pcs, uint32_t n)
{
	int64_t index = experiment_stack(e, uid);

	assert_true(index >= 0);
	assert_int_equal(e->stacks.data[index].npcs, n);
	for (size_t i = 0; i < n; i++)
		assert_int_equal(experiment_pc(e, &e->stacks.data[index], i), pcs[i]);
}

static void linked_stacks_are_put_together(void **state)
{
	struct buf b = { 0 };
	struct experiment *e;

	exp_rich_frames(&b);
	make_foreign(*state, foreign_log);
	put_file(*state, "f.1.er", "data.frameinfo", b.data, b.len);
	e = open_in(*state, "f.1.er");
	for (int i = 0; i < 3; i++)
		assert_stack(e, RICH_LINKED_UID + i, rich_pcs, RICH_NPCS);
	assert_int_equal(experiment_stack(e, 1), -1);
	assert_int_equal(e->diag.nmsgs, 0);
	experiment_close(e);
	buf_free(&b);
}

/* UID packets: u16 size, u16 type, u32 flags, u64 uid, u64 link. */
static void put_link(struct buf *b, uint64_t uid, uint64_t to)
{
	uint16_t head[2] = { 24, ER_PKT_UID };
	uint32_t flags = 1u << 31;

	buf_add(b, head, 4);
	buf_add(b, &flags, 4);
	buf_add(b, &uid, 8);
	buf_add(b, &to, 8);
}

/* A FRAME whose whole stack is node `uid`. */
static void put_frame(struct buf *b, uint64_t stack, uint64_t uid)
{
	uint16_t head[2] = { 32, ER_PKT_FRAME };
	uint32_t words[3] = { 16, 16, 1 };

	buf_add(b, head, 4);
	buf_add(b, words, 4);
	buf_add(b, &stack, 8);
	buf_add(b, words + 1, 8);
	buf_add(b, &uid, 8);
}

/* A node: UID packets without a link. */
static void put_pcs(struct buf *b, uint64_t uid, const uint64_t *pcs, size_t n)
{
	uint16_t head[2] = { 16 + n * 8, ER_PKT_UID };
	uint32_t flags = 0;

	buf_add(b, head, 4);
	buf_add(b, &flags, 4);
	buf_add(b, &uid, 8);
	buf_add(b, pcs, n * 8);
}

/* libcollector ends some stacks with the pc -1. It is no frame. */
static void a_last_pc_of_ones_is_no_frame(void **state)
{
	static const uint64_t pcs[] = { 0x1000, -1, 0x2000, -1 }, none = -1;
	struct buf b = { 0 };
	struct experiment *e;

	put_pcs(&b, 1, pcs, 4);
	put_pcs(&b, 2, &none, 1);
	put_frame(&b, 100, 1);
	put_frame(&b, 101, 2);
	make_foreign(*state, foreign_log);
	put_file(*state, "f.1.er", "data.frameinfo", b.data, b.len);
	e = open_in(*state, "f.1.er");
	assert_stack(e, 100, pcs, 3);
	assert_stack(e, 101, pcs, 0);
	experiment_close(e);
	buf_free(&b);
}

static void circles_and_lost_ends_are_cut(void **state)
{
	static const uint64_t truncated[] = { ER_PC_TRUNCATED };
	struct buf b = { 0 };
	struct experiment *e;

	put_link(&b, 1, 2);
	put_link(&b, 2, 1);
	put_link(&b, 3, 999);
	for (int i = 0; i < 10000; i++)
		put_frame(&b, 100 + i, 1 + i % 3);
	make_foreign(*state, foreign_log);
	put_file(*state, "f.1.er", "data.frameinfo", b.data, b.len);
	e = open_in(*state, "f.1.er");
	assert_int_equal(e->stacks.len, 10000);
	assert_stack(e, 100, truncated, 1);
	assert_true(said(e, "exceed what a file of this size may hold"));
	experiment_close(e);

	buf_clear(&b);
	put_frame(&b, 100, 3);
	put_link(&b, 3, 999);
	put_file(*state, "f.1.er", "data.frameinfo", b.data, b.len);
	e = open_in(*state, "f.1.er");
	assert_stack(e, 100, truncated, 1);
	assert_true(said(e, "1 stacks lack their outer callers"));
	experiment_close(e);
	buf_free(&b);
}

static void an_unclosed_experiment_says_so(void **state)
{
	struct exp_builder *b = exp_builder_new(*state, "t.1.er");
	struct experiment *e;

	exp_builder_profile(b, 1, "main", MS_USER, 123);
	exp_builder_abandon(b);
	e = open_in(*state, "t.1.er");
	assert_false(e->closed);
	assert_true(said(e, "experiment was not closed"));
	assert_int_equal(e->end_ns, 123 * BUILDER_TICK_NS);
	experiment_close(e);
}

/* gprofng writes no event exit if the process continues as another program. */
static void exec_is_an_end(void **state)
{
	static const char *const more[] = {
		"<event kind=\"exec_start\" tstamp=\"0.002000000\" variant=\"execve\" msg=\"/bin/x\"/>\n",
		"<event kind=\"exec_error\" tstamp=\"0.003000000\"/>\n",
	};
	struct exp_builder *b = exp_builder_new(*state, "t.1.er");
	__cleanup(freep) char *log = xasprintf("%s/t.1.er/log.xml", (char *)*state);

	exp_builder_abandon(b);
	for (int failed = 0; failed <= 1; failed++) {
		FILE *f = fopen(log, "a");
		struct experiment *e;

		assert_non_null(f);
		fputs(more[failed], f);
		fclose(f);
		e = open_in(*state, "t.1.er");
		assert_int_equal(e->closed, !failed);
		assert_int_equal(said(e, "experiment was not closed"), failed);
		if (!failed)
			assert_int_equal(e->end_ns, 2000000);
		experiment_close(e);
	}
}

static void sub_experiments_are_found(void **state)
{
	__cleanup(freep) char *link = xasprintf("%s/t.1.er/_link.er", (char *)*state);
	struct exp_builder *b = exp_builder_new(*state, "t.1.er");
	struct exp_builder *two = exp_builder_sub(b, "_b_PID_2.1.er", "/bin/b x", 2);
	struct exp_builder *one = exp_builder_sub(b, "_a_PID_1.1.er", "a", 1);
	struct experiment *e, *sub;
	str_vec subs = { 0 };

	exp_builder_close(two);
	exp_builder_close(one);
	exp_builder_close(b);
	assert_int_equal(symlink("_a_PID_1.1.er", link), 0);
	e = open_in(*state, "t.1.er");
	experiment_subs(e, &subs);
	assert_int_equal(subs.len, 2);
	assert_string_equal(subs.data[0], "_a_PID_1.1.er");
	sub = experiment_open_sub(e, subs.data[1]);
	assert_ptr_equal(sub->founder, e);
	assert_string_equal(sub->process, "b");
	assert_int_equal(sub->pid, 2);
	assert_null(experiment_open_sub(e, "_link.er"));
	assert_null(experiment_open_sub(e, "../t.1.er"));
	assert_null(experiment_open_sub(e, "_/../../t.1.er"));
	assert_int_equal(e->diag.nerrors, 3);
	experiment_close(sub);
	experiment_close(e);
	vec_for_each(s, &subs)
		free(*s);
	vec_free(&subs);
}

/* gprofng uses the same numbers: test_exp_gprofng.c. */
static void sub_experiments_are_sorted_by_numbers(void **state)
{
	static const char *const sorted[] = {
		"_f1.er",        "_f1_x1.er",      "_f2.er",
		"_f10.er",       "_s_PID_9.1.er",  "_s_PID_30.1.er",
		"_s_PID_310.1.er", "_s_PID_30000.1.er", "_x_001.3.er",
		"_x_01.10.er",   "_x_1.2.er",      "_x_1.10.er",
		"_y99999999999999999999.er", "_y100000000000000000000.er",
	};
	size_t n = sizeof(sorted) / sizeof(*sorted);
	struct experiment *e;
	str_vec subs = { 0 };

	exp_builder_close(exp_builder_new(*state, "t.1.er"));
	for (size_t i = n; i--;) {
		__cleanup(freep) char *dir = xasprintf("%s/t.1.er/%s", (char *)*state, sorted[i]);

		assert_int_equal(mkdir(dir, 0700), 0);
	}
	e = open_in(*state, "t.1.er");
	experiment_subs(e, &subs);
	experiment_close(e);
	assert_int_equal(subs.len, n);
	for (size_t i = 0; i < n; i++) {
		assert_string_equal(subs.data[i], sorted[i]);
		free(subs.data[i]);
	}
	vec_free(&subs);
}

static const struct exp_map *find_map(const struct experiment *e, const char *name)
{
	vec_for_each(m, &e->maps) {
		if (!strcmp(m->name, name))
			return m;
	}
	fail_msg("no map of %s", name);
	return NULL;
}

static void everything_of_the_rich_one_is_there(void **state)
{
	const struct exp_map *map;
	struct experiment *e;
	struct exp_usage u;

	exp_rich_write(*state, "r.1.er");
	e = open_in(*state, "r.1.er");
	assert_int_equal(e->streams.len, npacket_descs - 4 - PACKED_KINDS); /* these go with CLOCK */
	assert_int_equal(e->ksyms.len, 5);
	assert_int_equal(e->threads.len, 2);
	assert_string_equal(e->ksyms.data[0].name, "vfs_read");
	assert_string_equal(e->ksyms.data[0].module, "vmlinux");
	assert_string_equal(e->ksyms.data[1].module, "ext4");
	map = find_map(e, "/bin/true");
	assert_int_equal(map->foffset, 0x2000);
	assert_int_equal(map->modes, 5);
	assert_string_equal(e->notes, "a note\n");
	assert_int_equal(experiment_nusages(e), 2);
	experiment_usage(e, 1, &u);
	assert_int_equal(u.user_ns, 30 * BUILDER_TICK_NS);
	assert_int_equal(e->recorder.len, 3);
	assert_string_equal(element_get(&e->recorder.data[0], "state"), "closed");
	assert_int_equal(element_int(&e->recorder.data[1], "lost"), 3);
	assert_int_equal(element_int(&e->recorder.data[1], "none"), 0);
	vec_for_each(s, &e->streams) {
		if (s->kind == ER_PKT_HWC || s->kind == ER_PKT_MHWC)
			assert_string_equal(s->counters.data[0].name, "cycles");
		if (s->kind == ER_PKT_SYNC)
			assert_int_equal(s->threshold_us, 5);
	}
	experiment_close(e);
}

static void nonsense_in_the_log_is_told_and_passed_over(void **state)
{
	struct experiment *e;

	make_foreign(*state, "<mystery/><field name=\"X\" offset=\"8\" type=\"INT32\"/>"
			     "<profile name=\"profile\"><profdata fname=\"../../etc/passwd\"/>"
			     "<profpckt kind=\"8\"><field name=\"A\" offset=\"99999\" type=\"INT32\"/>"
			     "<field name=\"B\" offset=\"8\" type=\"INT3\"/></profpckt>"
			     "<profpckt kind=\"8\"/><profpckt kind=\"-4\"/></profile>\n<broken");
	e = open_in(*state, "f.1.er");
	assert_true(said(e, "unrecognized element 'mystery'"));
	assert_true(said(e, "'../../etc/passwd' is not the name of a data file"));
	assert_true(said(e, "field 'A' has no known type or place"));
	assert_true(said(e, "field 'B' has no known type or place"));
	assert_true(said(e, "packet kind 8 is described twice"));
	assert_true(said(e, "-4 is not a kind of packet"));
	assert_true(said(e, "log.xml: line 2 is damaged"));
	assert_true(said(e, "no event run"));
	assert_false(e->opened);
	experiment_close(e);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEMPDIR_CASE(the_header_is_read),
		TEMPDIR_CASE(missing_files_are_reported),
		TEMPDIR_CASE(what_is_no_experiment_is_refused),
		TEMPDIR_CASE(blocks_and_holes_are_passed_over),
		TEMPDIR_CASE(the_other_byte_order_is_swapped),
		TEMPDIR_CASE(old_clock_packets_are_read),
		TEMPDIR_CASE(linked_stacks_are_put_together),
		TEMPDIR_CASE(a_last_pc_of_ones_is_no_frame),
		TEMPDIR_CASE(circles_and_lost_ends_are_cut),
		TEMPDIR_CASE(an_unclosed_experiment_says_so),
		TEMPDIR_CASE(exec_is_an_end),
		TEMPDIR_CASE(sub_experiments_are_found),
		TEMPDIR_CASE(sub_experiments_are_sorted_by_numbers),
		TEMPDIR_CASE(everything_of_the_rich_one_is_there),
		TEMPDIR_CASE(nonsense_in_the_log_is_told_and_passed_over),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
