/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What an address of data belongs to: a variable that a load object's symbol
 * table names, or else nothing known, with the reason (L-032, L-033). Types
 * are not looked into: what part of a variable was used is its offset.
 */
#ifndef MODEL_DATAOBJ_H
#define MODEL_DATAOBJ_H

#include <stdint.h>

#include "analysis/model/session.h"

struct dataobj {
	uint32_t id;
	const char *name;          /* of the variable, or "<Unknown> (why)" */
	const struct loadobj *obj; /* NULL: unknown */
	uint64_t addr, size;       /* in the object's own address space */
};

/*
 * The data object at an address that a packet of e has, at a time relative to
 * its start. *offset is how far behind its beginning. Lives as long as the session.
 */
const struct dataobj *session_data_object(struct session *s, const struct experiment *e,
					  uint64_t vaddr, int64_t time_ns, uint64_t *offset);
/*
 * The name of the variable at an address of the object's own address space, and how far
 * behind its beginning; NULL: none. Lives as long as the session.
 */
const char *object_data_name(struct session *s, struct loadobj *o, uint64_t addr,
			     uint64_t *offset);

#endif
