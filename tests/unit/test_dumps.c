/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Dumps of a flight recorder: complete or not there, numbered, bounded. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "analysis/base/alloc.h"
#include "analysis/base/diag.h"
#include "tests/fixtures/tempdir.h"
#include "user/record/dumps.h"

static const char *const segments[] = { "x.8.er", "x.9.er" };

struct place {
	const char *dir;
	struct expname name;
	int memory;
	unsigned nrelieved;
};

static void shell(const char *dir, const char *what)
{
	__cleanup(freep) char *command = xasprintf("cd %s && %s", dir, what);

	assert_int_equal(system(command), 0);
}

/* Two segments of 100 KB that share a file. */
static void begin(struct place *p, void **state)
{
	__cleanup(freep) char *memory = xasprintf("%s/memory", (char *)*state);
	const struct plan plan = { .dir = *state, .name = "night.er", .flight_ns = 1 };
	struct diag d = { 0 };

	*p = (struct place){ .dir = *state };
	shell(p->dir, "mkdir -p memory/x.8.er/archives memory/x.9.er/archives && cd memory && "
		      "head -c 100000 /dev/zero | tr '\\0' x >x.8.er/archives/lib && "
		      "ln x.8.er/archives/lib x.9.er/archives/lib && echo a comment >x.9.er/notes");
	p->memory = open(memory, O_RDONLY | O_DIRECTORY);
	assert_int_equal(expname_choose(&plan, &p->name, &d), 0);
}

static void end(struct place *p)
{
	close(p->memory);
	expname_free(&p->name);
}

static void relieve(void *ctx)
{
	struct place *p = ctx;

	p->nrelieved++;
}

/* The path of the group below the directory, or NULL; the caller frees it. */
static char *write_dump(struct place *p, struct dumps *u, struct diag *d)
{
	const struct dump what = { .from = p->memory, .names = segments, .n = 2, .note = "Why",
				   .relief = relieve, .ctx = p };
	char *path = dumps_write(u, &what, d), *below;

	if (!path)
		return NULL;
	assert_int_equal(strncmp(path, p->dir, strlen(p->dir)), 0);
	below = xstrdup(path + strlen(p->dir) + 1);
	free(path);
	return below;
}

static void test_complete(void **state)
{
	struct place p;
	struct dumps *u;
	struct diag d = { 0 };
	char *group, *text;

	begin(&p, state);
	shell(p.dir, "mkdir night.2");
	u = dumps_new(&p.name, 0);
	group = write_dump(&p, u, &d);
	assert_string_equal(group, "night.3/night.erg");
	text = tempdir_read(p.dir, group, NULL);
	assert_string_equal(text, "#analyzer experiment group\nnight.1.er\nnight.2.er\n");
	free(text);
	text = tempdir_read(p.dir, "night.3/night.1.er/notes", NULL);
	assert_string_equal(text, "Why\n");
	free(text);
	text = tempdir_read(p.dir, "night.3/night.2.er/notes", NULL);
	assert_string_equal(text, "a comment\nWhy\n");
	free(text);
	shell(p.dir, "[ night.3/night.1.er/archives/lib -ef night.3/night.2.er/archives/lib ]");
	shell(p.dir, "cmp night.3/night.2.er/archives/lib memory/x.9.er/archives/lib");
	shell(p.dir, "[ $(stat -c %a night.3) = 700 ] && [ -z \"$(ls -A | grep '^\\.')\" ]");
	/* What is in memory stays as it was. */
	shell(p.dir, "[ ! -e memory/x.8.er/notes ] && [ $(wc -l <memory/x.9.er/notes) = 1 ]");
	assert_true(p.nrelieved >= 4);
	assert_int_equal(d.nmsgs, 0);
	free(group);
	dumps_free(u);
	end(&p);
}

/* A segment that cannot be read ends the dump, and nothing of it stays. */
static void test_failure_leaves_nothing(void **state)
{
	struct place p;
	struct dumps *u;
	struct diag d = { 0 };

	begin(&p, state);
	u = dumps_new(&p.name, 0);
	shell(p.dir, "rm -r memory/x.9.er");
	assert_null(write_dump(&p, u, &d));
	assert_int_equal(d.nerrors, 1);
	shell(p.dir, "[ \"$(ls -A)\" = memory ]");
	dumps_free(u);
	diag_free(&d);
	end(&p);
}

static void test_keep(void **state)
{
	struct place p;
	struct dumps *u;
	struct diag d = { 0 };

	begin(&p, state);
	u = dumps_new(&p.name, 250000); /* two dumps; without the shared file only one */
	for (int i = 0; i < 4; i++)
		free(write_dump(&p, u, &d));
	shell(p.dir, "[ \"$(ls -d night.*)\" = \"$(printf 'night.3\\nnight.4')\" ]");
	assert_int_equal(d.nmsgs, 0);
	dumps_free(u);
	end(&p);
}

/* Only incomplete dumps of recorders that are gone are removed. */
static void test_left_over(void **state)
{
	struct place p;

	begin(&p, state);
	/* No process has a number above pid_max. */
	shell(p.dir, "mkdir -p .night.dump.99999999/a .day.dump.99999999 .night.dump.1 .night.dump.x "
		     ".night.dump.99999999.saved");
	dumps_free(dumps_new(&p.name, 0));
	shell(p.dir, "[ ! -e .night.dump.99999999 ] && [ -d .day.dump.99999999 ] && "
		     "[ -d .night.dump.1 ] && [ -d .night.dump.x ] && [ -d .night.dump.99999999.saved ]");
	end(&p);
}

/* In a container the next recorder often has the PID of the one that was killed. */
static void test_left_over_with_our_pid(void **state)
{
	__cleanup(freep) char *make = xasprintf("mkdir -p .night.dump.%d/a", getpid());
	struct place p;
	struct dumps *u;
	struct diag d = { 0 };
	char *group;

	begin(&p, state);
	shell(p.dir, make);
	u = dumps_new(&p.name, 0);
	group = write_dump(&p, u, &d);
	assert_string_equal(group, "night.1/night.erg");
	free(group);
	dumps_free(u);
	end(&p);
}

static void begin_recorder(void *ctx)
{
	struct place *p = ctx;

	dumps_free(dumps_new(&p->name, 0));
	p->nrelieved++;
}

/* A recorder that begins during a dump, with the same PID in another namespace, leaves it alone. */
static void test_dump_in_progress(void **state)
{
	struct place p;
	struct dumps *u;
	struct diag d = { 0 };
	struct dump what = { .names = segments, .n = 2, .note = "Why", .relief = begin_recorder,
			     .ctx = &p };
	char *path;

	begin(&p, state);
	what.from = p.memory;
	u = dumps_new(&p.name, 0);
	path = dumps_write(u, &what, &d);
	assert_non_null(path);
	assert_true(p.nrelieved > 0);
	assert_int_equal(d.nmsgs, 0);
	free(path);
	dumps_free(u);
	end(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEMPDIR_CASE(test_complete),
		TEMPDIR_CASE(test_failure_leaves_nothing),
		TEMPDIR_CASE(test_keep),
		TEMPDIR_CASE(test_left_over),
		TEMPDIR_CASE(test_left_over_with_our_pid),
		TEMPDIR_CASE(test_dump_in_progress),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
