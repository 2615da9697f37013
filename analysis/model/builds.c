/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/model/builds.h"

#include <string.h>

#include "analysis/base/map.h"
#include "analysis/base/vec.h"
#include "analysis/model/session.h"
#include "analysis/model/source.h"

/*
 * Objects in different directories. A file that both recordings have is none: it was not built again. Each is compared
 * with the first one of its name only.
 */
static void find_moved(const struct session *s, struct strtab *ret)
{
	VEC(const struct loadobj *) first = { 0 }; /* by name */
	struct strtab names = { 0 };

	vec_for_each(pp, &s->objects) {
		const struct loadobj *o = *pp, *a;
		uint32_t name;

		if (!o->build || o->met_again)
			continue;
		name = strtab_id(&names, base_name(o->path));
		if (name == first.len)
			vec_push(&first, o);
		a = first.data[name];
		if (a->recording != o->recording && strcmp(a->build, o->build) && strcmp(a->path, o->path)) {
			__cleanup(freep) char *both = xasprintf("%s and %s", a->path, o->path);

			strtab_id(ret, both);
		}
	}
	vec_free(&first);
	strtab_free(&names);
}

/* Each path once: a damaged experiment may have any number of objects at one. */
void session_rebuilt(const struct session *s, struct strtab *ret)
{
	struct strtab seen = { 0 };

	vec_for_each(o, &s->objects) {
		if (!(*o)->build)
			continue;
		if (strtab_has(&seen, (*o)->path))
			strtab_id(ret, (*o)->path);
		strtab_id(&seen, (*o)->path);
	}
	strtab_free(&seen);
	find_moved(s, ret);
}
