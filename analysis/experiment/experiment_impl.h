/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the parts of the reader share; nobody else includes this. */
#ifndef EXPERIMENT_EXPERIMENT_IMPL_H
#define EXPERIMENT_EXPERIMENT_IMPL_H

#include "analysis/experiment/experiment.h"

/*
 * A file of the experiment by name; false when it cannot be had. That it is
 * missing is no fault, anything else is reported.
 */
bool exp_file(struct experiment *e, int dirfd, const char *name, struct file *ret);
/* Parse a file of elements; a fault is reported with its line. */
void exp_parse(struct experiment *e, const char *name, const struct file *f,
	       const struct xml_handler *h, void *ctx);
/* A copy of an attribute in the experiment's arena, "" for none. */
const char *exp_attr(struct experiment *e, const struct xml_element *el, const char *name);

/* Each reads one file, if it is there. */
void log_read(struct experiment *e, const char *name, const struct file *f);
void map_read(struct experiment *e, int dirfd);
/* Whether an event is of kind map or unmap, which are kept in e->maps. */
bool map_event(struct experiment *e, const struct xml_element *el);
void ksyms_read(struct experiment *e, int dirfd);
void stacks_read(struct experiment *e, int dirfd);
void recorder_read(struct experiment *e, int dirfd);
void threads_read(struct experiment *e, int dirfd);
void names_read(struct experiment *e, int dirfd);
/* Once the log is read. */
void streams_open(struct experiment *e, int dirfd);

/* A walk over the packets of a file, whatever their type. */
struct raw_iter {
	const unsigned char *data;
	uint64_t size, pos, nbad;
	bool swap;
};

bool raw_next(struct raw_iter *it, struct packet *ret, unsigned *type);

#endif
