/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lines of processes.xml whose command lines cannot be read at once. The process is the test's own. */
#include "drain_fixture.h"

#include "analysis/experiment/xml.h"
#include "user/record/processes.h"
#include "user/space/procmap.h"

enum { STEP = 60000000 }; /* ns: longer than between two tries */

static char *words; /* of the test's own command line */
static size_t nwords;
static char kept[256];

/* While an exec goes on, /proc/PID/cmdline has nothing; here it has zeros. */
static void hide_command(void)
{
	memset(words, 0, nwords);
}

static void show_command(void)
{
	memcpy(words, kept, nwords);
}

static struct image own_image(void)
{
	static struct space nothing_mapped;

	return (struct image){ .pid = getpid(), .ppid = getppid(), .comm = "short",
			       .space = &nothing_mapped };
}

static size_t nlines(const struct fixture *f)
{
	return recording_nprocesses(f->recording);
}

static void check_command(struct fixture *f, struct late_lines *l, const char *command)
{
	struct experiment *e;
	const struct exp_process *p;

	late_lines_free(l);
	e = finish(f);
	assert_int_equal(e->processes.len, 1);
	p = &e->processes.data[0];
	assert_int_equal(p->pid, getpid());
	assert_string_equal(p->command, command);
	experiment_close(e);
}

static void test_a_line_waits_for_its_command(void **state)
{
	struct late_lines l = { 0 };
	struct image im = own_image();
	struct buf command = { 0 };
	struct fixture f;

	begin(&f, FOLLOW_OFF, NULL);
	hide_command();
	assert_false(process_command(&im, &command));
	assert_string_equal(command.data, "short");
	process_note_late(&l, recording_founder(f.recording), &im, 7);
	late_lines_update(&l, f.recording, STEP, false);
	assert_int_equal(nlines(&f), 0);
	show_command();
	late_lines_update(&l, f.recording, STEP + 1, false); /* too early */
	assert_int_equal(nlines(&f), 0);
	late_lines_update(&l, f.recording, 2 * STEP, false);
	assert_int_equal(nlines(&f), 1);
	late_lines_update(&l, f.recording, 3 * STEP, true);
	assert_int_equal(nlines(&f), 1);
	buf_clear(&command);
	assert_true(process_command(&im, &command));
	assert_string_not_equal(command.data, "short");
	check_command(&f, &l, command.data);
	buf_free(&command);
}

static void test_an_empty_command_line_is_tried_to_a_limit(void **state)
{
	struct late_lines l = { 0 };
	struct image im = own_image();
	struct fixture f;
	int n = 0;

	begin(&f, FOLLOW_OFF, NULL);
	hide_command();
	process_note_late(&l, recording_founder(f.recording), &im, 7);
	for (; n < 1000 && !nlines(&f); n++)
		late_lines_update(&l, f.recording, (uint64_t)n * STEP, false);
	assert_in_range(n, 2, 100);
	show_command();
	check_command(&f, &l, "short");
}

static void test_nothing_is_left_at_the_end(void **state)
{
	struct late_lines l = { 0 };
	struct image im = own_image();
	struct fixture f;

	begin(&f, FOLLOW_OFF, NULL);
	hide_command();
	process_note_late(&l, recording_founder(f.recording), &im, 7);
	late_lines_update(&l, f.recording, 0, true);
	show_command();
	check_command(&f, &l, "short");
}

static void test_a_forgotten_image_is_written_only_once(void **state)
{
	struct late_lines l = { 0 };
	struct image im = own_image(), other = own_image();
	struct fixture f;

	begin(&f, FOLLOW_OFF, NULL);
	im.end_ns = 5000; /* from now on the PID may be another's */
	process_note_late(&l, recording_founder(f.recording), &im, 7);
	late_lines_forget(&l, f.recording, &other);
	assert_int_equal(nlines(&f), 0);
	late_lines_forget(&l, f.recording, &im);
	late_lines_update(&l, f.recording, 0, true);
	check_command(&f, &l, "short");
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_line_waits_for_its_command),
		cmocka_unit_test(test_an_empty_command_line_is_tried_to_a_limit),
		cmocka_unit_test(test_nothing_is_left_at_the_end),
		cmocka_unit_test(test_a_forgotten_image_is_written_only_once),
	};

	words = argv[0];
	nwords = argv[argc - 1] + strlen(argv[argc - 1]) - words;
	if (nwords > sizeof(kept))
		nwords = sizeof(kept);
	memcpy(kept, words, nwords);
	return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
