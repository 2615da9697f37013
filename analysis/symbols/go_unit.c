/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Lines and inlined calls of a Go program without DWARF, from its own table. A unit is a package. All
 * functions of a package are read when the first of its addresses is looked up.
 */
#include "analysis/symbols/elfsyms.h"
#include "analysis/symbols/gofile.h"
#include "analysis/symbols/lineinfo_impl.h"

enum { CALL_DEPTH_MAX = 256 };

struct package_function {
	uint32_t unit, index;
};

struct go_lines {
	struct gotable table;
	VEC(struct package_function) functions; /* by unit, then by address */
};

/* --- packages --- */

static int function_cmp(const void *pa, const void *pb)
{
	const struct package_function *a = pa, *b = pb;

	if (a->unit != b->unit)
		return a->unit < b->unit ? -1 : 1;
	return (a->index > b->index) - (a->index < b->index);
}

/* The number of the package's unit, which is added if new. */
static uint32_t unit_of(struct lineinfo *l, struct map *units, uint32_t package)
{
	bool fresh;
	uint64_t *unit = map_put(units, package, &fresh);

	if (fresh) {
		*unit = l->units.len;
		vec_push(&l->units, (struct unit){ .file = LINE_FILE_NONE });
	}
	return *unit;
}

/*
 * Functions are disjoint and in the order of their addresses; those that are not are left out, so that
 * the work is bounded by the size of the code.
 */
static void list_functions(struct lineinfo *l)
{
	const struct gotable *t = &l->go->table;
	elf_regions code = { 0 };
	struct map units = { 0 };
	uint64_t reach = 0;
	struct go_function f;

	elf_get_regions(l->elf, &code);
	for (uint64_t i = 0; i < t->n; i++) {
		const struct elf_region *r;
		uint32_t unit;

		if (!gotable_function(t, i, &f) || f.start < reach ||
		    !(r = elf_find_region(&code, f.start)) || f.end > r->end)
			continue;
		reach = f.end;
		unit = unit_of(l, &units, f.unit);
		vec_push(&l->ranges, (struct unit_range){ .lo = f.start, .hi = f.end, .unit = unit });
		vec_push(&l->go->functions, (struct package_function){ .unit = unit, .index = i });
	}
	map_free(&units);
	vec_free(&code);
}

static void list_packages(struct lineinfo *l)
{
	list_functions(l);
	vec_sort(&l->go->functions, function_cmp);
	for (size_t i = l->go->functions.len; i > 0; i--) {
		struct unit *u = &l->units.data[l->go->functions.data[i - 1].unit];

		u->first = i - 1;
		u->n++;
	}
}

bool golines_open(struct lineinfo *l)
{
	struct go_lines *g = xcalloc(1, sizeof(*g));
	enum go_found found = gotable_find(l->elf, &g->table);
	__cleanup(freep) char *maker = found == GO_UNKNOWN ? gotable_maker(l->elf) : NULL;

	if (maker)
		diag_warn(l->diag, "%s: its lines are not known: the table of functions is of a form "
				   "that is not known here; it was made by %s",
			  l->source, maker);
	if (found != GO_FOUND) {
		free(g);
		return false;
	}
	l->go = g;
	list_packages(l);
	return true;
}

void golines_free(struct go_lines *g)
{
	if (g)
		vec_free(&g->functions);
	free(g);
}

/* --- a function --- */

struct go_reader {
	struct lineinfo *l;
	struct unit *u;
	struct go_function f;
	go_spans spans;
	VEC(uint32_t) calls; /* by their number in the function: that in the unit + 1; 0: not added */
};

static uint32_t file_of(struct go_reader *r, int32_t file)
{
	const char *path = gotable_path(&r->l->go->table, &r->f, file);

	return path ? lineinfo_file(r->l, NULL, path) : LINE_FILE_NONE;
}

static const struct go_span *span_at(const struct go_reader *r, uint64_t addr)
{
	size_t n = vec_upto(&r->spans, start, addr);

	return n ? &r->spans.data[n - 1] : NULL;
}

/* Names are in the file once, so equal addresses are equal names. Its code is in `file`. */
static const struct inline_callee *callee_of(struct go_reader *r, const char *name, int32_t file)
{
	struct inline_callee *callee;
	bool fresh;
	uint64_t *known = map_put(&r->l->callees, (uintptr_t)name, &fresh);

	if (fresh) {
		callee = arena_alloc(&r->l->arena, sizeof(*callee));
		*callee = (struct inline_callee){ .name = name, .file = file_of(r, file) };
		*known = (uintptr_t)callee;
	}
	return (const struct inline_callee *)(uintptr_t)*known;
}

/*
 * The number in the unit + 1 of a span's call; 0: none. The calls around it are added first. A
 * function has fewer calls than bytes, which bounds the work.
 */
static uint32_t add_call(struct go_reader *r, const struct go_span *at, unsigned depth)
{
	const struct go_span *caller;
	struct go_call call;
	uint32_t outer;

	if (at->call < 0 || (uint64_t)at->call >= r->f.end - r->f.start || depth > CALL_DEPTH_MAX ||
	    !gotable_call(&r->l->go->table, &r->f, at->call, &call))
		return 0;
	while (r->calls.len <= (size_t)at->call)
		vec_push(&r->calls, 0);
	if (r->calls.data[at->call])
		return r->calls.data[at->call];
	caller = span_at(r, call.caller);
	if (!caller || caller->call == at->call)
		return 0; /* damaged */
	outer = add_call(r, caller, depth + 1);
	r->calls.data[at->call] = inline_add(&r->u->calls, outer, callee_of(r, call.name, at->file),
					     file_of(r, caller->file),
					     caller->line > 0 ? caller->line : 0);
	return r->calls.data[at->call];
}

static void add_span(struct go_reader *r, const struct go_span *s, const struct go_span *last)
{
	if (!last || s->file != last->file || s->line != last->line)
		vec_push(&r->u->rows, (struct line_row){ .addr = s->start,
							 .line = s->line > 0 ? s->line : 0,
							 .file = file_of(r, s->file) });
	if (!last || s->call != last->call)
		inline_add_point(&r->u->calls, s->start, add_call(r, s, 0));
}

static void read_function(struct go_reader *r)
{
	r->spans.len = r->calls.len = 0;
	gotable_spans(&r->l->go->table, &r->f, &r->spans);
	for (size_t i = 0; i < r->spans.len; i++)
		add_span(r, &r->spans.data[i], i ? &r->spans.data[i - 1] : NULL);
	vec_push(&r->u->rows, (struct line_row){ .addr = r->f.end, .file = LINE_FILE_NONE });
	inline_add_point(&r->u->calls, r->f.end, 0);
}

void golines_read(struct lineinfo *l, struct unit *u)
{
	struct go_reader r = { .l = l, .u = u };

	u->read = true;
	for (uint32_t i = 0; i < u->n; i++)
		if (gotable_function(&l->go->table, l->go->functions.data[u->first + i].index, &r.f))
			read_function(&r);
	vec_free(&r.spans);
	vec_free(&r.calls);
}
