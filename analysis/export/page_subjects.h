/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What single packets of the page were about: the data that a counter's packet has the address of,
 * and the file of an I/O packet. Each is kept once.
 */
#ifndef EXPORT_PAGE_SUBJECTS_H
#define EXPORT_PAGE_SUBJECTS_H

#include <stdint.h>

#include "analysis/base/intern.h"
#include "analysis/base/vec.h"

struct buf;
struct dataobj;
struct experiment;
struct hit;

struct subject {
	const struct dataobj *data;	/* NULL: it is a file */
	const struct experiment *files; /* that has the file */
	int64_t part; /* offset in the data, -1: unknown data; index of the file */
};

/* A zeroed struct has none. */
struct subjects {
	VEC(struct subject) all;
	struct intern ids;
};

/* The subject of a packet, from 1; 0: it has none. */
uint32_t subject_of(struct subjects *s, const struct hit *h);
/*
 * Append an array with an element for each: name, offset and number of a data object; or name of the
 * file, and how er_print -iodetail names it.
 */
void put_subjects(const struct subjects *s, struct buf *b);
void subjects_free(struct subjects *s);

#endif
