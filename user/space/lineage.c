/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "user/space/lineage.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/base/alloc.h"
#include "analysis/base/map.h"
#include "user/space/procmap.h"

enum { MAX_LINEAGE = 240, MAX_BYTES = 32 << 20 };

static const char *descend(struct strtab *names, const struct image *creator, char how, unsigned n)
{
	__cleanup(freep) char *name = xasprintf("%s_%c%u", creator->lineage, how, n);

	if (strlen(name) > MAX_LINEAGE || names->bytes > MAX_BYTES)
		return NULL;
	return strtab_intern(names, name);
}

const char *lineage_of_fork(struct strtab *names, struct image *creator)
{
	return descend(names, creator, 'f', ++creator->nforks);
}

const char *lineage_of_exec(struct strtab *names, struct image *creator)
{
	return descend(names, creator, 'x', ++creator->nexecs);
}
