/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Printers: the digits of numbers, layout, quoting, marks and trees. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/base/diag.h"
#include "analysis/base/map.h"
#include "analysis/print/printer.h"
#include "analysis/views/table.h"

#define TIME(ns)   { .kind = CELL_TIME, .i = (ns) }
#define PERCENT(v) { .kind = CELL_PERCENT, .d = (v) }
#define TEXT(str)  { .kind = CELL_TEXT, .s = (str) }

static void assert_cell(struct cell c, const char *want)
{
	struct buf b = { 0 };

	cell_put(&b, &c);
	assert_string_equal(b.data ? b.data : "", want);
	buf_free(&b);
}

/* Zero is "0."; a value that only rounds to zero is not. */
static void numbers_show_nothing_and_next_to_nothing(void **state)
{
	assert_cell((struct cell)TIME(0), "0.");
	assert_cell((struct cell)TIME(400000), "0.000");
	assert_cell((struct cell)TIME(1234000000), "1.234");
	assert_cell((struct cell)TIME(-1500000000), "-1.500");
	assert_cell((struct cell){ .kind = CELL_MSEC, .i = 0 }, "0.");
	assert_cell((struct cell){ .kind = CELL_MSEC, .i = 400 }, "0.000");
	assert_cell((struct cell){ .kind = CELL_MSEC, .i = 12345678 }, "12.346");
	assert_cell((struct cell){ .kind = CELL_USEC, .i = 0 }, "0.");
	assert_cell((struct cell){ .kind = CELL_USEC, .i = 12345678 }, "12345.678");
	assert_cell((struct cell)PERCENT(0), "0.");
	assert_cell((struct cell)PERCENT(0.001), "0.00");
	assert_cell((struct cell)PERCENT(100), "100.00");
	assert_cell((struct cell){ .kind = CELL_COUNT, .i = 12345678901 }, "12345678901");
	assert_cell((struct cell){ .kind = CELL_ADDRESS, .i = 0x1149, .n = 2 }, "2:0x00001149");
	assert_cell((struct cell){ .kind = CELL_BLANK }, "");
	assert_cell((struct cell)TEXT("a\033[1mb\n"), "a\\x1b[1mb\\x0a");
	assert_cell((struct cell)TEXT(NULL), "");
}

static void width_is_what_a_terminal_shows(void **state)
{
	setlocale(LC_CTYPE, "C.UTF-8");
	assert_int_equal(text_width(""), 0);
	assert_int_equal(text_width("abc"), 3);
	assert_int_equal(text_width("r\xc3\xa9sum\xc3\xa9"), 6);
	assert_int_equal(text_width("\xe6\xbc\xa2"), 2);
	assert_int_equal(text_width("e\xcc\x81"), 1);
	assert_int_equal(text_width("\xc3"), 1);
}

/* A table with two numbers and a name, like a function list. */
static struct table list_table(void)
{
	struct table t = { .name = "functions",
			   .title = "Sorted by metric: Exclusive User CPU Time" };

	vec_push(&t.columns, (struct column){ .kind = CELL_TIME,
		.title = { "Excl.", "User CPU", "sec." }, .full = { "Exclusive", "User CPU Time" },
		.sorted = true });
	vec_push(&t.columns, (struct column){ .kind = CELL_PERCENT,
		.title = { "Excl.", "User CPU", "%" }, .full = { "Exclusive", "User CPU Time" },
		.sorted = true });
	vec_push(&t.columns, (struct column){ .kind = CELL_TEXT, .title = { "Name" } });
	return t;
}

static void add(struct table *t, struct row like, int64_t ns, double percent, const char *name)
{
	struct cell *c = arena_alloc(&t->arena, 3 * sizeof(*c));

	c[0] = (struct cell)TIME(ns);
	c[1] = (struct cell)PERCENT(percent);
	c[2] = (struct cell)TEXT(name);
	like.cells = c;
	vec_push(&t->rows, like);
}

static void drop(struct table *t)
{
	vec_free(&t->columns);
	vec_free(&t->rows);
	vec_free(&t->notes);
	arena_free(&t->arena);
}

/* Prints the table in this mode. `said` gets the messages. */
static char *printed(const struct table *t, const char *mode, struct diag *d)
{
	struct printer p;
	char *text = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&text, &len);

	printer_init(&p, f, d);
	assert_int_equal(printer_set_mode(&p, mode), 0);
	printer_print(&p, t);
	printer_fini(&p);
	fclose(f);
	return text;
}

static void assert_printed(const struct table *t, const char *mode, const char *want)
{
	struct diag d = { 0 };
	char *got = printed(t, mode, &d);

	assert_string_equal(got, want);
	free(got);
	diag_free(&d);
}

static void text_aligns_numbers_and_shares_headings(void **state)
{
	struct table t = list_table();

	add(&t, (struct row){ 0 }, 12080000000, 100, "<Total>");
	add(&t, (struct row){ 0 }, 0, 0, "a\tb");
	vec_push(&t.notes, "3 records were lost");
	assert_printed(&t, "text",
		"Sorted by metric: Exclusive User CPU Time\n"
		"\n"
		"Excl.          Name\n"
		"User CPU\n"
		"  sec.      %\n"
		"12.080 100.00  <Total>\n"
		" 0.      0.    a\\x09b\n"
		"3 records were lost\n"
		"\n");
	drop(&t);
}

static void notes_are_broken_at_blanks_where_the_line_ends(void **state)
{
	struct table t = { 0 };

	vec_push(&t.notes, "The line has room for forty characters, and this note is longer than two of them are.");
	vec_push(&t.notes, "0123456789012345678901234567890123456789012345 has no blank");
	setenv("COLUMNS", "40", 1);
	assert_printed(&t, "text",
		"The line has room for forty characters,\n"
		"and this note is longer than two of them\n"
		"are.\n"
		"0123456789012345678901234567890123456789012345\n"
		"has no blank\n"
		"\n");
	unsetenv("COLUMNS");
	drop(&t);
}

static void names_are_continued_between_the_rails_of_a_tree(void **state)
{
	struct table t = list_table();

	add(&t, (struct row){ 0 }, 1000000000, 100, "<Total>");
	add(&t, (struct row){ .depth = 1, .more = 1 }, 500000000, 50, "a name of several words");
	add(&t, (struct row){ .depth = 1 }, 500000000, 50, "another of several words");
	t.title = NULL;
	setenv("COLUMNS", "40", 1);
	assert_printed(&t, "text",
		"Excl.         Name\n"
		"User CPU\n"
		" sec.      %\n"
		"1.000 100.00  +-<Total>\n"
		"0.500  50.00    +-a name of several\n"
		"                |    words\n"
		"0.500  50.00    +-another of several\n"
		"                    words\n"
		"\n");
	unsetenv("COLUMNS");
	drop(&t);
}

static void panels_stand_apart_with_their_centre_marked(void **state)
{
	struct table t = list_table();

	add(&t, (struct row){ .group = 1 }, 1000000000, 100, "main");
	add(&t, (struct row){ .group = 1, .mark = '*' }, 0, 0, "f");
	add(&t, (struct row){ .group = 2, .mark = '*' }, 1000000000, 100, "g");
	t.title = NULL;
	assert_printed(&t, "text",
		"Excl.          Name\n"
		"User CPU\n"
		" sec.      %\n"
		"1.000 100.00   main\n"
		"0.      0.    *f\n"
		"\n"
		"1.000 100.00  *g\n"
		"\n");
	drop(&t);
}

static void trees_have_rails_where_siblings_follow(void **state)
{
	struct table t = list_table();

	t.title = NULL;
	add(&t, (struct row){ .depth = 0 }, 4000000000, 100, "<Total>");
	add(&t, (struct row){ .depth = 1, .more = 1 }, 3000000000, 75, "f");
	add(&t, (struct row){ .depth = 2 }, 3000000000, 75, "g");
	add(&t, (struct row){ .depth = 1 }, 1000000000, 25, "h");
	assert_printed(&t, "text",
		"Excl.         Name\n"
		"User CPU\n"
		" sec.      %\n"
		"4.000 100.00  +-<Total>\n"
		"3.000  75.00    +-f\n"
		"3.000  75.00    |  +-g\n"
		"1.000  25.00    +-h\n"
		"\n");
	drop(&t);
}

/* The heading rows equal gprofng's; a quote in a name is doubled. */
static void delimited_is_for_programs(void **state)
{
	struct table t = list_table();
	struct diag d = { 0 };
	char *got;

	add(&t, (struct row){ 0 }, 80000000, 87.5, "p,q\"r");
	vec_push(&t.notes, "3 records were lost");
	got = printed(&t, ";", &d);
	assert_string_equal(got,
		"\"\";\"\";\"\"\n"
		"\"Exclusive\";\"Exclusive\";\"Name\"\n"
		"\"User CPU Time\";\"User CPU Time\";\"\"\n"
		"\"V  (sec.)\";\"V  %%\";\"   \"\n"
		"\"0.080\";\"87.50\";\"p,q\"\"r\"\n");
	assert_int_equal(d.nmsgs, 1);
	assert_string_equal(d.msgs[0].text, "3 records were lost");
	free(got);
	diag_free(&d);
	drop(&t);
}

static void tables_without_titles_have_no_heading(void **state)
{
	struct table t = { 0 };
	struct cell c[2] = { TEXT("Load Object:"), TEXT("a.out") };

	assert_printed(&t, "text", "\n");
	assert_printed(&t, ",", "");
	vec_push(&t.columns, (struct column){ .kind = CELL_TEXT });
	vec_push(&t.columns, (struct column){ .kind = CELL_TEXT });
	vec_push(&t.rows, (struct row){ .cells = c });
	assert_printed(&t, "text", "Load Object:  a.out\n\n");
	assert_printed(&t, ",", "\"Load Object:\",\"a.out\"\n");
	drop(&t);
}

static void csv_quotes_where_it_must(void **state)
{
	struct table t = list_table();

	add(&t, (struct row){ .group = 0 }, 80000000, 87.5, "p,q\"r");
	assert_printed(&t, "csv",
		"Exclusive User CPU Time (sec.),Exclusive User CPU Time (%),Name\n"
		"0.080,87.50,\"p,q\"\"r\"\n");
	add(&t, (struct row){ .group = 1, .mark = '*' }, 0, 0, "a\nb");
	assert_printed(&t, "csv",
		"Panel,Exclusive User CPU Time (sec.),Exclusive User CPU Time (%),Name\n"
		"1,0.080,87.50,\"p,q\"\"r\"\n"
		"2,0.,0.,*a\\x0ab\n");
	drop(&t);
}

static void json_has_all_digits_and_escapes(void **state)
{
	struct table t = list_table();

	t.title = "a \"b\" \\";
	add(&t, (struct row){ .depth = 0 }, -1234567891, 1.0 / 0.0, "\"\033");
	add(&t, (struct row){ .depth = 1 }, 500, 12.5, "\\");
	vec_push(&t.notes, "lost: 3");
	vec_push(&t.notes, "lost: 4");
	assert_printed(&t, "json",
		"{\"name\":\"functions\",\"title\":\"a \\\"b\\\" \\\\\",\"columns\":["
		"{\"name\":\"Exclusive User CPU Time\",\"type\":\"seconds\",\"sorted\":true},"
		"{\"name\":\"Exclusive User CPU Time\",\"type\":\"percent\",\"sorted\":true},"
		"{\"name\":\"Name\",\"type\":\"text\"}],\"rows\":[\n"
		"{\"depth\":0,\"cells\":[-1.234567891,null,\"\\\"\\\\x1b\"]},\n"
		"{\"depth\":1,\"cells\":[0.0000005,12.5,\"\\\\\"]}],"
		"\"notes\":[\"lost: 3\",\"lost: 4\"]}\n");
	drop(&t);
}

/* Any name becomes text of the page. A file has only one head. */
static void html_escapes_names(void **state)
{
	struct table t = list_table();
	struct diag d = { 0 };
	char *got;

	add(&t, (struct row){ 0 }, 0, 0, "<script>\"'&\033[1m");
	vec_push(&t.notes, "<b>");
	got = printed(&t, "html", &d);
	assert_ptr_equal(strstr(got, "<!DOCTYPE html>"), got);
	assert_non_null(
		strstr(got, "<td class=\"t\">&#60;script&#62;&#34;&#39;&#38;\\x1b[1m</td>"));
	assert_non_null(strstr(got, "</table>\n<p>&#60;b&#62;</p>\n"));
	assert_null(strstr(got, "<script>"));
	free(got);
	drop(&t);
}

static void modes_are_words_or_one_character(void **state)
{
	static const char *const wrong[] = { "HTML", "csvx", "", ",,", "\"", "\n", "\xc3" };
	struct diag d = { 0 };
	struct buf b = { 0 };
	struct printer p;

	printer_init(&p, stdout, &d);
	assert_int_equal(printer_set_mode(&p, "\t"), 0);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		assert_int_equal(printer_set_mode(&p, wrong[i]), -1);
	assert_int_equal(d.nerrors, sizeof(wrong) / sizeof(wrong[0]));
	printer_put_mode(&p, &b);
	assert_string_equal(b.data, "\t");
	printer_fini(&p);
	buf_free(&b);
	diag_free(&d);
}

static void assert_digits(struct cell c, int digits, double value)
{
	char want[400];

	snprintf(want, sizeof(want), "%.*f", digits, value);
	assert_cell(c, want);
}

/* The digits equal printf's, also next to a number halfway between two, and at it. */
static void digits_are_those_of_printf(void **state)
{
	static const int64_t steps[] = { -1, 0, 1 };
	uint64_t x = 1;

	for (int i = 0; i < 20000; i++) {
		int64_t ns;

		x = hash64(x);
		ns = x >> (1 + x % 60);

		assert_digits((struct cell)TIME(ns | 1), 3, (ns | 1) / 1e9);
		assert_digits((struct cell)TIME(-ns | 1), 3, (-ns | 1) / 1e9);
		assert_digits((struct cell)PERCENT((double)ns / 8 + 0.125), 2,
			      (double)ns / 8 + 0.125);
		assert_digits((struct cell){ .kind = CELL_COUNT, .i = ns >> 11 }, 0,
			      ns >> 11);
		assert_digits((struct cell){ .kind = CELL_MSEC, .i = ns | 1 }, 3, (ns | 1) / 1e6);
		for (size_t k = 0; k < 3; k++) {
			int64_t seconds = ns % 1100000000 * 1000000 + 500000 + steps[k];
			int64_t msec = ns % 1100000000 * 1000 + 500 + steps[k];

			assert_digits((struct cell)TIME(seconds), 3, seconds / 1e9);
			assert_digits((struct cell){ .kind = CELL_MSEC, .i = msec }, 3, msec / 1e6);
		}
	}
}

enum { MANY = 20000, PANEL = 7 };

static void draw_many(const void *ctx, size_t from, size_t n, struct row *ret)
{
	for (size_t i = 0; i < n; i++) {
		size_t row = from + i;
		struct cell *c = ret[i].cells;

		ret[i].group = row / PANEL;
		ret[i].mark = row % PANEL == PANEL / 2 ? '*' : '\0';
		c[0] = (struct cell)TIME((row * 7919 % MANY) * 1000000);
		c[1] = (struct cell)PERCENT(row % 101);
		c[2] = (struct cell)TEXT(row % 3 ? "f" : "a longer name");
	}
}

static void count_free(void *ctx)
{
	++*(int *)ctx;
}

/* Rows that are made when they are read, by several threads, are printed as rows of the table are. */
static void drawn_rows_are_printed_like_kept_ones(void **state)
{
	static const char *const modes[] = { "text", "csv", "json", "html", "," };
	struct table kept = list_table(), drawn = list_table();
	int nfreed = 0;

	for (size_t i = 0; i < MANY; i++) {
		struct row *r = table_row(&kept), filled = { .cells = r->cells };

		draw_many(NULL, i, 1, &filled);
		*r = filled;
	}
	drawn.source = (struct row_source){ .n = MANY, .marks = true, .groups = true, .draw = draw_many,
					    .free = count_free, .ctx = &nfreed };
	for (size_t i = 0; i < 2 * sizeof(modes) / sizeof(modes[0]); i++) {
		struct diag d = { 0 };
		char *want, *got;

		if (i == sizeof(modes) / sizeof(modes[0]))
			setenv("COLUMNS", "40", 1);
		kept.columns.data[1].optional = drawn.columns.data[1].optional = i % 2;
		want = printed(&kept, modes[i % 5], &d);
		got = printed(&drawn, modes[i % 5], &d);
		assert_true(strlen(want) > MANY);
		assert_string_equal(got, want);
		free(want);
		free(got);
	}
	unsetenv("COLUMNS");
	assert_int_equal(nfreed, 0);
	table_draw(&drawn);
	assert_int_equal(nfreed, 1);
	assert_int_equal(drawn.rows.len, MANY);
	assert_int_equal(table_nrows(&drawn), MANY);
	assert_int_equal(drawn.rows.data[MANY - 1].group, (MANY - 1) / PANEL);
	assert_memory_equal(drawn.rows.data[MANY - 1].cells, kept.rows.data[MANY - 1].cells,
			    3 * sizeof(struct cell));
	table_free(&kept);
	table_free(&drawn);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(digits_are_those_of_printf),
		cmocka_unit_test(numbers_show_nothing_and_next_to_nothing),
		cmocka_unit_test(width_is_what_a_terminal_shows),
		cmocka_unit_test(text_aligns_numbers_and_shares_headings),
		cmocka_unit_test(notes_are_broken_at_blanks_where_the_line_ends),
		cmocka_unit_test(names_are_continued_between_the_rails_of_a_tree),
		cmocka_unit_test(panels_stand_apart_with_their_centre_marked),
		cmocka_unit_test(trees_have_rails_where_siblings_follow),
		cmocka_unit_test(delimited_is_for_programs),
		cmocka_unit_test(tables_without_titles_have_no_heading),
		cmocka_unit_test(modes_are_words_or_one_character),
		cmocka_unit_test(csv_quotes_where_it_must),
		cmocka_unit_test(json_has_all_digits_and_escapes),
		cmocka_unit_test(html_escapes_names),
		cmocka_unit_test(drawn_rows_are_printed_like_kept_ones),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
