/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Data objects: the variable of a load object's symbol table that an address belongs
 * to. If there is none the data object is "<Unknown> (why)". Types are not read; an
 * offset tells which part of a variable was accessed.
 */
#ifndef MODEL_DATAOBJ_H
#define MODEL_DATAOBJ_H

#include <stdint.h>

#include "analysis/model/session.h"

struct dataobj {
	uint32_t id;
	const char *name;          /* the variable's, or "<Unknown> (why)" */
	const struct loadobj *obj; /* NULL: unknown */
	uint64_t addr, size;       /* in the object's own address space */
};

/*
 * The data object at an address in a packet of e, at a time relative to e's start.
 * *offset is the distance from the data object's start. Valid as long as the session.
 */
const struct dataobj *session_data_object(struct session *s, const struct experiment *e,
					  uint64_t vaddr, int64_t time_ns, uint64_t *offset);
/*
 * The name of the variable at an address in the object's own address space; NULL: none.
 * *offset is the distance from its start. Valid as long as the session.
 */
const char *object_data_name(struct session *s, struct loadobj *o, uint64_t addr,
			     uint64_t *offset);

#endif
