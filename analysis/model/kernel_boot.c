/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/model/kernel_boot.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/experiment/exp_map.h"
#include "analysis/experiment/exp_recorder.h"

enum { BUILD_ID_MIN = 4, BUILD_ID_MAX = 128 };

static struct kernel_boot *boot_of_founder(kernel_boots *boots, const struct experiment *founder)
{
	struct kernel_boot *b;

	vec_for_each (have, boots) {
		if ((*have)->founder == founder)
			return *have;
	}
	b = xcalloc(1, sizeof(*b));
	b->founder = founder;
	vec_push(boots, b);
	return b;
}

static int sym_cmp(const void *pa, const void *pb)
{
	const struct exp_ksym *a = *(const struct exp_ksym *const *)pa;
	const struct exp_ksym *b = *(const struct exp_ksym *const *)pb;
	int by;

	if (a->addr != b->addr)
		return a->addr < b->addr ? -1 : 1;
	by = strcmp(a->module, b->module);
	return by ? by : strcmp(a->name, b->name);
}

static void sort_once(struct kernel_boot *b)
{
	size_t n = 0;

	vec_sort(&b->syms, sym_cmp);
	for (size_t i = 0; i < b->syms.len; i++) {
		if (!n || sym_cmp(&b->syms.data[i], &b->syms.data[n - 1]))
			b->syms.data[n++] = b->syms.data[i];
	}
	b->syms.len = n;
}

void kernel_boots_add(kernel_boots *boots, const struct session *s, size_t from)
{
	for (size_t i = from; i < s->experiments.len; i++) {
		const struct experiment *e = s->experiments.data[i];
		struct kernel_boot *b;

		if (!e->ksyms.len)
			continue;
		b = boot_of_founder(boots, experiment_founder(e));
		vec_for_each (k, &e->ksyms)
			vec_push(&b->syms, k);
	}
	vec_for_each (b, boots)
		sort_once(*b);
}

void kernel_boots_free(kernel_boots *boots)
{
	vec_for_each (b, boots) {
		vec_free(&(*b)->syms);
		free(*b);
	}
	vec_free(boots);
}

/* The number of symbols that begin at or below the address. */
static size_t upto(const struct kernel_boot *b, uint64_t addr)
{
	size_t lo = 0, hi = b->syms.len;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (b->syms.data[mid]->addr <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static bool has_func(const struct kernel_boot *b, const struct func *f)
{
	size_t module = strcspn(f->mangled, "`");

	for (size_t i = upto(b, f->addr); i && b->syms.data[i - 1]->addr == f->addr; i--) {
		const struct exp_ksym *k = b->syms.data[i - 1];

		if (f->mangled[module] && !strncmp(k->module, f->mangled, module) &&
		    !k->module[module] && !strcmp(k->name, f->mangled + module + 1))
			return true;
	}
	return false;
}

const struct kernel_boot *kernel_boot_of(const kernel_boots *boots, const struct func *f)
{
	vec_for_each (b, boots) {
		if (has_func(*b, f))
			return *b;
	}
	return NULL;
}

const struct exp_ksym *kernel_boot_sym(const struct kernel_boot *b, uint64_t addr)
{
	size_t n = upto(b, addr);
	const struct exp_ksym *k = n ? b->syms.data[n - 1] : NULL;

	return k && addr - k->addr < k->size ? k : NULL;
}

/* Build ids come from the file and are used in paths and URLs: allow only hexadecimal digits. */
static bool is_build_id(const char *id)
{
	size_t n = strlen(id);

	return n >= BUILD_ID_MIN && n <= BUILD_ID_MAX && !id[strspn(id, "0123456789abcdef")];
}

const char *kernel_boot_build_id(const struct kernel_boot *b, const char *module)
{
	vec_for_each (el, &b->founder->recorder) {
		const char *name = element_get(el, "module"), *id = element_get(el, "build_id");

		if (!strcmp(el->name, "kernel") && name && id && !strcmp(name, module) &&
		    is_build_id(id))
			return id;
	}
	return NULL;
}
