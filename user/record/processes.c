/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "user/record/processes.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/alloc.h"
#include "analysis/base/buf.h"
#include "analysis/experiment/xml.h"
#include "bpf/command.h"
#include "user/space/procfs.h"

enum {
	COMMAND_MAX = ER_COMMAND_TEXT, /* bytes, as BPF sends them; those of compilers have thousands */
	TRIES = 40,        /* a process may set an empty command line; an exec may wait for a disk */
};

#define TRY_NS 50000000ULL /* between two tries */

struct late_line {
	struct image *image;
	struct output *output;
	uint64_t start_time, try_ns;
	unsigned tries;
};

bool process_command(const struct image *im, struct buf *ret)
{
	bool known = im->end_ns;

	/* After the process's end the PID may belong to another process. */
	if (!im->end_ns) {
		procfs_cmdline(im->pid, ret);
		known = ret->len;
	}
	if (!ret->len && im->command)
		buf_puts(ret, im->command);
	if (!ret->len)
		buf_puts(ret, *im->comm ? im->comm : "(unknown)");
	return known;
}

void process_keep_command(struct image *im, const char *command)
{
	if (im->end_ns)
		return;
	free(im->command);
	im->command = xstrndup(command, strnlen(command, COMMAND_MAX));
}

void process_note(struct recording *b, struct output *p, const struct process_line *l)
{
	const struct image *im = l->image;
	const struct mapping *program = image_program(im);
	__cleanup(freep) char *shortened = xstrndup(l->command, strnlen(l->command, COMMAND_MAX));
	uint64_t start = recording_start(b);
	struct buf line = { 0 };

	buf_printf(&line, "<process pid=\"%d\" ppid=\"%d\" start=\"%" PRIu64 "\"", im->pid, im->ppid,
		   process_start(l->start_time));
	if (im->begin_ns > start)
		buf_printf(&line, " begin=\"%" PRIu64 "\"", im->begin_ns - start);
	xml_attr(&line, "comm", im->comm);
	if (l->named)
		xml_attr(&line, "named", "1");
	xml_attr(&line, "command", shortened);
	if (program)
		xml_attr(&line, "program", program->path);
	if (p)
		xml_attr(&line, "experiment", expwriter_name(output_writer(p)));
	buf_puts(&line, "/>");
	recording_process(b, line.data);
	buf_free(&line);
}

void process_note_late(struct late_lines *l, struct output *p, struct image *im, uint64_t start_time)
{
	vec_push(&l->lines, ((struct late_line){ .image = im, .output = p, .start_time = start_time }));
}

/* True: the line is written. */
static bool try_line(struct recording *b, struct late_line *line, uint64_t t, bool last)
{
	struct buf command = { 0 };
	bool done;

	if (!last && t < line->try_ns)
		return false;
	line->try_ns = t + TRY_NS;
	done = process_command(line->image, &command) || last || ++line->tries == TRIES;
	if (done)
		process_note(b, line->output, &(struct process_line){
			.image = line->image, .start_time = line->start_time,
			.command = command.data });
	buf_free(&command);
	return done;
}

void late_lines_update(struct late_lines *l, struct recording *b, uint64_t t, bool last)
{
	size_t n = 0;

	for (size_t i = 0; i < l->lines.len; i++)
		if (!try_line(b, &l->lines.data[i], t, last))
			l->lines.data[n++] = l->lines.data[i];
	l->lines.len = n;
}

void late_lines_forget(struct late_lines *l, struct recording *b, const struct image *im)
{
	size_t n = 0;

	for (size_t i = 0; i < l->lines.len; i++)
		if (l->lines.data[i].image != im || !try_line(b, &l->lines.data[i], 0, true))
			l->lines.data[n++] = l->lines.data[i];
	l->lines.len = n;
}

void late_lines_free(struct late_lines *l)
{
	vec_free(&l->lines);
}
