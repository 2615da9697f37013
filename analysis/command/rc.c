/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/command/rc.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "analysis/command/shell.h"

#define SYSTEM_RC "/etc/er.rc"

struct rc_line {
	const struct command *command;
	const char *file; /* owned by struct rc */
	unsigned line;
	struct words words;
	bool decided; /* the line set something when it was last executed */
};

struct rc_file {
	char *path;
	dev_t dev;
	ino_t ino;
};

struct rc {
	VEC(struct rc_file) files;
	VEC(struct rc_line) lines;
};

/* Check a line, and keep it with its words. */
static void take_line(struct shell *sh, struct rc *rc, struct input *in, const char *file)
{
	const struct command *c;

	if (!in->words.v.len)
		return;
	c = command_find(in->words.v.data[0], &sh->diag);
	if (!c || command_check_args(c, in->words.v.len - 1, &sh->diag))
		return;
	if (c->rc == RC_NEVER) {
		diag_error(&sh->diag, "%s: not allowed in this file", c->name);
		return;
	}
	vec_push(&rc->lines, (struct rc_line){ .command = c, .file = file, .line = in->line,
					       .words = in->words });
	in->words = (struct words){ 0 };
}

/* The home directory may be the current directory. Its file is read once. */
static bool is_new(const struct rc *rc, const struct stat *st)
{
	vec_for_each(f, &rc->files) {
		if (f->dev == st->st_dev && f->ino == st->st_ino)
			return false;
	}
	return true;
}

static void read_lines(struct shell *sh, struct rc *rc, FILE *f, char *path)
{
	struct input in = { .read = read_file_line, .file = f, .name = path };
	struct input *outer = sh->input;

	sh->input = &in;
	sh->in_rc = true;
	while (shell_next_words(sh, &in)) {
		take_line(sh, rc, &in, path);
		shell_warnings(sh);
	}
	sh->in_rc = false;
	sh->input = outer;
	words_free(&in.words);
	buf_free(&in.text);
}

/* Do not block: the current directory may be another user's and contain a fifo. */
static FILE *open_file(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

	return fd < 0 ? NULL : fdopen(fd, "r");
}

/* Read a file; a missing file is not an error. Takes ownership of path. */
static void read_rc(struct shell *sh, struct rc *rc, char *path)
{
	__cleanup(fclosep) FILE *f = open_file(path);
	struct stat st;

	if (!f && errno != ENOENT && errno != ENOTDIR) {
		diag_warn(&sh->diag, "defaults '%s': cannot open: %s", path, strerror(errno));
		shell_warnings(sh);
	}
	if (!f || fstat(fileno(f), &st) || !S_ISREG(st.st_mode) || !is_new(rc, &st)) {
		free(path);
		return;
	}
	vec_push(&rc->files, (struct rc_file){ .path = path, .dev = st.st_dev, .ino = st.st_ino });
	read_lines(sh, rc, f, path);
}

struct rc *rc_read(struct shell *sh)
{
	const char *home = getenv("HOME"), *other = getenv("ER_SYSTEM_RC");
	struct rc *rc = xcalloc(1, sizeof(*rc));

	read_rc(sh, rc, xstrdup(".er.rc"));
	if (home && *home)
		read_rc(sh, rc, xasprintf("%s/.er.rc", home));
	read_rc(sh, rc, xstrdup(other && *other ? other : SYSTEM_RC));
	return rc;
}

void rc_free(struct rc *rc)
{
	if (!rc)
		return;
	vec_for_each(l, &rc->lines)
		words_free(&l->words);
	vec_for_each(f, &rc->files)
		free(f->path);
	vec_free(&rc->lines);
	vec_free(&rc->files);
	free(rc);
}

/* Run a line as a command of a script, but without output; a failure is a warning. */
static void run_line(struct shell *sh, struct rc_line *l)
{
	struct input in = { .name = l->file, .line = l->line }, *outer = sh->input;

	sh->input = &in;
	sh->in_rc = true;
	/* A command without an argument shows a setting and sets nothing. */
	l->decided = !l->command->run(sh, l->words.v.len, l->words.v.data) && l->words.v.len > 1;
	shell_warnings(sh);
	sh->in_rc = false;
	sh->input = outer;
}

/* Whether an earlier line has already set what this line would set. */
static bool is_decided(const struct rc *rc, const struct rc_line *l)
{
	if (l->command->rc != RC_FIRST)
		return false;
	for (const struct rc_line *before = rc->lines.data; before < l; before++) {
		if (before->command == l->command && before->decided)
			return true;
	}
	return false;
}

static bool from_last(const struct rc_line *l)
{
	return l->command->rc == RC_FROM_LAST;
}

static void run_lines(struct shell *sh, enum rc_time time, bool objects)
{
	struct rc *rc = sh->rc;

	vec_for_each(l, &rc->lines) {
		if (from_last(l) || l->command->rc_time != time || objects)
			continue;
		l->decided = false;
		if (!is_decided(rc, l))
			run_line(sh, l);
	}
	for (size_t i = rc->lines.len; i > 0; i--) {
		struct rc_line *l = &rc->lines.data[i - 1];

		if (from_last(l) && l->command->rc_time == time)
			run_line(sh, l);
	}
}

void rc_run(struct shell *sh, enum rc_time time)
{
	run_lines(sh, time, false);
}

void rc_run_objects(struct shell *sh)
{
	run_lines(sh, RC_OPENED, true);
}

void rc_run_remarks(struct shell *sh)
{
	static const char *const names[] = { "scc", "dcc", "cc" };

	vec_for_each(l, &sh->rc->lines) {
		for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
			if (!strcmp(l->command->name, names[i]))
				run_line(sh, l);
		}
	}
}
