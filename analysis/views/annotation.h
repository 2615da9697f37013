/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The settings of annotated source and disassembly. */
#ifndef VIEWS_ANNOTATION_H
#define VIEWS_ANNOTATION_H

#include <stdbool.h>

struct code_rows;

/*
 * Classes of remarks between lines. Some are of Sun's compilers and have no counterpart in DWARF;
 * their names are accepted and nothing else.
 */
enum remark {
	/* index lines where a function begins; those with times are always shown */
	REMARK_BASIC = 1 << 0,
	REMARK_VERSION = 1 << 1, /* compiler and options */
	REMARK_INLINE = 1 << 2,  /* what was inlined into a line */
	REMARK_OTHER = 1 << 3,   /* parallel, query, loop, pipe, memops, fe, codegen, cf */
	REMARK_HEX = 1 << 4,     /* disassembly: the bytes of each instruction */
	REMARK_SRC = 1 << 5,     /* disassembly: source lines between instructions */
	REMARK_ASRC = 1 << 6,    /* disassembly: source lines with metrics */
};

enum { REMARKS_SOURCE = 1 << 0, REMARKS_DISASM = 1 << 1 };

struct annotation {
	double sthresh, dthresh; /* a line is marked from this percentage of the largest value on */
	unsigned scc, dcc;       /* of enum remark */
	/* the classes of source and of disassembly that an .er.rc file has set: REMARKS_… */
	unsigned rc_decided;
	/* Whether a source file with this path may be shown; NULL: any. Links are resolved. */
	bool (*may_show)(const char *path);
	/*
	 * Not NULL: say here which rows a frame counts for, and show zeros, because the reader adds up the
	 * metrics itself (code_rows.h). Nothing is marked then.
	 */
	struct code_rows *rows;
};

#endif
