/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/model/kernel_elf.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/base/diag.h"
#include "analysis/experiment/exp_map.h"
#include "analysis/symbols/code.h"
#include "analysis/symbols/debuginfod.h"
#include "analysis/symbols/elfsyms.h"
#include "analysis/symbols/lineinfo.h"
#include "analysis/symbols/relocate.h"
#include "analysis/symbols/symtab.h"

static const char vmlinux[] = "vmlinux";

static void put_name(struct kernel_elf *k, const char *name, size_t n, uint64_t addr)
{
	bool fresh;
	uint64_t *at = map_put(&k->by_name, hash_bytes(name, n), &fresh);

	*at = fresh || *at == addr ? addr : 0;
}

static void put_names(struct kernel_elf *k)
{
	size_t n;
	const struct sym *syms = symtab_syms(k->symtab, &n);

	for (const struct sym *s = syms; s < syms + n; s++) {
		if (s->elsewhere)
			continue;
		put_name(k, s->name, strlen(s->name), s->addr);
		for (const char *a = s->aliases, *end; a && *a; a = *end ? end + 1 : end) {
			end = strchrnul(a, ' ');
			put_name(k, a, end - a, s->addr);
		}
	}
}

/* The address of the function with a recorded name; 0: none, or ambiguous. */
static uint64_t by_name(const struct kernel_elf *k, const char *name)
{
	uint64_t *at = map_get(&k->by_name, hash_bytes(name, strlen(name)));

	return at ? *at : 0;
}

/*
 * Whether the file has the recorded functions; sets k->distance. For vmlinux a single
 * match proves nothing.
 */
static bool measure(struct kernel_elf *k, const struct kernel_boot *boot, const char *module,
		    bool proven)
{
	uint64_t best = 0, met = 0;
	struct map votes = { 0 };

	vec_for_each (p, &boot->syms) {
		const struct exp_ksym *sym = *p;
		uint64_t at = strcmp(sym->module, module) ? 0 : by_name(k, sym->name), *vote;

		if (!at)
			continue;
		vote = map_put(&votes, at - sym->addr, NULL);
		met++;
		if (++*vote > best) {
			best = *vote;
			k->distance = at - sym->addr;
		}
	}
	map_free(&votes);
	return proven || (best > !strcmp(module, vmlinux) && best * 10 >= met * 9);
}

/* 1: the recorded file. 0: another build. -1: a build id is missing. */
static int same_build(int fd, const struct kernel_boot *boot, const char *module)
{
	const char *want = kernel_boot_build_id(boot, module);
	__cleanup(freep) char *got = want ? elf_file_build_id(fd) : NULL;

	return got ? !strcmp(got, want) : -1;
}

struct kernel_elf *kernel_elf_open(int fd, const char *path, const struct kernel_boot *boot,
				   const char *module, struct diag *d)
{
	__cleanup(closep) int linked = relocate_open(fd);
	struct symtab_opts opts = { .path = path, .ask = debuginfod_open };
	int use = linked < 0 ? fd : linked, same = same_build(fd, boot, module);
	struct kernel_elf *k = xcalloc(1, sizeof(*k));
	struct diag ignored = { 0 };

	k->symtab = same ? symtab_open(use, &opts, &ignored) : NULL;
	if (k->symtab)
		put_names(k);
	if (k->symtab && measure(k, boot, module, same == 1)) {
		k->lines = lineinfo_open(use, &opts, d);
		k->code = code_open(use);
	} else {
		if (k->symtab || !same)
			diag_warn(d, "%s: not used: it is not the kernel that was recorded", path);
		kernel_elf_free(k);
		k = NULL;
	}
	diag_free(&ignored);
	return k;
}

void kernel_elf_free(struct kernel_elf *k)
{
	if (!k)
		return;
	symtab_free(k->symtab);
	lineinfo_free(k->lines);
	code_free(k->code);
	map_free(&k->by_name);
	free(k);
}

static bool is_name_of(const struct sym *sym, const char *name)
{
	size_t n = strlen(name);

	if (!strcmp(sym->name, name))
		return true;
	for (const char *a = sym->aliases; a && *a; a += strcspn(a, " "), a += *a == ' ') {
		if (strcspn(a, " ") == n && !strncmp(a, name, n))
			return true;
	}
	return false;
}

bool kernel_elf_addr(const struct kernel_elf *k, const struct func *f, uint64_t *addr)
{
	const char *tick = strchr(f->mangled, '`');
	const char *name = tick ? tick + 1 : f->mangled;
	const struct sym *sym = symtab_find(k->symtab, f->addr + k->distance);

	*addr = f->addr + k->distance;
	if (sym && sym->addr == *addr && is_name_of(sym, name))
		return true;
	*addr = by_name(k, name);
	return *addr;
}
