/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the source files of the reader share. Only they include this. */
#ifndef EXPERIMENT_EXPERIMENT_IMPL_H
#define EXPERIMENT_EXPERIMENT_IMPL_H

#include "analysis/experiment/exp_packets.h"
#include "analysis/experiment/experiment.h"
#include "analysis/experiment/xml.h"

/*
 * Open a file of the experiment by name. False if it cannot be opened; a missing file
 * is not an error, everything else is reported.
 */
bool exp_file(struct experiment *e, int dirfd, const char *name, struct file *ret);
/* The same for a text that may be compressed: `name`, or else `name`.gz, which is uncompressed. */
bool exp_text(struct experiment *e, int dirfd, const char *name, struct file *ret);
/* Parse a file of XML elements; a fault is reported with its line. */
void exp_parse(struct experiment *e, const char *name, const struct file *f,
	       const struct xml_handler *h, void *ctx);
/* Copy an attribute into the experiment's arena; "" if there is none. */
const char *exp_attr(struct experiment *e, const struct xml_element *el, const char *name);

/* Whether a number from a file can be the ID of a process or thread. */
static inline bool exp_is_id(int64_t id)
{
	return id >= 0 && id <= INT32_MAX;
}

/* Add the numbers of a thread; begin_ns and end_ns then cover both. */
void thread_add(struct exp_thread *to, const struct exp_thread *th);
/*
 * Add an element `threads` of threads.xml to its fold, and its threads to e->threads. `sum` has its
 * numbers. `keys` is empty at first and belongs to the file. Returns the number of faults: impossible
 * numbers, and threads that are missing.
 */
uint64_t fold_read(struct experiment *e, struct strtab *keys, const struct xml_element *el,
		   const struct exp_thread *sum);
/* After the last element: find the folds that have a name in common. */
void folds_mark(struct experiment *e);

/* Each reads one file if it exists. */
void log_read(struct experiment *e, const char *name, const struct file *f);
void map_read(struct experiment *e, int dirfd);
/* Keep a map or unmap event in e->maps. False: the event is of another kind. */
bool map_event(struct experiment *e, const struct xml_element *el);
void ksyms_read(struct experiment *e, int dirfd);
/* Reads e->stacks, but not their pcs. */
void stacks_read(struct experiment *e, int dirfd);
/* NULL is allowed. */
void stack_reader_free(struct stack_reader *r);
void recorder_read(struct experiment *e, int dirfd);
void threads_read(struct experiment *e, int dirfd);
void names_read(struct experiment *e, int dirfd);
void processes_read(struct experiment *e, int dirfd);
void spans_read(struct experiment *e, int dirfd);
/*
 * The base name of a command's first word, without the colon of a title ("postgres: walwriter").
 * "" for an empty command. The experiment owns it.
 */
const char *exp_program_name(struct experiment *e, const char *command);
/* Open the data files; log.xml must have been read. */
void streams_open(struct experiment *e, int dirfd);

/* A walk over the packets of a file, of every type. */
struct raw_iter {
	const unsigned char *data;
	uint64_t size, pos, nbad;
	bool swap;
};

bool raw_next(struct raw_iter *it, struct packet *ret, unsigned *type);

#endif
