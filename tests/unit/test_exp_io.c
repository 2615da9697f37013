/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The file of an I/O packet, from the opens, copies and closes before it. */
#include "analysis/experiment/exp_io.h"
#include "analysis/experiment/exp_packets.h"
#include "tests/unit/session_fixture.h"

enum { READ, WRITE, OPEN, CLOSE, OTHER, ERRORS };

struct call {
	int64_t time;
	int type, fd, from;
	const char *name;
	uint32_t file;         /* expected */
	const char *file_name;
};

#define PIPE "<pipe(), socket(), or other fds>"

/* In the order of writing, which is not the order of time. */
static const struct call calls[] = {
	{ 10, OPEN, 3, 0, "/a", 10, "/a" },
	{ 30, READ, 3, 0, "", 10, "/a" },
	{ 60, READ, 3, 0, "", 12, "/b" },
	{ 20, WRITE, 3, 0, "", 10, "/a" },
	{ 40, CLOSE, 3, 0, "", 10, "/a" },
	{ 45, READ, 3, 0, "", 11, PIPE },       /* opened by a call that was not traced */
	{ 50, OPEN, 3, 0, "/b", 12, "/b" },
	{ 70, OPEN, 4, 3, "", 13, "/b" },       /* dup(3) */
	{ 80, CLOSE, 3, 0, "", 12, "/b" },
	{ 90, WRITE, 4, 0, "", 13, "/b" },
	{ 100, WRITE, 1, 0, "", 2, "<stdout>" },
	{ 110, OTHER, 4, 0, "", 4, "<Other IO activity>" },
	{ 120, ERRORS + OPEN, -1, 0, "/none", 14, "/none" },
	{ 130, ERRORS + READ, -1, 0, "", 15, PIPE },
	{ 140, CLOSE, -1, 0, "", 15, PIPE },
	{ 150, OPEN, 7, 0, "", 16, PIPE },      /* pipe(2) */
	{ 160, READ, 7, 0, "", 16, PIPE },
	{ 170, OPEN, 4, 0, "", 13, "/b" },      /* fdopen(4) */
	{ 180, OPEN, 1, 4, "", 17, "/b" },      /* dup2(4, 1) */
	{ 190, WRITE, 1, 0, "", 17, "/b" },
	{ 200, READ, 0, 0, "/dev/null", 1, "<stdin>" },
	{ 210, READ, 9, 0, "/given", 18, "/given" }, /* open before the recording */
	{ 220, WRITE, 9, 0, "", 18, "/given" },
	{ 230, WRITE, 9, 0, "/other", 19, "/other" }, /* a call that is not traced replaced it */
};

enum { NCALLS = sizeof(calls) / sizeof(calls[0]) };

static void write_calls(struct opened *o)
{
	struct expwriter *w;

	fixture_new(o);
	w = exp_builder_writer(o->builder);
	expwriter_profile(w, ER_PKT_IO, NULL);
	for (size_t i = 0; i < NCALLS; i++) {
		const struct call *c = &calls[i];
		int64_t values[] = { 1, 1, 0, BUILDER_START_NS + c->time, 0, c->type, c->fd, 1, 0,
				     c->from, 0, 0, 0 };

		expwriter_packet(w, ER_PKT_IO, values, c->name);
	}
}

static void test_files(void **state)
{
	struct experiment *e;
	struct packet_iter it;
	struct packet p;
	struct opened o;
	size_t n = 0;

	write_calls(&o);
	fixture_open(&o);
	e = o.session->experiments.data[0];
	packet_iter_init(&it, e, &e->streams.data[1]);
	for (; packet_next(&it, &p); n++) {
		uint32_t file = experiment_io_file(e, &p);

		if (file != calls[n].file || strcmp(e->io_files.data[file].name, calls[n].file_name))
			fail_msg("call %zu: %u %s", n, file, e->io_files.data[file].name);
	}
	assert_int_equal(n, NCALLS);
	fixture_free(&o);
}

/* Other packets have no file, and an experiment may have no I/O. */
static void test_none(void **state)
{
	struct packet p = { 0 };
	struct opened o;

	fixture_new(&o);
	fixture_open(&o);
	assert_int_equal(experiment_io_file(o.session->experiments.data[0], &p), 0);
	fixture_free(&o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_files),
		cmocka_unit_test(test_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
