/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lists by what a packet belongs to: what index, memory and I/O lists share. */
#ifndef VIEWS_INDEX_H
#define VIEWS_INDEX_H

#include <stdint.h>

#include "analysis/metrics/objtype.h"
#include "analysis/metrics/pass.h"
#include "analysis/model/names.h"
#include "analysis/views/view.h"

struct buf;

/* What tells objects apart that a number does not. */
struct index_key {
	const struct experiment *e; /* the founder, or where it matters the experiment */
	int64_t a, b;
};

struct index_special {
	const char *type;
	struct index_key (*key)(const struct hit *h);
	void (*label)(const struct names *n, const struct index_key *k, struct buf *b);
};

struct index_spec {
	const struct objtype *type;
	const struct index_special *special; /* NULL: by the type's expression */
	const char *title;                   /* NULL: the type's name */
	enum er_packet only;                 /* of this kind of packets; 0 of all */
	const struct metric_list *metrics;
	const struct metric_sort *sort;
};

/* <Total>, then the objects in order, cut to the limit. 0, or -1 after reporting. */
int index_print(struct view_state *v, const struct index_spec *spec, struct table *t,
		struct diag *d);
/* Whether any counter was recorded with addresses of data. */
bool data_recorded(const struct session *s);
/* Append the name of the object `index`, which is not -1. (index_label.c) */
void index_put_label(const struct objtype *type, int64_t index, struct buf *b);

#endif
