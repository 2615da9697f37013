/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Losses in `header`, from the recorder's counts and the packets. */
#include "analysis/views/table.h"
#include "tests/unit/session_fixture.h"

static const char *line_with(const struct table *t, const char *part)
{
	for (size_t i = 0; i < t->rows.len; i++) {
		if (strstr(t->rows.data[i].cells[0].s, part))
			return t->rows.data[i].cells[0].s;
	}
	return NULL;
}
static bool full; /* `header full' */

/* Two samples, numbers 0 and 1, and the recorder's counts. */
static void header_of(const char *recorder, bool closed, struct table *t)
{
	struct opened o;

	*t = (struct table){ 0 };
	fixture_new(&o);
	exp_builder_segment(o.builder, "/nowhere/program", 0x5000000, 0x1000, 0);
	exp_builder_profile(o.builder, 1, "0x5000010", MS_USER, 1);
	exp_builder_profile(o.builder, 1, "0x5000020", MS_USER, 1);
	expwriter_text(exp_builder_writer(o.builder), "recorder.xml", recorder);
	if (closed)
		exp_builder_close(o.builder);
	else
		exp_builder_abandon(o.builder);
	fixture_open_built(&o);
	assert_int_equal((full ? view_header : view_header_short)(&o.view, NULL, t, &o.diag), 0);
	fixture_free(&o);
}

static const char whole[] = "<recorder state=\"closed\" archive=\"0\"/>\n"
			    "<ring cpu=\"0\" produced=\"2\" recorded=\"2\" lost=\"0\"/>\n";

static void test_nothing(void **state)
{
	struct table t;

	header_of(whole, true, &t);
	assert_string_equal(line_with(&t, "Nothing was lost"),
			    "Nothing was lost: 2 samples produced, all recorded.");
	assert_null(line_with(&t, "***"));
	assert_true(t.rows.len <= 10);
	table_free(&t);
}

/* Each of these causes replaces "Nothing was lost" by a remedy. */
static void test_causes(void **state)
{
	static const struct {
		const char *more;   /* elements added to those of a recording without losses */
		const char *headline, *cause;
	} rows[] = {
		{ "<limit bytes=\"1\" reached_ns=\"1500000000\"/>", "*** Not complete",
		  "limit was reached in second 1.500: what came later is missing; raise -L" },
		{ "<dropped what=\"samples beyond the size limit\" count=\"3\"/>", "*** Not complete",
		  "The size limit was reached: " },
		{ "<unwritten error=\"File too large\"/>", "*** Not complete",
		  "could not be written to its end (File too large)" },
		{ "<stacks lost=\"1\"/>", "*** Lost: 1 stack: times are right, but some have no stack.",
		  "***" },
		{ "<dropped kind=\"stack\" what=\"x\" count=\"2\"/>", "*** Not complete",
		  "2 samples and waits have lost their stacks: their time is under <Stack-lost>" },
		{ "<dropped kind=\"sideband\" what=\"x\" count=\"1\"/>", "*** Not complete",
		  "1 record about processes and mappings was lost in the kernel" },
		{ "<dropped what=\"records of processes and mappings\" count=\"9\"/>",
		  "*** Not complete", "9 records about processes and mappings were lost" },
		{ "<waitring cpu=\"0\" produced=\"9\" recorded=\"0\" lost=\"9\"/>",
		  "*** Lost: 9 of 9 waits (100.00 %): times are right, but some have no stack.",
		  "9 waits found no room in a ring" },
		{ "<ring cpu=\"1\" produced=\"5\" recorded=\"4\" lost=\"1\"/>",
		  "*** Lost: 5 of 7 samples (71.43 %): times and counts in reports are too small",
		  "4 records were recorded and are not in the experiment" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char *text = xasprintf("%s%s\n", whole, rows[i].more);
		struct table t;

		header_of(text, true, &t);
		free(text);
		if (rows[i].headline) {
			assert_non_null(line_with(&t, rows[i].headline));
			assert_non_null(line_with(&t, rows[i].cause));
			assert_null(line_with(&t, "Nothing was lost"));
		}
		table_free(&t);
	}
}

/* Data that is shown in less detail is not lost. */
static void test_details(void **state)
{
	char *text = xasprintf("%s<dropped kind=\"late\" what=\"x\" count=\"2\"/>\n", whole);
	struct table t;

	header_of(text, true, &t);
	free(text);
	assert_non_null(line_with(&t, "Nothing was lost"));
	assert_non_null(line_with(&t, "2 processes were found in /proc only"));
	table_free(&t);
}

/* Threads' times are shorter by the pauses than the recording: both reports say it, once. */
static void test_pauses(void **state)
{
	__cleanup(freep) char *text = xasprintf("%s<paused count=\"2\" ns=\"1500000000\"/>\n", whole);

	for (full = false;; full = true) {
		size_t n = 0;
		struct table t;

		header_of(text, true, &t);
		for (size_t i = 0; i < t.rows.len; i++)
			n += !strcmp(t.rows.data[i].cells[0].s,
				     "Paused 2 times, 1.500 sec. in all, which are in no thread's time");
		assert_int_equal(n, 1);
		table_free(&t);
		if (full)
			break;
	}
	full = false;
}

/* A binary is in a stack and not in the archives, and it was not left out on purpose. */
static void test_archives(void **state)
{
	struct table t;

	header_of("<recorder state=\"closed\" archive=\"1\"/>\n"
		  "<ring cpu=\"0\" produced=\"2\" recorded=\"2\" lost=\"0\"/>\n", true, &t);
	assert_null(line_with(&t, "Nothing was lost"));
	assert_non_null(line_with(&t, "1 binary is not archived"));
	table_free(&t);
	header_of("<recorder state=\"closed\" archive=\"1\"/>\n"
		  "<dropped kind=\"archive\" what=\"x\" count=\"1\"/>\n"
		  "<ring cpu=\"0\" produced=\"2\" recorded=\"2\" lost=\"0\"/>\n", true, &t);
	assert_non_null(line_with(&t, "Nothing was lost"));
	assert_non_null(line_with(&t, "1 binary could not be read"));
	table_free(&t);
}

/* Why a binary is not archived, as the recorder says it; old recorders did not. */
static void test_archives_reason(void **state)
{
	static const struct {
		const char *element, *reason;
	} rows[] = {
		{ "", "because archiving was interrupted or had no room: " },
		{ "<archives state=\"interrupted\" left=\"1\"/>", "because archiving was interrupted: " },
		{ "<archives state=\"no room\" left=\"1\"/>", "because the archives had no room " },
		{ "<archives state=\"failed\" left=\"1\"/>", "because the archives could not be written: " },
		{ "<archives state=\"running\" left=\"0\"/>", "because archiving has not ended: " },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char *text = xasprintf("<recorder state=\"closed\" archive=\"1\"/>\n%s\n"
				       "<ring cpu=\"0\" produced=\"2\" recorded=\"2\" lost=\"0\"/>\n",
				       rows[i].element);
		struct table t;

		header_of(text, true, &t);
		free(text);
		assert_non_null(line_with(&t, "1 binary is not archived"));
		assert_non_null(line_with(&t, rows[i].reason));
		table_free(&t);
	}
}

/* The last losses of a killed recorder are unknown. */
static void test_not_closed(void **state)
{
	struct table t;

	header_of(whole, false, &t);
	assert_null(line_with(&t, "Nothing was lost"));
	assert_non_null(line_with(&t, "was not closed"));
	table_free(&t);
}

/*
 * The recorder counts at another moment than it writes packets. What an experiment that was not closed lacks
 * so far is no loss; what the recorder counted as lost is.
 */
static void test_still_recorded(void **state)
{
	static const char counted[] = "<recorder state=\"running\"/>\n"
		"<ring cpu=\"0\" produced=\"9\" recorded=\"8\" lost=\"0\"/>\n"
		"<waitring cpu=\"0\" produced=\"1\" recorded=\"1\" lost=\"0\"/>\n";
	static const char one[] = "<recorder state=\"running\"/>\n"
		"<waitring cpu=\"0\" produced=\"1\" recorded=\"1\" lost=\"0\"/>\n";
	static const char losing[] = "<recorder state=\"running\"/>\n"
		"<ring cpu=\"0\" produced=\"9\" recorded=\"2\" lost=\"7\"/>\n";
	struct table t;

	header_of(counted, false, &t);
	assert_null(line_with(&t, "*** Lost"));
	assert_non_null(line_with(&t, "last count 9 samples and 1 wait were produced, and none was lost"));
	assert_non_null(line_with(&t, "Of these, 6 samples and 1 wait are not in the experiment: "));
	table_free(&t);
	header_of(one, false, &t);
	assert_non_null(line_with(&t, "Of these, 1 wait is not in the experiment: "));
	table_free(&t);
	header_of(losing, false, &t);
	assert_non_null(line_with(&t, "*** Lost: 7 of 9 samples (77.78 %)"));
	assert_null(line_with(&t, "none was lost"));
	assert_null(line_with(&t, "Of these"));
	table_free(&t);
	full = true;
	header_of(counted, false, &t);
	assert_non_null(line_with(&t, "CPU 0: 9 samples produced, 8 recorded, 0 lost; 2 in the packets"));
	assert_null(line_with(&t, "  *** "));
	table_free(&t);
	header_of(counted, true, &t);
	assert_non_null(line_with(&t, "  *** "));
	table_free(&t);
	full = false;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nothing), cmocka_unit_test(test_causes),
		cmocka_unit_test(test_details), cmocka_unit_test(test_archives),
		cmocka_unit_test(test_archives_reason), cmocka_unit_test(test_not_closed),
		cmocka_unit_test(test_still_recorded), cmocka_unit_test(test_pauses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
