/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lists of the objects that packets belong to; shared by index, memory and I/O lists. */
#ifndef VIEWS_INDEX_H
#define VIEWS_INDEX_H

#include <stdint.h>

#include "analysis/experiment/packet.h"
#include "analysis/metrics/objtype.h"
#include "analysis/model/names.h"
#include "analysis/views/view_state.h"

struct buf;
struct dataobj;
struct diag;
struct filter;
struct hit;
struct strtab;
struct table;

/* Identifies an object that one number cannot identify. */
struct index_key {
	const struct experiment *e; /* the recording, or the experiment itself if that matters */
	int64_t a, b;
	unsigned serial; /* of a process whose PID came again; 0: none */
	const struct exp_fold *fold; /* instead of a thread; NULL: none */
};

struct index_special {
	const char *type;
	struct index_key (*key)(const struct hit *h);
	void (*label)(const struct names *n, const struct index_key *k, struct buf *b);
	/* Packets with a fold belong to its row, unless there is a filter. NULL: none have one. */
	const struct exp_fold *(*fold)(const struct hit *h);
};

struct index_spec {
	const struct objtype *type;
	const struct index_special *special; /* NULL: the type's expression makes the keys */
	const char *title;                   /* NULL: the type's name */
	enum er_packet only;                 /* only packets of this kind; 0: all packets */
	const struct metric_list *metrics;
	const struct metric_sort *sort;
};

/* Add <Total>, then the objects in order, cut to the limit. Returns 0, or -1 after reporting. */
int index_print(struct view_state *v, const struct index_spec *spec, struct table *t,
		struct diag *d);
/*
 * The value of a type's expression for a packet, as a number: -1 if it is unknown. If the values are
 * texts, the number is that of the text in `texts`.
 */
int64_t index_value(struct filter *index, struct strtab *texts, const struct hit *h);
/* Append the name of the object with this value; seen_in: an experiment that has a packet with it. */
void index_put_value(struct filter *index, const struct objtype *type, const struct strtab *texts,
		     struct experiment *seen_in, int64_t value, struct buf *b);
/* Append the name of a data object, and that of a file as it was opened once: an index into e->io_files. */
void data_put_label(const struct dataobj *o, struct buf *b);
void file_put_label(const struct experiment *e, int64_t file, struct buf *b);
/* Whether a counter was recorded with the addresses of data. */
bool data_recorded(const struct session *s);
/* Append the name of the object `index`, which is not -1. (index_label.c) */
void index_put_label(const struct objtype *type, int64_t index, struct buf *b);
/*
 * Append when the sample of this number began and ended in the recording, and the labels of both ends. Nothing, if
 * none of its segments has such a sample.
 */
void index_put_sample(const struct session *s, const struct experiment *origin, int64_t number, struct buf *b);

#endif
