/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/files/sources.h"

#include "analysis/base/map.h"
#include "analysis/symbols/debuginfod.h"
#include "analysis/symbols/lineinfo.h"
#include "analysis/symbols/symtab.h"

enum { INLINED_MAX = 64 };

static void add(const struct lineinfo *l, uint32_t file, struct strtab *ret)
{
	const char *path = lineinfo_path(l, file);

	if (*path)
		strtab_id(ret, path);
}

/*
 * Add the instruction's source file, those of the calls inlined around it, and that of its
 * compilation unit.
 */
static void add_address(struct lineinfo *l, uint64_t vaddr, struct strtab *ret)
{
	struct inlined calls[INLINED_MAX];
	size_t n = lineinfo_inlined(l, vaddr, calls, INLINED_MAX);
	struct line_at at;

	if (lineinfo_find(l, vaddr, &at))
		add(l, at.file, ret);
	for (size_t i = 0; i < n && i < INLINED_MAX; i++)
		add(l, calls[i].file, ret);
	add(l, lineinfo_unit_file(l, vaddr), ret);
}

void sources_of(int fd, const char *path, const uint64_t *used, size_t n, struct strtab *ret,
		struct diag *d)
{
	const struct symtab_opts opts = { .path = path, .ask = debuginfod_open };
	struct lineinfo *l = lineinfo_open(fd, &opts, d);

	if (!l)
		return;
	if (!used)
		lineinfo_read_all(l);
	for (size_t i = 0; used && i < n; i++)
		add_address(l, used[i], ret);
	for (size_t i = 0; !used && i < lineinfo_nfiles(l); i++)
		add(l, i, ret);
	lineinfo_free(l);
}
