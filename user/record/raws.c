/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "user/record/raws.h"

#include <inttypes.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/alloc.h"
#include "analysis/base/buf.h"
#include "analysis/base/map.h"
#include "analysis/base/vec.h"
#include "user/jit/runtime.h"
#include "user/record/stacks.h"
#include "user/space/procmap.h"
#include "user/unwind/unwinder.h"

enum {
	PATIENCE_NS = 1200000000,
	MAX_BYTES = 16 << 20,    /* waiting */
	MANY_BYTES = 4 << 20,
};

struct waiting {
	struct er_stack *stack;
	uint32_t lacks;    /* the file whose table was missing in the last walk; 0: not walked yet */
	bool lacks_vm;     /* the Java VM was not known in the last walk */
	uint64_t since_ns; /* of the first walk that lacked a table; 0: not walked yet */
};

/* Why stacks were walked although a table was missing. */
enum why_now { WAITS, LATE, CROWDED, LAST, WHY_COUNT };

static const char *const why_words[WHY_COUNT] = {
	[LATE] = "late", [CROWDED] = "crowded", [LAST] = "last",
};

struct raws {
	struct stacks *stacks;
	struct unwinder *unwinder;
	VEC(struct waiting) waiting;
	size_t asked;   /* the first so many have requested a table, or were walked */
	size_t settled; /* the procmap has all events from before the first so many */
	struct map ids; /* ids of waiting stacks; the values are unused */
	size_t bytes;
	bool had_many; /* bytes, since none waited */
	uint64_t ntaken, taken_bytes, nlacking[WHY_COUNT];
	struct walk walk;
	bool (*wants_vm)(void *ctx, struct image *im);
	void *ctx;
};

struct raws *raws_new(struct stacks *stacks, struct unwinder *unwinder)
{
	struct raws *r = xcalloc(1, sizeof(*r));

	r->stacks = stacks;
	r->unwinder = unwinder;
	return r;
}

void raws_free(struct raws *r)
{
	if (!r)
		return;
	vec_for_each(w, &r->waiting)
		free(w->stack);
	vec_free(&r->waiting);
	map_free(&r->ids);
	free(r);
}

void raws_want_vms(struct raws *r, bool (*wants)(void *ctx, struct image *im), void *ctx)
{
	r->wants_vm = wants;
	r->ctx = ctx;
}

static struct er_raw *raw_of(const struct er_stack *s)
{
	return (struct er_raw *)&s->pcs[s->nkernel];
}

static size_t size_of(const struct er_stack *s)
{
	return sizeof(*s) + s->nkernel * sizeof(s->pcs[0]) + sizeof(struct er_raw) +
	       raw_of(s)->nbytes;
}

void raws_restart(struct raws *r)
{
	r->ntaken = r->waiting.len;
	r->taken_bytes = 0;
	vec_for_each(w, &r->waiting)
		r->taken_bytes += raw_of(w->stack)->nbytes;
	memset(r->nlacking, 0, sizeof(r->nlacking));
}

/*
 * A leaf that is about to return: go on at its return address. The rules of its last instruction may have registers
 * where they were saved, below the stack pointer, and what is there is not copied.
 */
static void do_return(struct er_stack *s)
{
	struct er_raw *raw = raw_of(s);

	if (!(s->flags & ER_STACK_RETURNS) || raw->nbytes < sizeof(uint64_t))
		return;
	raw->regs[ER_DWARF_RIP] = raw->bytes[0];
	raw->regs[ER_DWARF_RSP] += sizeof(uint64_t);
	raw->nbytes -= sizeof(uint64_t);
	memmove(raw->bytes, (const uint64_t *)raw->bytes + 1, raw->nbytes);
	s->flags &= ~(ER_STACK_RETURNS | ER_STACK_USER_EXACT);
}

void raws_take(struct raws *r, const struct er_stack *s)
{
	struct er_stack *copy = xmalloc(size_of(s));

	memcpy(copy, s, size_of(s));
	do_return(copy);
	vec_push(&r->waiting, (struct waiting){ .stack = copy });
	map_put(&r->ids, s->id, NULL);
	r->bytes += size_of(copy);
	r->had_many |= r->bytes > MANY_BYTES;
	r->ntaken++;
	r->taken_bytes += raw_of(copy)->nbytes;
}

/* Pass the walked stack on as if BPF had sent it. */
static void hand_on(struct raws *r, const struct er_stack *s, const struct walk *w)
{
	struct {
		struct er_stack s;
		uint64_t pcs[ER_MAX_FRAMES];
	} walked = { .s = *s };

	walked.s.flags &= ~ER_STACK_RAW;
	walked.s.end = w->end;
	walked.s.nuser = w->n;
	if (w->end == ER_END_DEPTH)
		walked.s.flags |= ER_STACK_USER_TRUNCATED;
	if (w->guessed)
		walked.s.flags |= ER_STACK_GUESSED;
	memcpy(walked.pcs, s->pcs, s->nkernel * sizeof(s->pcs[0]));
	memcpy(walked.pcs + s->nkernel, w->frames, w->n * sizeof(w->frames[0]));
	stacks_keep_equal(r->stacks, &walked.s);
}

/* Whether the VM is still being asked for. */
static bool lacks_vm(const struct raws *r, struct image *im)
{
	return r->wants_vm && runtime_java(im) && r->wants_vm(r->ctx, im);
}

static bool walk_one(struct raws *r, struct procmap *pm, struct waiting *w, enum why_now why)
{
	const struct er_stack *s = w->stack;
	struct image *im;

	if (!why && w->lacks && unwinder_builds(r->unwinder, w->lacks))
		return false;
	im = procmap_image(pm, s->tgid, s->start_time, s->h.time_ns);
	if (!im) {
		r->walk.n = 0;
		r->walk.guessed = false;
		r->walk.end = ER_END_NO_MAPPING;
	} else if (!why && w->lacks_vm && lacks_vm(r, im)) {
		return false;
	} else {
		unwinder_meet(r->unwinder, im, s->start_time, s->exec_id);
		if (!unwinder_walk(r->unwinder, im, raw_of(s), s->h.time_ns, why, &r->walk)) {
			w->lacks = r->walk.lacking->file;
			return false;
		}
		w->lacks_vm = r->walk.wants_vm && !why && lacks_vm(r, im);
		if (w->lacks_vm)
			return false;
		/* The VM is known, also to BPF, or it never will be. */
		if (r->walk.wants_vm && !why)
			unwinder_await_vm(r->unwinder, im, false);
		r->nlacking[why] += r->walk.lacking != NULL;
	}
	hand_on(r, s, &r->walk);
	return true;
}

void raws_settle(struct raws *r)
{
	r->settled = r->waiting.len;
}

void raws_ask(struct raws *r, const struct procmap *pm)
{
	for (; r->asked < r->waiting.len; r->asked++) {
		const struct er_stack *s = r->waiting.data[r->asked].stack;
		const struct image *im = procmap_known_image(pm, s->tgid, s->start_time, s->h.time_ns);

		if (im)
			unwinder_ask(r->unwinder, im, raw_of(s), s->h.time_ns, &r->walk);
	}
}

static enum why_now why_now(const struct raws *r, const struct waiting *w, uint64_t now_ns, bool last)
{
	if (last)
		return LAST;
	if (w->since_ns && w->since_ns + PATIENCE_NS < now_ns)
		return LATE;
	return r->bytes > MAX_BYTES ? CROWDED : WAITS;
}

void raws_process(struct raws *r, struct procmap *pm, uint64_t now_ns, bool last)
{
	size_t n = 0, later;

	for (size_t i = 0; i < r->settled; i++) {
		struct waiting w = r->waiting.data[i];

		if (!walk_one(r, pm, &w, why_now(r, &w, now_ns, last))) {
			w.since_ns = w.since_ns ? w.since_ns : now_ns;
			r->waiting.data[n++] = w;
			continue;
		}
		r->bytes -= size_of(w.stack);
		map_remove(&r->ids, w.stack->id);
		free(w.stack);
	}
	later = r->waiting.len - r->settled;
	if (later)
		memmove(&r->waiting.data[n], &r->waiting.data[r->settled], later * sizeof(*r->waiting.data));
	r->settled = r->asked = n;
	r->waiting.len = n + later;
	if (r->waiting.len || !r->had_many)
		return;
	/* Small allocations between the copies keep the heap from shrinking by itself. */
	malloc_trim(0);
	r->had_many = false;
}

bool raws_pending(const struct raws *r, uint64_t id)
{
	return map_get(&r->ids, id);
}

size_t raws_waiting(const struct raws *r)
{
	return r->waiting.len;
}

size_t raws_settled(const struct raws *r)
{
	return r->settled;
}

uint64_t raws_oldest(const struct raws *r, uint64_t now_ns)
{
	vec_for_each(w, &r->waiting)
		if (w->stack->h.time_ns < now_ns)
			now_ns = w->stack->h.time_ns;
	return now_ns;
}

void raws_write(const struct raws *r, struct buf *b)
{
	buf_printf(b, "<copies taken=\"%" PRIu64 "\" bytes=\"%" PRIu64 "\"", r->ntaken,
		   r->taken_bytes);
	for (int why = LATE; why < WHY_COUNT; why++)
		buf_printf(b, " %s=\"%" PRIu64 "\"", why_words[why], r->nlacking[why]);
	buf_puts(b, "/>\n");
}
