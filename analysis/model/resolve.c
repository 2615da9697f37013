/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Turns recorded addresses into frames. A pc is looked up in its experiment's address
 * map and, if it is a kernel address, in the experiment's kernel symbols. Each answer
 * holds for a span of time; a stack's span is the intersection of its pcs' spans. For
 * nearly all stacks it is unlimited, and they are resolved once.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/interrupt.h"
#include "analysis/base/sort.h"
#include "analysis/experiment/exp_map.h"
#include "analysis/experiment/exp_stacks.h"
#include "analysis/experiment/packet.h"
#include "analysis/model/model.h"

static bool is_frame(const struct session *s, const struct kept_frame *k, const struct frame *f)
{
	const struct kept_inlined *in;

	if (k->func != f->func->id || k->offset != f->offset || !k->inlined != !f->depth)
		return false;
	in = k->inlined ? &s->inlined.data[k->inlined - 1] : NULL;
	return !in || (in->body == f->body && in->depth == f->depth);
}

static void keep_frame(struct session *s, const struct frame *f)
{
	struct kept_frame k = { .func = f->func->id, .offset = f->offset };

	if (f->depth) {
		vec_push(&s->inlined, (struct kept_inlined){ f->body, f->depth });
		k.inlined = s->inlined.len;
	}
	vec_push(&s->frames, k);
}

static uint64_t frame_hash(const struct frame *f)
{
	uint64_t hash = hash64(f->offset ^ hash64(f->func->id + 1));

	return f->depth ? hash64(hash ^ hash64((uint64_t)f->depth << 32 | f->body->id)) : hash;
}

uint32_t frame_intern(struct session *s, const struct frame *f)
{
	struct intern *ids = &s->impl->frame_ids;
	uint64_t hash = frame_hash(f);
	struct intern_probe probe = intern_probe(hash);
	uint32_t id1;

	while ((id1 = intern_next(ids, &probe))) {
		if (is_frame(s, &s->frames.data[id1 - 1], f))
			return id1 - 1;
	}
	keep_frame(s, f);
	return intern_add(ids, hash);
}

static struct frame own_frame(struct func *f, uint64_t offset)
{
	return (struct frame){ .func = f, .body = f, .offset = offset };
}

uint32_t frame_get(struct session *s, struct func *f, uint64_t offset)
{
	struct frame frame = own_frame(f, offset);

	return frame_intern(s, &frame);
}

static uint64_t frames_hash(const uint32_t *frames, size_t n)
{
	uint64_t h = n;

	for (size_t i = 0; i < n; i++)
		h = (h << 5 ^ h >> 59 ^ frames[i]) * 0x9e3779b97f4a7c15ULL; /* golden ratio */
	return hash64(h);
}

uint32_t stack_get(struct session *s, const uint32_t *frames, size_t n)
{
	struct intern *ids = &s->impl->stack_ids;
	uint64_t hash = frames_hash(frames, n);
	struct intern_probe probe = intern_probe(hash);
	uint32_t id1;
	size_t first = s->stack_frames.len;

	while ((id1 = intern_next(ids, &probe))) {
		const struct stack *have = &s->stacks.data[id1 - 1];

		if (have->n == n &&
		    !memcmp(&s->stack_frames.data[have->first], frames, n * sizeof(*frames)))
			return id1 - 1;
	}
	vec_reserve(&s->stack_frames, first + n);
	if (n)
		memcpy(&s->stack_frames.data[first], frames, n * sizeof(*frames));
	s->stack_frames.len += n;
	vec_push(&s->stacks, (struct stack){ .first = first, .n = n });
	return intern_add(ids, hash);
}

/* --- building the address map --- */

struct change {
	int64_t time_ns;
	size_t index;
};

static int change_cmp(const void *pa, const void *pb)
{
	const struct change *a = pa, *b = pb;

	if (a->time_ns != b->time_ns)
		return a->time_ns < b->time_ns ? -1 : 1;
	return (a->index > b->index) - (a->index < b->index);
}

static struct loadobj *dynamic_object(struct session *s)
{
	return object_pseudo(s, "DYNAMIC_FUNCTIONS", "<DYNAMIC_FUNCTIONS>");
}

/* A name in angle brackets is not code: it is one function at whatever address. */
static struct func *dynamic_func(struct session *s, const struct exp_map *em, const char *name)
{
	unsigned flags = em->interpreted ? FUNC_INTERPRETED : 0;
	struct func *f;

	if (name[0] == '<')
		return func_get(s, dynamic_object(s), 0, 0, name, FUNC_PSEUDO | flags);
	f = func_get(s, dynamic_object(s), em->vaddr, em->size, name, flags);
	if (em->alias && *em->alias && !f->aliases)
		f->aliases = strtab_intern(&s->names, em->alias);
	return f;
}

static void add_dynamic(struct session *s, struct addrmap *map, const struct exp_map *em,
			int64_t time_ns)
{
	const char *name = em->name && *em->name ? em->name : "<Unknown>";

	addrmap_add(map, time_ns, &(struct mapping){
		.vaddr = em->vaddr, .size = em->size, .func = dynamic_func(s, em, name) });
}

/*
 * Add a function without a file, or a dynamic module. A module's named functions are
 * the records just before its own; the rest of its range is code without a symbol.
 */
static void add_function(struct session *s, struct addrmap *map, const struct experiment *e,
			 const struct exp_map *em)
{
	const struct exp_map *first = em;
	char *gap;

	while (em->name && first > e->maps.data && first[-1].what == EXP_MAP_DYNFUNC &&
	       first[-1].module && !strcmp(first[-1].module, em->name))
		first--;
	if (first == em) {
		add_dynamic(s, map, em, em->time_ns);
		return;
	}
	gap = xasprintf("<static>@0x%" PRIx64 " (%s)", em->vaddr, em->name);
	addrmap_add(map, em->time_ns, &(struct mapping){
		.vaddr = em->vaddr, .size = em->size,
		.func = func_get(s, dynamic_object(s), em->vaddr, em->size, gap, FUNC_STATIC) });
	free(gap);
	for (; first < em; first++)
		add_dynamic(s, map, first, em->time_ns);
}

static struct loadobj *kernel_object(struct session *s)
{
	struct loadobj *o = object_pseudo(s, "LinuxKernel", "<LinuxKernel>");

	o->kernel = true;
	return o;
}

static void add_segment(struct session *s, const struct experiment *e, struct addrmap *map,
			const struct exp_map *em)
{
	if (!(em->modes & 4) || !em->name || !*em->name)
		return;
	if (!strcmp(em->name, "LinuxKernel")) {
		kernel_object(s); /* functions are found in the experiment's ksyms */
		return;
	}
	addrmap_add(map, em->time_ns, &(struct mapping){
		.vaddr = em->vaddr, .size = em->size, .foffset = em->foffset,
		.obj = object_mapped(s, e, em->name) });
}

static struct addrmap *build_map(struct session *s, const struct experiment *e)
{
	struct addrmap *map = addrmap_new();
	VEC(struct change) changes = { 0 };

	for (size_t i = 0; i < e->maps.len; i++)
		vec_push(&changes, (struct change){ e->maps.data[i].time_ns, i });
	vec_sort(&changes, change_cmp);
	vec_for_each(c, &changes) {
		const struct exp_map *em = &e->maps.data[c->index];

		switch (em->what) {
		case EXP_MAP_SEGMENT:
			add_segment(s, e, map, em);
			break;
		case EXP_MAP_FUNCTION:
			add_function(s, map, e, em);
			break;
		case EXP_MAP_UNMAP:
			addrmap_unmap(map, em->time_ns, em->vaddr);
			break;
		case EXP_MAP_DYNFUNC: /* added with its module */
			break;
		}
	}
	vec_free(&changes);
	addrmap_finish(map);
	return map;
}

/* --- looking up --- */

static struct frame kernel_frame(struct session *s, const struct experiment *e, uint64_t pc)
{
	const struct experiment *k = !e->ksyms.len && e->founder ? e->founder : e;
	size_t n = vec_upto(&k->ksyms, addr, pc);
	const struct exp_ksym *sym;
	struct loadobj *o;
	uint64_t end;
	char *name;
	struct func *f;

	if (!n || (n == k->ksyms.len && pc - k->ksyms.data[n - 1].addr >= k->ksyms.data[n - 1].size))
		return own_frame(s->unknown, pc);
	o = kernel_object(s);
	sym = &k->ksyms.data[n - 1];
	if (pc - sym->addr < sym->size) {
		name = xasprintf("%s`%s", sym->module, sym->name);
		f = func_get(s, o, sym->addr, sym->size, name, 0);
	} else {
		end = sym->addr + sym->size;
		name = xasprintf("<static>@0x%" PRIx64 " (%s)", end, o->name);
		f = func_get(s, o, end, sym[1].addr - end, name, FUNC_STATIC);
	}
	free(name);
	return own_frame(f, pc - f->addr);
}

static struct frame mapped_frame(struct session *s, const struct mapping *m, uint64_t pc)
{
	uint64_t addr;
	struct func *f;

	if (m->func)
		return own_frame(m->func, m->func->flags & FUNC_PSEUDO ? 0 : pc - m->vaddr);
	f = object_func(s, m, pc - m->vaddr + m->foffset, &addr);
	return own_frame(f, addr - f->addr);
}

enum { FRAMES_KNOWN = INT32_MAX }; /* as many ids fit into a known_pc */

/* Whether the last pc of a stack is a marker: it says that callers are missing. */
static bool is_marker(uint64_t pc)
{
	return pc == ER_PC_TRUNCATED || pc == ER_PC_UNWIND_FAILED;
}

static uint32_t marker_frame(struct session *s, uint64_t pc)
{
	return frame_get(s, pc == ER_PC_TRUNCATED ? s->truncated : s->unwind_failed, 0);
}

/* The frame of a pc. *valid becomes the span of time for which the answer holds. */
static struct frame look_up(struct session *s, struct experiment *e, struct resolver *r, uint64_t pc,
			    int64_t time_ns, struct span *valid)
{
	const struct mapping *m;

	*valid = (struct span){ INT64_MIN, INT64_MAX };
	m = addrmap_find(r->map, pc, time_ns, valid);
	return m ? mapped_frame(s, m, pc) : kernel_frame(s, e, pc);
}

/* Keep the frame of a pc for later, if the answer always holds. Returns whether the frame is plain. */
static bool know(const struct session *s, struct resolver *r, uint32_t number, uint32_t frame,
		 const struct span *valid)
{
	bool plain = frame_is_plain(frame_func(s, frame));

	if (valid->from == INT64_MIN && valid->to == INT64_MAX && frame < FRAMES_KNOWN)
		r->known.data[number] = (struct known_pc){ .frame1 = frame + 1, .plain = plain };
	return plain;
}

/* Clears *plain if the frame is not plain. */
static uint32_t resolve_pc(struct session *s, struct experiment *e, struct resolver *r,
			   uint32_t number, int64_t time_ns, struct span *valid, bool *plain)
{
	uint64_t pc = e->pcs.data[number];
	struct span here;
	struct frame found = look_up(s, e, r, pc, time_ns, &here);
	uint32_t frame = frame_intern(s, &found);

	if (is_marker(pc))
		*plain &= frame_is_plain(frame_func(s, frame));
	else
		*plain &= know(s, r, number, frame, &here);
	valid->from = here.from > valid->from ? here.from : valid->from;
	valid->to = here.to < valid->to ? here.to : valid->to;
	return frame;
}

/*
 * Many pcs are resolved at once, in order of their addresses: what one needs is then already in the CPU's
 * cache, because the one before it needed it. They are sorted in parts, which limits the memory.
 */
enum { PCS_MANY = 1 << 16, PCS_SORTED = 1 << 20, BATCH = 16 };

static void resolve_batch(struct session *s, struct experiment *e, struct resolver *r,
			  const struct keyed *pcs, size_t n)
{
	struct frame frames[BATCH];
	struct span valid[BATCH];

	for (size_t i = 0; i < n; i++) {
		frames[i] = look_up(s, e, r, pcs[i].key, 0, &valid[i]);
		intern_prefetch(&s->impl->frame_ids, frame_hash(&frames[i]));
	}
	for (size_t i = 0; i < n; i++)
		know(s, r, pcs[i].value, frame_intern(s, &frames[i]), &valid[i]);
}

static void resolve_in_order(struct session *s, struct experiment *e, struct resolver *r)
{
	size_t most = e->pcs.len < PCS_SORTED ? e->pcs.len : PCS_SORTED, n;
	struct keyed *pcs = xcalloc(most, sizeof(*pcs)), *room = xcalloc(most, sizeof(*room));

	for (size_t from = 0; from < e->pcs.len; from += PCS_SORTED) {
		n = 0;
		for (size_t i = from; i < e->pcs.len && i < from + PCS_SORTED; i++) {
			if (!is_marker(e->pcs.data[i]))
				pcs[n++] = (struct keyed){ e->pcs.data[i], i };
		}
		sort_keyed(pcs, n, room);
		for (size_t i = 0; i < n && !interrupt_pending(); i += BATCH)
			resolve_batch(s, e, r, &pcs[i], n - i < BATCH ? n - i : BATCH);
	}
	free(pcs);
	free(room);
}

static uint32_t resolve_stack(struct session *s, struct experiment *e, struct resolver *r,
			      const struct exp_stack *st, int64_t time_ns, struct span *valid)
{
	const uint32_t *pcs = &e->stack_pcs.data[st->first];
	uint32_t n = st->npcs, *frames;
	bool plain = true;

	vec_reserve(&s->impl->scratch, n);
	frames = s->impl->scratch.data;
	for (uint32_t i = 0; i < n; i++) {
		struct known_pc known = r->known.data[pcs[i]];

		frames[i] = known.frame1 - 1;
		if (known.frame1)
			plain &= known.plain;
		else if (i + 1 == n && is_marker(e->pcs.data[pcs[i]]))
			frames[i] = marker_frame(s, e->pcs.data[pcs[i]]);
		else
			frames[i] = resolve_pc(s, e, r, pcs[i], time_ns, valid, &plain);
	}
	return stack_expand(s, frames, n, plain);
}

static void zeros(struct resolver *r, size_t n)
{
	vec_reserve(&r->first, n);
	vec_reserve(&r->fixed, n);
	if (n) {
		memset(r->first.data, 0, n * sizeof(*r->first.data));
		memset(r->fixed.data, 0, n * sizeof(*r->fixed.data));
	}
	r->first.len = r->fixed.len = n;
}

struct resolver *resolver_of(struct session *s, struct experiment *e)
{
	struct resolver *r = &s->impl->resolvers.data[e->id - 1];

	if (r->map)
		return r;
	experiment_number_pcs(e);
	r->map = build_map(s, e);
	r->known.data = xcalloc(e->pcs.len, sizeof(*r->known.data));
	zeros(r, e->stacks.len);
	if (e->pcs.len >= PCS_MANY)
		resolve_in_order(s, e, r);
	return r;
}

void resolver_forget(struct resolver *r)
{
	zeros(r, r->fixed.len);
	r->resolutions.len = 0;
}

void resolver_free(struct resolver *r)
{
	addrmap_free(r->map);
	vec_free(&r->fixed);
	vec_free(&r->first);
	vec_free(&r->resolutions);
	vec_free(&r->known);
}

/* Resolve a stack for a state of the address map that is new to it. */
static uint32_t resolve_new(struct session *s, struct experiment *e, struct resolver *r,
			    size_t index, int64_t time_ns)
{
	struct resolution res = { .valid = { INT64_MIN, INT64_MAX }, .next = r->first.data[index] };

	res.stack = resolve_stack(s, e, r, &e->stacks.data[index], time_ns, &res.valid);
	if (!r->warned && addrmap_exhausted(r->map)) {
		r->warned = true;
		diag_warn(&e->diag, "map.xml: too many mappings of the same addresses: "
			  "some addresses are shown as <Unknown>");
	}
	if (res.valid.from == INT64_MIN && res.valid.to == INT64_MAX) {
		r->fixed.data[index] = res.stack + 1;
		return res.stack;
	}
	vec_push(&r->resolutions, res);
	r->first.data[index] = r->resolutions.len;
	return res.stack;
}

/* Not inlined, so that the fast path in session_resolve saves no registers. */
static __attribute__((noinline)) uint32_t resolve_at(struct session *s, struct experiment *e,
						     size_t index, int64_t time_ns)
{
	struct resolver *r = resolver_of(s, e);

	if (index >= r->fixed.len || !e->stacks.data[index].npcs)
		return s->impl->unknown_stack;
	for (uint32_t i1 = r->first.data[index]; i1; i1 = r->resolutions.data[i1 - 1].next) {
		const struct resolution *have = &r->resolutions.data[i1 - 1];

		if (have->valid.from <= time_ns && time_ns < have->valid.to)
			return have->stack;
	}
	return resolve_new(s, e, r, index, time_ns);
}

uint32_t session_resolve(struct session *s, struct experiment *e, int64_t index, int64_t time_ns)
{
	const struct resolver *r = &s->impl->resolvers.data[e->id - 1];

	/* Index -1 fails this comparison, too. */
	if ((size_t)index < r->fixed.len && r->fixed.data[index])
		return r->fixed.data[index] - 1;
	return resolve_at(s, e, index, time_ns);
}
