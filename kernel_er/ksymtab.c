/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "kernel_er/ksymtab.h"

#include <errno.h>
#include <stdlib.h>

#include "analysis/base/alloc.h"
#include "analysis/base/map.h"
#include "kernel_er/schedule.h"

enum { MAX_NAMELESS = 65536 };

#define RELOAD_NS 1000000000ULL

struct ksymtab {
	const char *path;
	struct kallsyms *kallsyms;
	struct map nameless; /* addresses that no symbol covers */
	uint64_t loaded_ns;
};

struct ksymtab *ksymtab_open(const char *path, struct diag *d)
{
	struct ksymtab *k = xcalloc(1, sizeof(*k));

	k->path = path;
	k->kallsyms = kallsyms_load(path, d);
	k->loaded_ns = now_ns();
	if (k->kallsyms)
		return k;
	free(k);
	return NULL;
}

void ksymtab_close(struct ksymtab *k)
{
	if (!k)
		return;
	kallsyms_free(k->kallsyms);
	map_free(&k->nameless);
	free(k);
}

/*
 * Look again, but not all the time (reading the kernel's symbols takes a tenth
 * of a second), and only once for an address that has no symbol.
 */
const struct ksym *ksymtab_find(struct ksymtab *k, uint64_t pc)
{
	const struct ksym *s = kallsyms_find(k->kallsyms, pc);
	struct kallsyms *fresh;
	uint64_t t;

	if (s || map_get(&k->nameless, pc))
		return s;
	t = now_ns();
	if (t - k->loaded_ns < RELOAD_NS)
		return NULL;
	k->loaded_ns = t;
	fresh = kallsyms_load(k->path, NULL);
	if (!fresh)
		return NULL;
	kallsyms_free(k->kallsyms);
	k->kallsyms = fresh;
	s = kallsyms_find(fresh, pc);
	if (!s && k->nameless.len < MAX_NAMELESS)
		map_put(&k->nameless, pc, NULL);
	return s;
}
