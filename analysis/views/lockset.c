/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/views/lockset.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/buf.h"
#include "analysis/base/map.h"
#include "analysis/experiment/mstate.h"
#include "analysis/metrics/hit.h"
#include "analysis/model/dataobj.h"
#include "analysis/model/knownlock.h"
#include "analysis/model/source.h"
#include "analysis/symbols/demangle.h"

#define UNNUMBERED "one lock or several"

void lock_set_free(struct lock_set *ls)
{
	wait_paths_free(&ls->paths);
	intern_free(&ls->ids);
	vec_free(&ls->all);
	vec_free(&ls->same);
	vec_for_each(name, &ls->names)
		free(*name);
	vec_free(&ls->names);
}

/* The id of a lock. *fresh: it had none yet. */
static uint32_t find_lock(struct lock_set *ls, const struct user_lock *new, bool *fresh)
{
	uint64_t taker = new->taker ? 1 + hash_bytes(new->taker, strlen(new->taker)) : 0;
	uint64_t hash = hash64(new->address ^ hash64(new->pid + hash64(new->origin->id ^ taker)));
	struct intern_probe probe = intern_probe(hash);
	uint32_t id1;

	*fresh = false;
	while ((id1 = intern_next(&ls->ids, &probe))) {
		const struct user_lock *l = &ls->all.data[id1 - 1];

		if (l->address == new->address && l->pid == new->pid && l->origin == new->origin &&
		    !l->taker == !new->taker && (!l->taker || !strcmp(l->taker, new->taker)))
			return id1 - 1;
	}
	*fresh = true;
	vec_push(&ls->all, *new);
	return intern_add(&ls->ids, hash);
}

/* The lock of a runtime that a new lock is a part of, or itself. */
static uint32_t whole_lock(struct lock_set *ls, uint32_t lock)
{
	struct user_lock new = ls->all.data[lock];
	const struct dataobj *o;
	uint64_t offset, begin;
	bool fresh;

	if (!new.address)
		return lock;
	o = session_data_object(ls->session, new.e, new.address, new.time_ns, &offset);
	new.known = known_lock(o, offset, &begin);
	if (!new.known)
		return lock;
	new.address -= offset - begin;
	lock = find_lock(ls, &new, &fresh);
	if (fresh)
		vec_push(&ls->same, lock);
	ls->all.data[lock].known = new.known;
	return lock;
}

/* What the stack of a wait tells of a lock whose address it does not. */
static void find_taker(struct lock_set *ls, const struct hit *h, struct user_lock *new)
{
	const struct func *taker;
	uint32_t path;

	if (hit_state(h) != MS_USER_LOCK)
		return;
	if (!ls->paths.session)
		wait_paths_init(&ls->paths, ls->session, false);
	path = wait_path(&ls->paths, h->stack);
	if (!wait_path_own_place(&ls->paths, path))
		return;
	taker = wait_path_taker(&ls->paths, path);
	new->address = 0;
	new->taker = taker ? taker->name : "";
	new->known = UNNUMBERED;
}

uint32_t lock_set_id(struct lock_set *ls, const struct hit *h)
{
	struct user_lock new = { .origin = h->e->origin,
				 .pid = hit_pid(h), .address = hit_wait_object(h), .e = h->e,
				 .time_ns = hit_time(h) };
	bool fresh;
	uint32_t lock;

	find_taker(ls, h, &new);
	lock = find_lock(ls, &new, &fresh);
	if (fresh) {
		vec_push(&ls->same, lock);
		ls->same.data[lock] = whole_lock(ls, lock);
	}
	return ls->same.data[lock];
}

bool lock_set_known(const struct lock_set *ls, uint32_t lock)
{
	return ls->all.data[lock].known;
}

static char *find_name(struct session *s, const struct user_lock *l)
{
	__cleanup(freep) char *readable = NULL;
	struct buf b = { 0 };
	const struct dataobj *o;
	uint64_t offset;

	buf_puts(&b, "");
	if (l->known)
		buf_puts(&b, l->known);
	if (l->known || !l->address)
		return b.data;
	o = session_data_object(s, l->e, l->address, l->time_ns, &offset);
	if (!o->obj)
		return b.data;
	readable = demangle(o->name, 0);
	buf_printf(&b, "%s`%s", base_name(o->obj->path), readable ? readable : o->name);
	if (offset)
		buf_printf(&b, "+0x%" PRIx64, offset);
	return b.data;
}

const char *lock_set_name(struct lock_set *ls, uint32_t lock)
{
	while (ls->names.len <= lock)
		vec_push(&ls->names, NULL);
	if (!ls->names.data[lock])
		ls->names.data[lock] = find_name(ls->session, &ls->all.data[lock]);
	return ls->names.data[lock];
}
