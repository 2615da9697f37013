/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Parses what --probe and --span are given: the text only, no file is opened (see sites.h).
 *
 *	[NAME=]TARGET[(ARGUMENT:TYPE,...)][ if TEST && ...]
 *	TARGET = BINARY:FUNCTION[%return]      a function; * matches any characters
 *	       | BINARY:FUNCTION,FUNCTION2     from one to the other (spans)
 *	       | BINARY:file.c:LINE            the code of a line; spans: the function that it is in
 *	       | usdt:BINARY:PROVIDER:PROBE[,PROBE2]    spans: PROBE2 may be left out if it has the usual name
 *	       | syscall:NAME
 *	       | tp:CATEGORY:NAME              a tracepoint of the kernel
 *	       | mark[:BINARY]                 spans of this name that the program itself marks
 *	ARGUMENT = 1, 2, ... | ret             the number of an argument, or what is returned
 *	TYPE = str | int | s8 | u8 | s16 | u16 | s32 | u32 | s64 | u64
 *	TEST = arg1 == 5                       also ret; != < <= > >= &
 *
 * `int` is the whole register of a function's argument; USDT probes and tracepoints know the size.
 * NAME= is required for spans. BINARY ends at the first colon; sites.h says what it may be.
 */
#ifndef USER_PROBE_SPEC_H
#define USER_PROBE_SPEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/place.h"

struct diag;

enum probe_kind {
	PROBE_FUNCTION,
	PROBE_LINE,
	PROBE_USDT,
	PROBE_SYSCALL,
	PROBE_TRACEPOINT,
	PROBE_MARK,
};

enum probe_use { PROBE_FOR_PROBE, PROBE_FOR_COUNTS, PROBE_FOR_SPAN };

enum { PROBE_RETURNED = 0 }; /* the number of the returned value */

/* An argument that is recorded, or that a test needs. */
struct probe_value {
	unsigned number;  /* from 1; PROBE_RETURNED */
	bool recorded;    /* false: only tested */
	bool is_string;
	unsigned size;    /* in bytes; 0: as the probe says, else the whole register */
	bool is_signed;
};

struct probe_spec {
	enum probe_use use;
	enum probe_kind kind;
	char *text;       /* as it was written */
	char *name;       /* NAME, or TARGET if there is none */
	char *binary;     /* FUNCTION, LINE, USDT; MARK: may be NULL; else NULL */
	char *group;      /* USDT: the provider; TRACEPOINT: the category; else NULL */
	char *first;      /* function, source file, probe, system call or tracepoint; MARK: NULL */
	char *second;     /* FUNCTION2 or PROBE2; NULL: none */
	unsigned line;    /* LINE */
	bool ret;         /* %return */
	struct probe_value values[ER_PROBE_VALUES];
	size_t nvalues;
	struct er_test tests[ER_PROBE_TESTS]; /* all must be true */
	size_t ntests;
};

/* The option in messages: "--probe" or "--span". */
const char *probe_option(const struct probe_spec *s);

/*
 * The span is from a place of s->first to one of s->second, or of a probe that is found by its name. It must
 * not end at a return: a USDT probe is no entry of a function.
 */
bool probe_spec_is_pair(const struct probe_spec *s);

/*
 * Parse text. Returns 0, or -1 after one sentence with the remedy. Release *ret with
 * probe_spec_free, after a failure, too.
 */
int probe_spec_parse(enum probe_use use, const char *text, struct diag *d, struct probe_spec *ret);
void probe_spec_free(struct probe_spec *s);

#endif
