/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes the table of processes, processes.xml: a line for each program that a followed process
 * ran. The line is written at the program's first record, because a command line that BPF did not send
 * (commands.h) can be read only while the program runs. An exec that still goes on has none yet: that
 * line is written later.
 */
#ifndef USER_RECORD_PROCESSES_H
#define USER_RECORD_PROCESSES_H

#include "analysis/base/vec.h"
#include "user/record/recording.h"

struct buf;
struct image;

/* Lines that wait for their command lines. Empty: all zero. */
struct late_lines {
	VEC(struct late_line) lines;
};

/*
 * What the tables have as `start`, from the time when a process began as BPF reports it. Milliseconds
 * tell two processes apart that had one PID, and take less room than nanoseconds. Never 0 unless
 * start_time is.
 */
static inline uint64_t process_start(uint64_t start_time)
{
	return start_time / 1000000 + (start_time % 1000000 > 0);
}

/*
 * Append the image's command line, with blanks between its arguments. If it cannot be read, append
 * what process_keep_command kept, or the process's name. The result is never empty. False: the process
 * seems to live, but has no command line, or none yet.
 */
bool process_command(const struct image *im, struct buf *ret);
/* Keep a running image's command line for process_command after its end. */
void process_keep_command(struct image *im, const char *command);
/* The line of an image. start_time: of its process, as BPF reports it. */
struct process_line {
	const struct image *image;
	uint64_t start_time;
	const char *command;
	bool named; /* the line names the main thread: thread_names_process */
};

/* Write a line; the image's packets are in `p`. NULL: it has none. */
void process_note(struct recording *b, struct output *p, const struct process_line *l);
/* Do this when the command line can be read, or has been tried to a limit. `p` must live until then. */
void process_note_late(struct late_lines *l, struct output *p, struct image *im, uint64_t start_time);
/* Try again to read the command lines, at time t (ns); with `last`, write all lines that are left. */
void late_lines_update(struct late_lines *l, struct recording *b, uint64_t t, bool last);
/* Write the lines of an image that is about to be freed. */
void late_lines_forget(struct late_lines *l, struct recording *b, const struct image *im);
void late_lines_free(struct late_lines *l);

#endif
