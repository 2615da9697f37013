/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "user/record/processes.h"

#include <inttypes.h>
#include <string.h>

#include "analysis/base/alloc.h"
#include "analysis/base/buf.h"
#include "analysis/experiment/xml.h"
#include "user/space/procfs.h"

enum { COMMAND_MAX = 256 }; /* bytes; those of compilers have thousands */

void process_command(const struct image *im, struct buf *ret)
{
	/* After the process's end the PID may belong to another process. */
	if (!im->end_ns)
		procfs_cmdline(im->pid, ret);
	if (!ret->len)
		buf_puts(ret, *im->comm ? im->comm : "(unknown)");
}

void process_note(struct recording *b, struct output *p, const struct image *im,
		  const char *command)
{
	const struct mapping *program = image_program(im);
	__cleanup(freep) char *shortened = xstrndup(command, strnlen(command, COMMAND_MAX));
	uint64_t start = recording_start(b);
	struct buf line = { 0 };

	buf_printf(&line, "<process pid=\"%d\" ppid=\"%d\"", im->pid, im->ppid);
	if (im->begin_ns > start)
		buf_printf(&line, " begin=\"%" PRIu64 "\"", im->begin_ns - start);
	xml_attr(&line, "comm", im->comm);
	xml_attr(&line, "command", shortened);
	if (program)
		xml_attr(&line, "program", program->path);
	xml_attr(&line, "experiment", expwriter_name(output_writer(p)));
	buf_puts(&line, "/>");
	recording_process(b, line.data);
	buf_free(&line);
}
