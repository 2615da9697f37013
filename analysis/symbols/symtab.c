/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Builds the lookup table from raw symbols: sort; keep one entry for each address; give
 * ends to symbols without a size. For each symbol it also stores the nearest one before
 * it that ends later, so that a lookup skips nested symbols.
 */
#include "analysis/symbols/symtab.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <gelf.h>

#include "analysis/base/alloc.h"
#include "analysis/base/buf.h"
#include "analysis/base/diag.h"
#include "analysis/base/vec.h"
#include "analysis/symbols/aliases.h"
#include "analysis/symbols/debugfile.h"
#include "analysis/symbols/elfsyms.h"
#include "analysis/symbols/framestarts.h"
#include "analysis/symbols/gosyms.h"
#include "analysis/symbols/plt.h"

enum {
	NEST_MAX = 64, /* outward steps of a lookup; compilers nest two deep */
	ALIASES_MAX = 1024,
	NAMED_ENOUGH = 10, /* symbols per unnamed function: with more no server is asked */
	NONE = UINT32_MAX,
};

struct symtab {
	VEC(struct sym) syms;
	uint32_t *outer; /* the nearest symbol before it that ends later, or NONE */
	elf_regions regions;
	elf_regions unnamed; /* functions without a symbol, sorted and disjoint */
	elf_segments segments;
	char *build_id, *source;
	struct arena arena; /* names */
};

/* --- the table --- */

/*
 * By address; at one address functions before labels, then the name to be shown first. A
 * global name goes before a local one: those of glibc (__GI__IO_do_write) are there only where
 * its debug symbols are, and the name shown must not depend on that.
 */
static int raw_cmp(const void *pa, const void *pb)
{
	const struct rawsym *a = *(const struct rawsym *const *)pa;
	const struct rawsym *b = *(const struct rawsym *const *)pb;

	if (a->addr != b->addr)
		return a->addr < b->addr ? -1 : 1;
	if ((a->flags ^ b->flags) & RAW_UNTYPED)
		return a->flags & RAW_UNTYPED ? 1 : -1;
	if ((a->flags ^ b->flags) & RAW_GLOBAL)
		return a->flags & RAW_GLOBAL ? -1 : 1;
	return alias_cmp(a->name, b->name);
}

static const char *join_aliases(struct arena *a, const struct rawsym *keep,
				const struct rawsym *end)
{
	struct buf b = { 0 };
	const char *ret;
	size_t more = 0;

	for (const struct rawsym *r = keep + 1; r < end; r++) {
		if (!strcmp(r->name, keep->name) || alias_listed(b.data, r->name))
			continue;
		if (b.len + strlen(r->name) > ALIASES_MAX) {
			more++;
			continue;
		}
		if (b.len)
			buf_puts(&b, " ");
		buf_puts(&b, r->name);
	}
	if (more)
		buf_printf(&b, "%s+%zu", b.len ? " " : "", more);
	ret = b.len ? arena_strdup(a, b.data) : NULL;
	buf_free(&b);
	return ret;
}

/* Merge the symbols [r, end) of one address; the first by raw_cmp gives the name. */
static struct sym merge(struct symtab *t, const struct rawsym *r, const struct rawsym *end)
{
	struct sym s = { .addr = r->addr,
			 .name = r->name,
			 .elsewhere = r->flags & RAW_ELSEWHERE };
	const struct rawsym *last = r;

	/* Untyped names beside a function are labels: they add neither name nor size. */
	while (last < end && !((last->flags ^ r->flags) & RAW_UNTYPED))
		last++;
	for (const struct rawsym *p = r; p < last; p++) {
		s.size = p->size > s.size ? p->size : s.size;
		s.global |= p->flags & RAW_GLOBAL;
	}
	s.aliases = last - r > 1 ? join_aliases(&t->arena, r, last) : NULL;
	return s;
}

/* Cut sizes at the end of the region. Drops a symbol without a size inside another one: a label. */
static void bound_sizes(struct symtab *t)
{
	uint64_t reach = 0;
	size_t n = 0;

	for (size_t i = 0; i < t->syms.len; i++) {
		struct sym s = t->syms.data[i];
		const struct elf_region *r = elf_find_region(&t->regions, s.addr);
		uint64_t room = r ? r->end - s.addr : 0;

		if (!r)
			continue;
		if (!s.size && s.addr < reach)
			continue;
		if (!s.size && i + 1 < t->syms.len && t->syms.data[i + 1].addr < r->end)
			room = t->syms.data[i + 1].addr - s.addr;
		if (!s.size || s.size > room)
			s.size = room;
		if (s.addr + s.size > reach)
			reach = s.addr + s.size;
		t->syms.data[n++] = s;
	}
	t->syms.len = n;
}

static void link_outward(struct symtab *t)
{
	t->outer = xmalloc(t->syms.len * sizeof(*t->outer));
	for (size_t i = 0; i < t->syms.len; i++) {
		uint64_t end = t->syms.data[i].addr + t->syms.data[i].size;
		uint32_t o = i ? i - 1 : NONE;

		while (o != NONE && t->syms.data[o].addr + t->syms.data[o].size <= end)
			o = t->outer[o];
		t->outer[i] = o;
	}
}

/* Sort by address in memory: qsort moves a pointer three times as fast as a symbol. */
static void sort_raw(rawsyms *raw)
{
	const struct rawsym **order = xcalloc(raw->len, sizeof(*order));
	rawsyms sorted = { 0 };

	for (size_t i = 0; i < raw->len; i++)
		order[i] = &raw->data[i];
	if (raw->len)
		qsort(order, raw->len, sizeof(*order), raw_cmp);
	vec_reserve(&sorted, raw->len);
	for (size_t i = 0; i < raw->len; i++)
		vec_push(&sorted, *order[i]);
	free(order);
	vec_free(raw);
	*raw = sorted;
}

static void build(struct symtab *t, rawsyms *raw)
{
	const struct rawsym *end, *next;

	t->syms.len = 0;
	free(t->outer);
	sort_raw(raw);
	end = raw->data + raw->len;
	for (const struct rawsym *r = raw->data; r < end; r = next) {
		for (next = r; next < end && next->addr == r->addr;)
			next++;
		vec_push(&t->syms, merge(t, r, next));
	}
	bound_sizes(t);
	link_outward(t);
}

/* --- where symbols come from --- */

struct sources {
	struct symtab *t;
	const struct symtab_opts *opts;
	struct diag *d;
	rawsyms raw;
	size_t nbad;
	struct buf names; /* names of the sources, for `objects` */
};

static size_t add(struct sources *s, Elf *elf, unsigned type, const char *source)
{
	size_t n = elfsyms_add(elf, type, &s->t->regions, &s->t->arena, &s->raw, &s->nbad);

	if (n)
		buf_printf(&s->names, "%s%s", s->names.len ? ", " : "", source);
	return n;
}

static size_t add_debug_file(struct sources *s, Elf *elf)
{
	const char *root = s->opts->debug_root ? s->opts->debug_root : "/usr/lib/debug";
	__cleanup(freep) char *path = NULL, *source = NULL;
	__cleanup(closep) int fd = -1;
	size_t n = 0;
	Elf *debug;

	if (!*root)
		return 0;
	fd = debugfile_open(elf, root, s->opts->path, s->t->build_id, s->opts->open, s->d, &path);
	if (fd < 0)
		return 0;
	source = xasprintf("debug file %s", path);
	debug = elf_begin(fd, ELF_C_READ, NULL);
	if (debug && elf_is_linked(debug))
		n = add(s, debug, SHT_SYMTAB, source);
	elf_end(debug);
	return n;
}

static size_t add_debugdata(struct sources *s, Elf *elf)
{
	__cleanup(freep) char *data = NULL;
	size_t size = 0, n = 0;
	Elf *inner;

	data = debugdata_unpack(elf, &size, s->d);
	inner = data ? elf_memory(data, size) : NULL;
	if (inner && elf_is_linked(inner))
		n = add(s, inner, SHT_SYMTAB, ".gnu_debugdata");
	elf_end(inner);
	return n;
}

static size_t add_go(struct sources *s, Elf *elf)
{
	size_t n = gosyms_add(elf, &s->t->regions, &s->t->arena, &s->raw, s->d);

	if (n)
		buf_printf(&s->names, "%sGo's table", s->names.len ? ", " : "");
	return n;
}

/* Whether code has no content: a symbol file, perhaps made where the debug file was missing. */
static bool is_symbol_file(Elf *elf)
{
	const uint64_t flags = SHF_ALLOC | SHF_EXECINSTR;
	GElf_Shdr sh;

	for (Elf_Scn *s = NULL; (s = elf_nextscn(elf, s));) {
		if (gelf_getshdr(s, &sh) && (sh.sh_flags & (flags | SHF_EXCLUDE)) == flags &&
		    sh.sh_type == SHT_NOBITS)
			return true;
	}
	return false;
}

/* Find functions without a symbol: ranges that no symbol covers from before their start. */
static void read_unnamed(struct symtab *t, Elf *elf)
{
	elf_regions all = { 0 };
	uint64_t reach = 0;
	size_t i = 0;

	t->unnamed.len = 0;
	framestarts_read(elf, &t->regions, &all);
	vec_for_each(r, &all) {
		for (; i < t->syms.len && t->syms.data[i].addr <= r->start; i++) {
			const struct sym *s = &t->syms.data[i];

			reach = s->addr + s->size > reach ? s->addr + s->size : reach;
		}
		if (r->end > reach)
			vec_push(&t->unnamed, *r);
	}
	vec_free(&all);
}

static size_t add_served(struct sources *s)
{
	__cleanup(closep) int fd = s->opts->ask(s->t->build_id, s->d);
	Elf *debug = fd < 0 ? NULL : elf_begin(fd, ELF_C_READ, NULL);
	size_t n = 0;

	if (debug && elf_is_linked(debug))
		n = add(s, debug, SHT_SYMTAB, "debuginfod");
	elf_end(debug);
	return n;
}

static void read_sources(struct sources *s, Elf *elf)
{
	size_t n = add(s, elf, SHT_SYMTAB, "symtab");

	if (!n || is_symbol_file(elf))
		n += add_debug_file(s, elf);
	if (!n && !add_debugdata(s, elf))
		add_go(s, elf);
	add(s, elf, SHT_DYNSYM, "dynsym");
	plt_add(elf, &s->t->arena, &s->raw);
}

static void read_symbols(struct symtab *t, Elf *elf, const struct symtab_opts *o, struct diag *d)
{
	struct sources s = { .t = t, .opts = o, .d = d };

	read_sources(&s, elf);
	build(t, &s.raw);
	read_unnamed(t, elf);
	if (o->ask && t->unnamed.len * NAMED_ENOUGH > t->syms.len && add_served(&s)) {
		build(t, &s.raw);
		read_unnamed(t, elf);
	}
	if (s.nbad)
		diag_warn(d, "%zu symbols are damaged or too many and were skipped", s.nbad);
	t->source = xstrdup(s.names.len ? s.names.data : "no symbols");
	vec_free(&s.raw);
	buf_free(&s.names);
}

struct symtab *symtab_open(int fd, const struct symtab_opts *o, struct diag *d)
{
	static const struct symtab_opts defaults;
	const char *path = o && o->path ? o->path : "ELF file";
	struct symtab *t;
	Elf *elf;

	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ, NULL);
	if (!elf || !elf_is_linked(elf)) {
		diag_error(d, "%s: not an executable or shared object, or damaged", path);
		elf_end(elf);
		return NULL;
	}
	if (elf_is_cut(elf))
		diag_warn(d, "%s: is incomplete: the sections with its names are missing", path);
	t = xcalloc(1, sizeof(*t));
	elf_get_regions(elf, &t->regions);
	elf_get_segments(elf, &t->segments);
	t->build_id = elf_build_id(elf);
	read_symbols(t, elf, o ? o : &defaults, d);
	elf_end(elf);
	return t;
}

void symtab_free(struct symtab *t)
{
	if (!t)
		return;
	vec_free(&t->syms);
	vec_free(&t->regions);
	vec_free(&t->unnamed);
	vec_free(&t->segments);
	free(t->outer);
	free(t->build_id);
	free(t->source);
	arena_free(&t->arena);
	free(t);
}

/* --- questions --- */

const struct sym *symtab_find(const struct symtab *t, uint64_t vaddr)
{
	size_t n = vec_upto(&t->syms, addr, vaddr);
	uint32_t i = n ? n - 1 : NONE;

	for (int steps = 0; i != NONE && steps < NEST_MAX; steps++, i = t->outer[i])
		if (vaddr - t->syms.data[i].addr < t->syms.data[i].size)
			return &t->syms.data[i];
	return NULL;
}

const struct sym *symtab_syms(const struct symtab *t, size_t *n)
{
	*n = t->syms.len;
	return t->syms.data;
}

uint64_t symtab_vaddr(const struct symtab *t, uint64_t offset)
{
	uint64_t found = -1;

	/* An offset may be mapped twice (headers in a data segment): prefer the code. */
	for (size_t i = 0; i < t->segments.len; i++) {
		const struct elf_segment *s = &t->segments.data[i];

		if (offset - s->offset >= s->filesz)
			continue;
		if (s->exec)
			return s->vaddr + (offset - s->offset);
		if (found == (uint64_t)-1)
			found = s->vaddr + (offset - s->offset);
	}
	return found;
}

const struct elf_region *symtab_unnamed(const struct symtab *t, size_t *n)
{
	*n = t->unnamed.len;
	return t->unnamed.data;
}

/* Shorten [*start, *end), which contains vaddr, at a boundary `at`. */
static void cut(uint64_t vaddr, uint64_t at, uint64_t *start, uint64_t *end)
{
	if (at <= vaddr && at > *start)
		*start = at;
	if (at > vaddr && at < *end)
		*end = at;
}

bool symtab_gap(const struct symtab *t, uint64_t vaddr, uint64_t *start, uint64_t *end,
		bool *known)
{
	const struct elf_region *r = elf_find_region(&t->regions, vaddr);
	size_t n = vec_upto(&t->syms, addr, vaddr), nranges = vec_upto(&t->unnamed, start, vaddr);
	uint32_t i = n ? n - 1 : NONE;

	if (!r || symtab_find(t, vaddr))
		return false;
	*start = r->start;
	*end = r->end;
	if (n < t->syms.len)
		cut(vaddr, t->syms.data[n].addr, start, end);
	for (int steps = 0; i != NONE && steps < NEST_MAX; steps++, i = t->outer[i])
		cut(vaddr, t->syms.data[i].addr + t->syms.data[i].size, start, end);
	*known = elf_find_region(&t->unnamed, vaddr);
	if (nranges) {
		cut(vaddr, t->unnamed.data[nranges - 1].start, start, end);
		cut(vaddr, t->unnamed.data[nranges - 1].end, start, end);
	}
	if (nranges < t->unnamed.len)
		cut(vaddr, t->unnamed.data[nranges].start, start, end);
	return true;
}

const char *symtab_build_id(const struct symtab *t)
{
	return t->build_id;
}

const char *symtab_source(const struct symtab *t)
{
	return t->source;
}
