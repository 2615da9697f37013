/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Command lines that BPF sent, and the programs that they belong to. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "user/record/commands.h"

enum { PID = 77, START = 5000 };

static void give_text(struct commands *c, pid_t pid, uint64_t t, const char *text, size_t n, bool whole)
{
	struct er_command r = { .h = { .kind = ER_KIND_COMMAND, .time_ns = t }, .start_time = START,
				.tgid = pid, .n = n, .whole = whole };

	memcpy(r.text, text, n);
	commands_take(c, &r);
}

static void give(struct commands *c, pid_t pid, uint64_t t, const char *text)
{
	give_text(c, pid, t, text, strlen(text) + 1, true);
}

static const char *find(const struct commands *c, uint64_t begin, uint64_t end)
{
	bool whole;

	return commands_find(c, PID, START, begin, end, &whole);
}

static void test_arguments_have_blanks_between(void **state)
{
	static const char text[] = "cc\0-o\0\0x";
	struct commands *c = commands_new();

	give_text(c, PID, 100, text, sizeof(text), true);
	assert_string_equal(find(c, 100, 0), "cc -o  x");
	commands_free(c);
}

static void test_a_text_may_be_cut_or_empty(void **state)
{
	struct commands *c = commands_new();
	char text[ER_COMMAND_TEXT];
	bool whole = true;

	memset(text, 'a', sizeof(text));
	give_text(c, PID, 100, text, sizeof(text), false);
	assert_int_equal(strlen(commands_find(c, PID, START, 100, 0, &whole)), ER_COMMAND_TEXT);
	assert_false(whole);
	give_text(c, PID, 200, "\0\0", 2, true);
	assert_string_equal(commands_find(c, PID, START, 200, 0, &whole), "");
	assert_true(whole);
	give_text(c, PID, 300, "", 0, true);
	assert_string_equal(find(c, 300, 0), "");
	commands_free(c);
}

static void test_each_program_of_a_process_has_its_own(void **state)
{
	struct commands *c = commands_new();

	give(c, PID, 100, "sh");
	give(c, PID + 1, 150, "other");
	give(c, PID, 200, "env");
	give(c, PID, 300, "cc");
	assert_string_equal(find(c, 90, 190), "sh");
	assert_string_equal(find(c, 190, 290), "env");
	assert_string_equal(find(c, 290, 0), "cc");
	assert_string_equal(find(c, 90, 0), "sh"); /* the first: what follows has an image of its own */
	assert_null(find(c, 90, 100));
	assert_null(find(c, 301, 0));
	commands_free(c);
}

static void test_a_pid_that_came_again_is_another_process(void **state)
{
	struct commands *c = commands_new();
	bool whole;

	give(c, PID, 100, "old");
	assert_null(commands_find(c, PID, START + 1, 0, 0, &whole));
	assert_null(commands_find(c, PID + 1, START, 0, 0, &whole));
	commands_free(c);
}

/* The slots are used again: what a process had before must not be taken for another's. */
static void test_the_oldest_are_forgotten(void **state)
{
	struct commands *c = commands_new();
	char text[32];

	give(c, PID, 100, "first");
	give(c, PID, 200, "second");
	for (int i = 0; i < COMMANDS_MAX - 2; i++) {
		snprintf(text, sizeof(text), "other %d", i);
		give(c, 1000 + i, 300 + i, text);
	}
	assert_string_equal(find(c, 0, 0), "first");
	give(c, 900, 90, "takes the first one's place");
	assert_string_equal(find(c, 0, 0), "second");
	give(c, PID, 99999, "third");
	assert_string_equal(find(c, 0, 0), "third");
	for (int i = 0; i < 2 * COMMANDS_MAX; i++)
		give(c, 1000000 + i, 100000 + i, "x");
	assert_null(find(c, 0, 0));
	commands_free(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_arguments_have_blanks_between),
		cmocka_unit_test(test_a_text_may_be_cut_or_empty),
		cmocka_unit_test(test_each_program_of_a_process_has_its_own),
		cmocka_unit_test(test_a_pid_that_came_again_is_another_process),
		cmocka_unit_test(test_the_oldest_are_forgotten),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
