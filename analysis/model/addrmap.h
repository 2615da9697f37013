/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The address space of one experiment as it changed over time: which mapping
 * an address belonged to at a moment, and for how long that answer holds.
 */
#ifndef MODEL_ADDRMAP_H
#define MODEL_ADDRMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct func;
struct loadobj;

/* What lies at [vaddr, vaddr+size): a part of an object, or one function without a file. */
struct mapping {
	uint64_t vaddr, size;
	int64_t foffset;
	struct loadobj *obj;
	struct func *func; /* NULL: look into obj */
};

struct addrmap;

struct addrmap *addrmap_new(void);
void addrmap_free(struct addrmap *m);

/*
 * Changes, in the order of their times. What a new mapping covers is replaced; an
 * unmapping ends all that is left of the mapping at that address.
 */
void addrmap_add(struct addrmap *m, int64_t time_ns, const struct mapping *what);
void addrmap_unmap(struct addrmap *m, int64_t time_ns, uint64_t vaddr);
/* After the last change and before the first question. */
void addrmap_finish(struct addrmap *m);

struct span {
	int64_t from, to; /* from <= time < to */
};

/*
 * The mapping of pc at the time, or NULL. An address that nothing held yet
 * belongs to what comes next: a map record may be later than its first use.
 * *valid is narrowed to the times that have the same answer.
 */
const struct mapping *addrmap_find(struct addrmap *m, uint64_t pc, int64_t time_ns,
				   struct span *valid);
/* Whether hostile maps made addrmap_find give up on some addresses. */
bool addrmap_exhausted(const struct addrmap *m);

#endif
