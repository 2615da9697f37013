/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Shared by the source files of the Firefox Profiler exporter: the tables that all threads of a
 * profile refer to. They grow while threads are written, so they are written last.
 */
#ifndef EXPORT_FIREFOX_IMPL_H
#define EXPORT_FIREFOX_IMPL_H

#include <stddef.h>
#include <stdint.h>

#include "analysis/base/map.h"
#include "analysis/base/vec.h"

struct buf;
struct export;
struct outfile;
struct session;
struct spans;
struct timeline;
struct timelines;

enum { FIREFOX_INTERVAL = 1 }; /* a marker's phase */

enum firefox_category { FIREFOX_OTHER, FIREFOX_USER, FIREFOX_KERNEL, FIREFOX_WAIT };

struct firefox_frame {
	uint32_t func;   /* index of a row */
	int64_t address; /* in its file; -1: unknown */
	uint32_t line;   /* 0: unknown */
	uint32_t depth;  /* of inlined calls */
	enum firefox_category category;
};

struct firefox_func {
	uint32_t name; /* in the string table */
	int64_t object; /* index in `objects`; -1: no file */
	int64_t source; /* index in `sources`; -1: unknown */
};

struct firefox_node {
	int64_t prefix; /* the caller's node; -1: none */
	uint32_t frame;
};

struct firefox {
	const struct export *x;
	struct session *session;
	struct outfile *out;
	struct strtab strings, sources;
	VEC(struct firefox_frame) frames;
	VEC(struct firefox_func) funcs;
	VEC(struct firefox_node) nodes;
	VEC(uint32_t) objects; /* ids of load objects */
	struct map frame_rows, func_rows, object_rows, node_rows, stack_nodes; /* to row + 1 */
	VEC(uint32_t) path, path_frames; /* scratch */
	const struct spans *spans;
	uint8_t *marks;        /* of their calls: span_marks */
};

void firefox_free(struct firefox *f);
/* The index of a text, made printable, in the string table. */
uint32_t firefox_string(struct firefox *f, const char *s);
/* The node of a stack. -1: the stack is empty. */
int64_t firefox_stack(struct firefox *f, uint32_t stack);
/* Nanoseconds as milliseconds, with all digits. */
void firefox_put_ms(struct buf *b, int64_t ns);

/* Calls of spans as markers on their thread's track, without their texts. (firefox_spans.c) */
enum firefox_column { FIREFOX_DATA, FIREFOX_NAME, FIREFOX_BEGIN, FIREFOX_END, FIREFOX_PHASE, FIREFOX_CATEGORY };

/* Add the threads that have such calls and no samples. */
void firefox_add_threads(const struct firefox *f, struct timelines *tl);
size_t firefox_count_spans(const struct firefox *f, const struct timeline *t);
/* Append a column's values, each with a comma before it except the first one if *before is empty. */
void firefox_put_spans(struct firefox *f, const struct timeline *t, enum firefox_column column,
		       const char **before);
/* Append `"libs":…,"shared":…`. */
void firefox_put_tables(struct firefox *f);

#endif
