/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The address space of one experiment as it changed over time. It tells which mapping
 * an address belonged to at a given time, and for which span of time that answer holds.
 */
#ifndef MODEL_ADDRMAP_H
#define MODEL_ADDRMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct func;
struct loadobj;

/* What is mapped at [vaddr, vaddr+size): a part of an object, or one function without a file. */
struct mapping {
	uint64_t vaddr, size;
	int64_t foffset;
	struct loadobj *obj;
	struct func *func; /* NULL: the mapping is of obj */
};

struct addrmap;

struct addrmap *addrmap_new(void);
void addrmap_free(struct addrmap *m);

/*
 * Changes, in order of time. A new mapping replaces what it overlaps. An unmapping ends
 * all remaining pieces of the mapping at that address.
 */
void addrmap_add(struct addrmap *m, int64_t time_ns, const struct mapping *what);
void addrmap_unmap(struct addrmap *m, int64_t time_ns, uint64_t vaddr);
/* Call after the last change and before the first addrmap_find. */
void addrmap_finish(struct addrmap *m);

struct span {
	int64_t from, to; /* from <= time < to */
};

/*
 * The mapping of pc at a time; NULL: none. An address that was not mapped yet belongs
 * to the next mapping there, because a map record may be later than its first use.
 * *valid is narrowed to the times with the same answer.
 */
const struct mapping *addrmap_find(struct addrmap *m, uint64_t pc, int64_t time_ns,
				   struct span *valid);
/* Whether addrmap_find gave up on some addresses because the maps were too complex (hostile). */
bool addrmap_exhausted(const struct addrmap *m);

#endif
