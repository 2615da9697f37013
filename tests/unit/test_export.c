/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Exporters, on built experiments. tests/tools/export_*.sh test the program. */
#include "analysis/export/export.h"
#include "analysis/export/outfile.h"
#include "tests/fixtures/tempdir.h"
#include "tests/unit/session_fixture.h"

/* The output of an exporter for a metric; the caller frees it. */
static char *exported(struct opened *o, const char *format, const char *metric)
{
	struct export x = { .view = &o->view, .diag = &o->diag };
	char *path = xasprintf("%s/out", o->dir), *text;
	struct outfile out;

	x.metric = export_metric(&o->view, metric, ROOT_NONE, &o->diag);
	assert_non_null(x.metric);
	assert_int_equal(outfile_open(&out, path, false, &o->diag), 0);
	assert_int_equal(exporter_find(format)->write(&x, &out), 0);
	assert_int_equal(outfile_commit(&out, &o->diag), 0);
	text = tempdir_read(o->dir, "out", NULL);
	free(path);
	return text;
}

/* A traced wait for a lock. */
static void sync_packet(struct opened *o, const char *stack, int64_t ns)
{
	int64_t now = exp_builder_now(o->builder);
	int64_t values[] = { 1, 1, 0, now, exp_builder_stack(o->builder, stack), now - ns, 0xbeef };

	expwriter_packet(exp_builder_writer(o->builder), ER_PKT_SYNC, values, NULL);
}

/* Times that are no whole microseconds still add up: 0.7 + 0.9 + 1.4 = 3. */
static void test_parts_of_microseconds(void **state)
{
	struct opened o;
	char *text;

	fixture_new(&o);
	expwriter_profile(exp_builder_writer(o.builder), ER_PKT_SYNC, "threshold=\"0\" scope=\"1\"");
	exp_builder_sleep(o.builder, 1000000);
	sync_packet(&o, "main>a", 700);
	sync_packet(&o, "main>b", 900);
	sync_packet(&o, "main>c", 1400);
	fixture_open(&o);
	text = exported(&o, "folded", "sync");
	assert_string_equal(text, "main;b 1\nmain;c 2\n");
	free(text);
	fixture_free(&o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parts_of_microseconds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
