/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Columns for people, bars, histograms, and text that is continued on the next line. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/base/buf.h"
#include "analysis/base/diag.h"
#include "analysis/print/fit.h"
#include "analysis/print/printer.h"
#include "analysis/views/table.h"

enum { TOTAL, A_SEC, A_PERCENT, NONE, BAR, NAME, NCOLUMNS };

static struct table the_table(void)
{
	struct table t = { .name = "t" };
	struct buf bar = { 0 };
	struct row *r;

	vec_push(&t.columns, (struct column){ .kind = CELL_TIME, .title = { "Total", NULL, "sec." } });
	vec_push(&t.columns, (struct column){ .kind = CELL_TIME, .title = { "A", NULL, "sec." },
					      .spare = 2 });
	vec_push(&t.columns, (struct column){ .kind = CELL_PERCENT, .title = { "A", NULL, "%" },
					      .spare = 1 });
	vec_push(&t.columns, (struct column){ .kind = CELL_COUNT, .title = { "None" },
					      .optional = true });
	vec_push(&t.columns, (struct column){ .kind = CELL_BAR, .title = { "Bar" } });
	vec_push(&t.columns, (struct column){ .kind = CELL_TEXT, .title = { "Name" } });
	for (int i = 0; i < TABLE_BAR; i++)
		buf_puts(&bar, i < 25 ? "U" : ".");
	r = table_row(&t);
	r->cells[TOTAL] = (struct cell){ .kind = CELL_TIME, .i = 4000000000 };
	r->cells[A_SEC] = (struct cell){ .kind = CELL_TIME, .i = 1000000000 };
	r->cells[A_PERCENT] = (struct cell){ .kind = CELL_PERCENT, .d = 25 };
	r->cells[NONE] = (struct cell){ .kind = CELL_COUNT };
	r->cells[BAR] = (struct cell){ .kind = CELL_BAR, .s = arena_strdup(&t.arena, bar.data) };
	r->cells[NAME] = (struct cell){ .kind = CELL_TEXT,
		.s = "a name of about forty characters, say so" };
	buf_free(&bar);
	return t;
}

static void assert_fit(size_t width, size_t ncolumns, size_t bar)
{
	struct table t = the_table(), got;
	const struct cell *cell;

	table_fit(&t, width, &got);
	assert_int_equal(got.columns.len, ncolumns);
	cell = &got.rows.data[0].cells[ncolumns - 2];
	assert_int_equal(cell->kind, CELL_BAR);
	assert_int_equal(strlen(cell->s), bar);
	/* A quarter of the width, to half a character. */
	assert_in_range(4 * strspn(cell->s, "U"), bar - 2, bar + 2);
	table_free(&got);
	table_free(&t);
}

/* Empty columns are left out; then spare ones, highest first; the bar takes the remaining room. */
static void columns_go_by_what_they_are_worth(void **state)
{
	assert_fit(0, NCOLUMNS - 1, 25);
	assert_fit(90, NCOLUMNS - 1, 27);
	assert_fit(76, NCOLUMNS - 1, 13);
	assert_fit(70, NCOLUMNS - 2, 14);
	assert_fit(64, NCOLUMNS - 3, 15);
	assert_fit(40, NCOLUMNS - 3, 10);
}

static void assert_hist(const char *counts, const char *want)
{
	struct buf b = { 0 };

	hist_put(&b, counts);
	assert_string_equal(b.data ? b.data : "", want);
	buf_free(&b);
}

static void a_little_can_be_seen(void **state)
{
	assert_hist("0 1 500 1000", " .=#");
	assert_hist("0 0", "  ");
	assert_hist("", "");
	assert_hist("7", "#");
}

static char *printed(const char *columns, const char *mode, const struct table *t)
{
	struct diag d = { 0 };
	struct printer p;
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	if (columns)
		setenv("COLUMNS", columns, 1);
	printer_init(&p, f, &d);
	assert_int_equal(printer_set_mode(&p, mode), 0);
	printer_print(&p, t);
	printer_fini(&p);
	fclose(f);
	diag_free(&d);
	unsetenv("COLUMNS");
	return text;
}

static void long_text_goes_on_below(void **state)
{
	struct table t = { .name = "t" };
	char *text;

	vec_push(&t.columns, (struct column){ .kind = CELL_COUNT, .title = { "N" } });
	vec_push(&t.columns, (struct column){ .kind = CELL_TEXT, .title = { "Stack" }, .wrap = true });
	for (int i = 0; i < 2; i++) {
		struct row *r = table_row(&t);

		r->cells[0] = (struct cell){ .kind = CELL_COUNT, .i = 1 };
		r->cells[1] = (struct cell){ .kind = CELL_TEXT, .s = i ? "short" :
			"the_leaf_of_the_stack < its_caller_here < and_that_ones_caller < main" };
	}
	text = printed("48", "text", &t);
	assert_string_equal(text, "N  Stack\n"
			    "1  the_leaf_of_the_stack < its_caller_here\n"
			    "                < and_that_ones_caller < main\n"
			    "1  short\n\n");
	free(text);
	text = printed(NULL, "text", &t);
	assert_non_null(strstr(text, "its_caller_here < and_that_ones_caller < main\n"));
	free(text);
	table_free(&t);
}

/* Output for programs has every column except bars, which only repeat numbers. */
static void machines_get_all(void **state)
{
	struct table t = the_table();
	char *text = printed("60", ",", &t);

	assert_non_null(strstr(text, "\"4.000\",\"1.000\",\"25.00\",\"0\",\"\",\"a name"));
	free(text);
	table_free(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(columns_go_by_what_they_are_worth),
		cmocka_unit_test(a_little_can_be_seen),
		cmocka_unit_test(long_text_goes_on_below),
		cmocka_unit_test(machines_get_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
