/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which methods generated code comes from, as the file dynscopes of each experiment says: the inlined
 * calls and lines of a function that is in no file. Files are read when they are first needed. They are not
 * trusted. Of a function about which two records differ nothing is known.
 */
#ifndef MODEL_DYNSCOPES_H
#define MODEL_DYNSCOPES_H

#include <stddef.h>
#include <stdint.h>

struct dynscopes;
struct func;
struct session;

/* A method, and the line in it: of the call of the next inner one, or of the code. */
struct dynscope {
	const char *name;
	const char *source; /* the path of its source, interned; NULL: unknown */
	uint32_t line;      /* 0: unknown */
};

/*
 * The methods at an offset into a function, outermost first: the first one is the function itself.
 * Returns how many there are, 0 if it is not known; stores at most max.
 */
size_t dynscopes_at(struct session *s, const struct func *f, uint64_t offset, struct dynscope *ret, size_t max);
/* The path of the function's own source, interned; NULL: unknown. */
const char *dynscopes_source(struct session *s, const struct func *f);
/* Where the n-th part of the function begins whose code has other methods or lines; UINT64_MAX: there are fewer. */
uint64_t dynscopes_part(struct session *s, const struct func *f, size_t n);

void dynscopes_free(struct dynscopes *d);

#endif
