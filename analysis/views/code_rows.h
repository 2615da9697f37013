/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which rows of annotated source or disassembly a frame counts for, for a reader that adds up the
 * metrics itself: the page, under its own filter. Rows and frames meet in a key. A frame may have a
 * key as a part of a line, and another one as an instruction.
 */
#ifndef VIEWS_CODE_ROWS_H
#define VIEWS_CODE_ROWS_H

#include "analysis/base/vec.h"
#include "analysis/metrics/code_tally.h"
#include "analysis/model/session.h"

enum code_part { CODE_LINES, CODE_INSNS, CODE_PARTS };

/* A frame that counts for a key. */
struct code_place {
	uint32_t frame; /* index into code_rows.frames */
	uint32_t key;
};

/* Of a row of the table: what it shows. */
struct code_row {
	size_t row;
	enum code_part part;
	uint32_t key;
};

struct code_rows {
	/* The frames that the reader has; borrowed. Those without a function are ignored. */
	const struct frame *frames;
	size_t nframes;
	/* Filled by view_source and view_disasm. Keys of a part are below nkeys. */
	VEC(struct code_place) places[CODE_PARTS]; /* by frame, within a function */
	uint32_t nkeys[CODE_PARTS];
	VEC(struct code_row) rows; /* those with metrics */
};

/* Ask each frame for its key, and add `base` to it. */
void code_rows_ask(struct code_rows *r, enum code_part part, uint32_t base, code_key key,
		   void *ctx);
/* The row of the table shows the metrics of this key. */
void code_rows_show(struct code_rows *r, size_t row, enum code_part part, uint32_t key);
void code_rows_free(struct code_rows *r);

#endif
