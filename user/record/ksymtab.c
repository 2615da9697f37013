/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "user/record/ksymtab.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/base/alloc.h"
#include "analysis/base/map.h"
#include "analysis/symbols/kernelid.h"
#include "analysis/base/vec.h"
#include "loaders/ksyms.h"
#include "loaders/privilege.h"

enum { MAX_PCS = 1 << 20 }; /* kept; when there are more all are forgotten and looked up again */

/* A function of vmlinux. It never moves, so one entry serves all of its addresses. */
struct fixed {
	uint64_t addr;
	const struct ksym *s;
};

struct ksymtab {
	struct ksyms *kernel;  /* one of the two is used */
	struct kallsyms *file;
	struct map by_pc;      /* to struct ksym *, 0: none; without those in `fixed` */
	struct map by_start;   /* likewise */
	struct map known;      /* modules, by the address of their names */
	ksym_modules modules;
	VEC(struct fixed) fixed; /* by address */
	struct strtab names;
	struct arena arena;
};

struct ksymtab *ksymtab_open(const char *path, struct diag *d)
{
	struct ksymtab *k = xcalloc(1, sizeof(*k));
	uint64_t before;

	if (path) {
		k->file = kallsyms_load(path, d);
	} else {
		before = privilege_take(PRIVILEGE_CAPTURE);
		ksyms_open(d, &k->kernel);
		privilege_return(before);
	}
	if (k->file || k->kernel)
		return k;
	free(k);
	return NULL;
}

void ksymtab_close(struct ksymtab *k)
{
	if (!k)
		return;
	ksyms_close(k->kernel);
	kallsyms_free(k->file);
	map_free(&k->by_pc);
	map_free(&k->by_start);
	map_free(&k->known);
	vec_free(&k->modules);
	vec_free(&k->fixed);
	strtab_free(&k->names);
	arena_free(&k->arena);
	free(k);
}

/* Look it up now: at the end of the recording the module may be gone. */
static const char *keep_module(struct ksymtab *k, const char *name)
{
	__cleanup(freep) char *id = NULL;
	bool fresh;

	name = strtab_intern(&k->names, name);
	map_put(&k->known, (uintptr_t)name, &fresh);
	id = fresh ? kernel_running_build_id(name) : NULL;
	if (id)
		vec_push(&k->modules,
			 (struct ksym_module){ name, strtab_intern(&k->names, id) });
	return name;
}

static const struct ksym *in_fixed(const struct ksymtab *k, uint64_t pc)
{
	size_t n = vec_upto(&k->fixed, addr, pc);
	const struct ksym *s = n ? k->fixed.data[n - 1].s : NULL;

	return s && pc - s->addr < s->size ? s : NULL;
}

static void add_fixed(struct ksymtab *k, const struct ksym *s)
{
	size_t at = vec_upto(&k->fixed, addr, s->addr);

	vec_reserve(&k->fixed, k->fixed.len + 1);
	memmove(&k->fixed.data[at + 1], &k->fixed.data[at],
		(k->fixed.len++ - at) * sizeof(*k->fixed.data));
	k->fixed.data[at] = (struct fixed){ s->addr, s };
}

/*
 * Keep a function once for all of its addresses, unless another function is now at its place: code
 * of modules and BPF programs is loaded and unloaded.
 */
static const struct ksym *keep(struct ksymtab *k, const struct ksyms_answer *a)
{
	uint64_t *at;
	struct ksym *s;

	if (!a->size)
		return NULL;
	at = map_put(&k->by_start, a->start, NULL);
	s = (struct ksym *)(uintptr_t)*at;
	if (s && s->name == strtab_intern(&k->names, a->name))
		return s;
	s = arena_alloc(&k->arena, sizeof(*s));
	*s = (struct ksym){ .addr = a->start, .size = a->size,
			    .name = strtab_intern(&k->names, a->name),
			    .module = keep_module(k, a->module) };
	*at = (uintptr_t)s;
	if (!strcmp(s->module, "vmlinux"))
		add_fixed(k, s);
	return s;
}

static void ask(struct ksymtab *k, const uint64_t *pcs, size_t n)
{
	struct ksyms_answer answers[KSYMS_MAX];

	ksyms_ask(k->kernel, pcs, n, answers);
	for (size_t i = 0; i < n; i++) {
		const struct ksym *s = keep(k, &answers[i]);

		if (!in_fixed(k, pcs[i]))
			*map_put(&k->by_pc, pcs[i], NULL) = (uintptr_t)s;
	}
}

void ksymtab_expect(struct ksymtab *k, const uint64_t *pcs, size_t n)
{
	uint64_t unknown[KSYMS_MAX];
	size_t m = 0;

	if (!k->kernel)
		return;
	if (k->by_pc.len >= MAX_PCS)
		map_free(&k->by_pc);
	for (size_t i = 0; i < n; i++) {
		if (pcs[i] && !in_fixed(k, pcs[i]) && !map_get(&k->by_pc, pcs[i]))
			unknown[m++] = pcs[i];
		if (m == KSYMS_MAX || (m && i + 1 == n)) {
			ask(k, unknown, m);
			m = 0;
		}
	}
}

const struct ksym *ksymtab_find(struct ksymtab *k, uint64_t pc)
{
	const struct ksym *s;
	uint64_t *at;

	if (k->file)
		return kallsyms_find(k->file, pc);
	ksymtab_expect(k, &pc, 1);
	s = in_fixed(k, pc);
	if (s)
		return s;
	at = map_get(&k->by_pc, pc);
	return at ? (const struct ksym *)(uintptr_t)*at : NULL;
}

const ksym_modules *ksymtab_modules(const struct ksymtab *k)
{
	return &k->modules;
}
