/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads one compile unit through libdw: its ranges, its line table, and its tree of
 * entries, walked once for inlined calls. Entries that cannot contain code are skipped.
 * A sibling must come after its entry in the file, so that a damaged file cannot cause
 * a loop.
 */
#include <dwarf.h>
#include <string.h>

#include "analysis/symbols/lineinfo_impl.h"

enum { TREE_DEPTH_MAX = 256 };

static const char *attr_string(Dwarf_Die *die, unsigned name)
{
	Dwarf_Attribute attr;

	return dwarf_formstring(dwarf_attr(die, name, &attr));
}

static Dwarf_Word attr_number(Dwarf_Die *die, unsigned name)
{
	Dwarf_Attribute attr;
	Dwarf_Word v = 0;

	return dwarf_attr(die, name, &attr) && !dwarf_formudata(&attr, &v) ? v : 0;
}

bool unit_add_ranges(struct lineinfo *l, uint32_t unit)
{
	Dwarf_Addr base, lo, hi;
	ptrdiff_t at = 0;
	bool any = false;
	Dwarf_Die die;

	if (!dwarf_offdie(l->dwarf, l->units.data[unit].die, &die))
		return false;
	while (l->budget && (at = dwarf_ranges(&die, at, &base, &lo, &hi)) > 0) {
		l->budget--;
		if (lo >= hi)
			continue;
		vec_push(&l->ranges, (struct unit_range){ .lo = lo, .hi = hi, .unit = unit });
		any = true;
	}
	return any;
}

/* --- lines --- */

struct unit_files {
	Dwarf_Files *files;
	size_t n;
	const char *dir;
	VEC(uint32_t) ids; /* number in the unit, to our number + 1; 0: not looked up yet */
};

static uint32_t unit_file(struct lineinfo *l, struct unit_files *uf, const char *path)
{
	/* libdw's name for file 0, which tables before DWARF 5 do not have. */
	if (!path || !*path || !strcmp(path, "???"))
		return LINE_FILE_NONE;
	return lineinfo_file(l, uf->dir, path);
}

static uint32_t file_number(struct lineinfo *l, struct unit_files *uf, Dwarf_Word n)
{
	if (n >= uf->n)
		return LINE_FILE_NONE;
	while (uf->ids.len <= n)
		vec_push(&uf->ids, 0);
	if (!uf->ids.data[n])
		uf->ids.data[n] = unit_file(l, uf, dwarf_filesrc(uf->files, n, NULL, NULL)) + 1;
	return uf->ids.data[n] - 1;
}

static void read_lines(struct lineinfo *l, struct unit *u, Dwarf_Die *die, struct unit_files *uf)
{
	const char *path = NULL;
	uint32_t file = LINE_FILE_NONE;
	Dwarf_Lines *lines;
	size_t n;

	if (dwarf_getsrclines(die, &lines, &n))
		return;
	vec_reserve(&u->rows, n);
	for (size_t i = 0; i < n; i++) {
		Dwarf_Line *line = dwarf_onesrcline(lines, i);
		const char *src = dwarf_linesrc(line, NULL, NULL);
		bool end = false;
		int number = 0;
		Dwarf_Addr addr;

		if (dwarf_lineaddr(line, &addr) || dwarf_lineendsequence(line, &end))
			continue;
		if (!end && dwarf_lineno(line, &number))
			number = 0;
		if (!end && number <= 0)
			continue;
		if (src != path)
			file = unit_file(l, uf, src);
		path = src;
		vec_push(&u->rows, (struct line_row){ .addr = addr,
						      .line = number,
						      .file = end ? LINE_FILE_NONE : file });
	}
}

/* --- inlined calls --- */

struct walk {
	struct lineinfo *l;
	struct unit *u;
	struct unit_files *files;
};

static const char *linkage_name(Dwarf_Die *die)
{
	Dwarf_Attribute attr;
	const char *name = dwarf_formstring(dwarf_attr_integrate(die, DW_AT_linkage_name, &attr));

	/* The attribute's name before DWARF 4. */
	return name ? name :
		      dwarf_formstring(dwarf_attr_integrate(die, DW_AT_MIPS_linkage_name, &attr));
}

/* The file of the declaration: a number in the unit that declares it, which may be another unit. */
static uint32_t declared_in(struct lineinfo *l, Dwarf_Die *die)
{
	struct unit_files uf = { 0 };
	Dwarf_Attribute attr;
	Dwarf_Word file;
	Dwarf_Die unit;

	if (dwarf_formudata(dwarf_attr_integrate(die, DW_AT_decl_file, &attr), &file) ||
	    !dwarf_cu_die(attr.cu, &unit, NULL, NULL, NULL, NULL, NULL, NULL) ||
	    dwarf_getsrcfiles(&unit, &uf.files, &uf.n) || file >= uf.n)
		return LINE_FILE_NONE;
	uf.dir = attr_string(&unit, DW_AT_comp_dir);
	return unit_file(l, &uf, dwarf_filesrc(uf.files, file, NULL, NULL));
}

/* The abstract function that a call is an instance of. Its names are borrowed from the file. */
static const struct inline_callee *callee_of(struct walk *w, Dwarf_Die *die)
{
	static const struct inline_callee unknown = { .file = LINE_FILE_NONE };
	struct inline_callee *callee;
	Dwarf_Attribute attr;
	Dwarf_Die origin;
	uint64_t *known;
	bool fresh;

	if (!dwarf_formref_die(dwarf_attr(die, DW_AT_abstract_origin, &attr), &origin))
		return &unknown;
	known = map_put(&w->l->callees, (uintptr_t)origin.addr, &fresh);
	if (!fresh)
		return (const struct inline_callee *)(uintptr_t)*known;
	callee = arena_alloc(&w->l->arena, sizeof(*callee));
	*known = (uintptr_t)callee;
	callee->name = dwarf_formstring(dwarf_attr_integrate(&origin, DW_AT_name, &attr));
	callee->symbol = linkage_name(&origin);
	callee->file = declared_in(w->l, &origin);
	return callee;
}

static uint32_t add_call(struct walk *w, Dwarf_Die *die, uint32_t outer)
{
	uint32_t call = inline_add(&w->u->calls, outer, callee_of(w, die),
				   file_number(w->l, w->files, attr_number(die, DW_AT_call_file)),
				   attr_number(die, DW_AT_call_line));
	Dwarf_Addr base, lo, hi;
	ptrdiff_t at = 0;

	while (w->l->budget && (at = dwarf_ranges(die, at, &base, &lo, &hi)) > 0) {
		w->l->budget--;
		inline_add_range(&w->u->calls, call, lo, hi);
	}
	return call;
}

/*
 * Whether an entry may contain inlined calls. An abstract function may, although it has
 * no code: a class in it, such as a lambda's, may have functions with code.
 */
static bool holds_code(Dwarf_Die *die, int tag, bool in_function)
{
	switch (tag) {
	case DW_TAG_subprogram:
		return !dwarf_hasattr(die, DW_AT_declaration);
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
	case DW_TAG_union_type:
		return in_function;
	case DW_TAG_inlined_subroutine:
	case DW_TAG_lexical_block:
	case DW_TAG_namespace:
	case DW_TAG_module:
	case DW_TAG_try_block:
	case DW_TAG_catch_block:
		return true;
	}
	return false;
}

static void walk_children(struct walk *w, Dwarf_Die *parent, uint32_t outer, int depth,
			  bool in_function)
{
	Dwarf_Die die, next;
	int more = dwarf_child(parent, &die);

	for (; !more; die = next) {
		int tag = dwarf_tag(&die);
		uint32_t call = outer;

		if (tag == DW_TAG_inlined_subroutine)
			call = add_call(w, &die, outer);
		if (depth < TREE_DEPTH_MAX && holds_code(&die, tag, in_function))
			walk_children(w, &die, tag == DW_TAG_subprogram ? 0 : call, depth + 1,
				      in_function || tag == DW_TAG_subprogram);
		more = dwarf_siblingof(&die, &next);
		if (!more && next.addr <= die.addr)
			break; /* a damaged file with a loop */
	}
}

/* Split DWARF: this file has the unit's lines, but not its inlined calls. Warn once. */
static void tell_split(struct lineinfo *l, Dwarf_Die *die)
{
	const char *name = attr_string(die, DW_AT_dwo_name);

	if (!name)
		name = attr_string(die, DW_AT_GNU_dwo_name);
	if (!name || l->split_told)
		return;
	l->split_told = true;
	diag_warn(l->diag,
		  "%s: inlined functions are described in '%s' and other split files, "
		  "which are not read: build without -gsplit-dwarf to see them",
		  l->source, name);
}

void unit_name(struct lineinfo *l, struct unit *u)
{
	struct unit_files uf = { 0 };
	Dwarf_Die die;

	u->named = true;
	u->file = LINE_FILE_NONE;
	if (!dwarf_offdie(l->dwarf, u->die, &die))
		return;
	uf.dir = attr_string(&die, DW_AT_comp_dir);
	u->producer = attr_string(&die, DW_AT_producer);
	u->file = unit_file(l, &uf, attr_string(&die, DW_AT_name));
	/* A skeleton unit has no name: use its first file. */
	if (u->file == LINE_FILE_NONE && !dwarf_getsrcfiles(&die, &uf.files, &uf.n))
		u->file = file_number(l, &uf, uf.n > 1);
	vec_free(&uf.ids);
}

void unit_read(struct lineinfo *l, struct unit *u)
{
	struct unit_files uf = { 0 };
	struct walk w = { .l = l, .u = u, .files = &uf };
	Dwarf_Die die;

	u->read = true;
	if (!u->named)
		unit_name(l, u);
	if (!dwarf_offdie(l->dwarf, u->die, &die))
		return;
	uf.dir = attr_string(&die, DW_AT_comp_dir);
	if (dwarf_getsrcfiles(&die, &uf.files, &uf.n))
		uf.n = 0;
	read_lines(l, u, &die, &uf);
	walk_children(&w, &die, 0, 0, false);
	inline_finish(&u->calls);
	tell_split(l, &die);
	vec_free(&uf.ids);
}
