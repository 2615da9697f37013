/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/symbols/gosyms.h"

#include <string.h>

#include "analysis/base/diag.h"
#include "analysis/symbols/gofile.h"

static void tell_unknown(Elf *elf, struct diag *d)
{
	__cleanup(freep) char *maker = gotable_maker(elf);

	diag_warn(d, "its functions have no names: the table of functions is of a form that is not "
		     "known here; it was made by %s", maker);
}

size_t gosyms_add(Elf *elf, const elf_regions *regions, struct arena *a, rawsyms *ret, struct diag *d)
{
	size_t before = ret->len, room = 0;
	struct go_function f;
	struct gotable t;
	enum go_found found = gotable_find(elf, &t);

	if (found == GO_UNKNOWN)
		tell_unknown(elf, d);
	if (found != GO_FOUND)
		return 0;
	for (uint64_t i = 0; i < t.n && room < t.size; i++) {
		char *own;

		if (!gotable_function(&t, i, &f) || !elf_find_region(regions, f.start))
			continue;
		own = arena_alloc(a, f.name_len + 1);
		memcpy(own, f.name, f.name_len + 1);
		room += f.name_len; /* names in one table do not overlap */
		vec_push(ret, (struct rawsym){ .addr = f.start, .size = f.end - f.start, .name = own });
	}
	return ret->len - before;
}
