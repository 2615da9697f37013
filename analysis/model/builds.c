/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/model/builds.h"

#include "analysis/base/map.h"
#include "analysis/model/session.h"

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
}
