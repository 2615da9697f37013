/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The drain.
 *
 * There is one thread, and so there are no locks: the session's loop calls, in
 * this order, capture_drain (which copies the records of all rings into `taken`
 * by drain_take), sideband_drain (which brings the procmap up to date), and
 * drain_process. So when a record is looked at, everything that happened to its
 * process before it is known: the fork that made it, the exec that replaced its
 * program, the mappings. An image that ended is kept for a moment longer, and
 * the record's own time chooses between the images of a process.
 *
 * BPF may send a stack after the first sample that has it: another CPU was about
 * to, and the rings are drained one after the other. So a batch takes in all
 * stacks (drain_take) before it places the samples (drain_process), and one whose
 * stack is still not there waits for the next batch, once. Whoever waited in
 * vain is shown as <Stack-lost> and counted.
 *
 * A definition is kept here as long as there is room, because the same stack
 * may be wanted by a second experiment (the founder's kernel stacks, the image
 * after an exec). When the store is full it is emptied: BPF sends again only
 * what it has itself forgotten, so samples may lose a stack then. They are counted.
 *
 * Who gets a sample: the image's sub-experiment when -F wants it and there is
 * room, else the founder; never both. Kernel threads and idle CPUs: the founder.
 * In the founder a process that is not followed has its kernel stacks, and its
 * user time as one frame <comm_PID_n>.
 *
 * Shutdown: capture_stop, drain_take of the rest with the residuals,
 * drain_process(last), then the book is closed. The drain owns the pages only
 * through image->owner; procmap_free or the book ends them.
 */
#include "kernel_er/drain.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/alloc.h"
#include "analysis/base/buf.h"
#include "analysis/base/map.h"

enum {
	STORE_WORDS = 16 << 20, /* 128 MB of stacks */
	MAX_THREADS = 4096,
	NCARRY = 4096,          /* a power of two */
};

/* A stack in the store: this header, then nkernel + nuser pcs as they are written. */
struct stored {
	uint32_t flags;
	uint16_t nkernel, nuser;
	uint64_t kernel_uid; /* of its kernel part alone */
	uint64_t pcs[];
};

struct drain {
	struct drain_parts parts;
	struct procmap *procmap;
	struct buf taken;   /* records, each behind its size */
	struct buf waiting; /* samples without their stack, likewise */
	struct map stacks;  /* id to a place in the store */
	VEC(uint64_t) store;
	struct ring_count *rings;
	uint16_t carry[NCARRY]; /* nanoseconds below the packets' microsecond */
	struct map threads_seen;
	seen_threads threads;
	uint64_t nsamples, nstacks;
};

/* The owner of an image that -F does not want, or for which there was no room. */
static char not_followed;

struct drain *drain_new(const struct drain_parts *parts)
{
	struct drain *dr = xcalloc(1, sizeof(*dr));

	dr->parts = *parts;
	dr->rings = xcalloc(parts->ncpus, sizeof(*dr->rings));
	return dr;
}

void drain_set_procmap(struct drain *dr, struct procmap *pm)
{
	dr->procmap = pm;
}

void drain_free(struct drain *dr)
{
	if (!dr)
		return;
	buf_free(&dr->taken);
	buf_free(&dr->waiting);
	map_free(&dr->stacks);
	map_free(&dr->threads_seen);
	vec_free(&dr->store);
	vec_free(&dr->threads);
	free(dr->rings);
	free(dr);
}

/* --- the sub-experiments follow the procmap --- */

static struct page *own_page(const struct image *im)
{
	return im && im->owner != &not_followed ? im->owner : NULL;
}

static void on_mapped(void *ctx, struct image *im, const struct mapping *m)
{
	struct drain *dr = ctx;

	if (own_page(im))
		page_map(dr->parts.book, im->owner, dr->parts.binaries, im->pid, m);
}

static void on_unmapped(void *ctx, struct image *im, const struct mapping *m, uint64_t time_ns)
{
	struct drain *dr = ctx;

	if (own_page(im))
		page_unmap(dr->parts.book, im->owner, m, time_ns);
}

static void on_forget(void *ctx, struct image *im)
{
	struct drain *dr = ctx;

	if (own_page(im))
		book_end(dr->parts.book, im->owner, im->end_ns);
	im->owner = NULL;
}

const struct procmap_hooks drain_hooks = {
	.mapped = on_mapped,
	.unmapped = on_unmapped,
	.forget = on_forget,
};

/* The sub-experiment of the image, made when it is wanted for the first time. */
static struct page *page_of(struct drain *dr, struct image *im)
{
	const struct drain_parts *p = &dr->parts;
	char stem[64];

	if (!im)
		return NULL;
	if (!im->owner) {
		struct page *page = NULL;

		follow_stem(im, stem, sizeof(stem));
		if (follow_wants(p->follow, im))
			page = book_add(p->book, im, p->binaries, stem);
		im->owner = page ? (void *)page : &not_followed;
	}
	return own_page(im);
}

/* --- stacks --- */

static const struct stored *find_stack(const struct drain *dr, uint64_t id)
{
	const uint64_t *at = map_get(&dr->stacks, id);

	return at ? (const struct stored *)&dr->store.data[*at] : NULL;
}

/*
 * The leaf's pc is exact; a caller's is its return address, and the byte before
 * that is inside the call instruction (experiment-format, "PC convention").
 */
static void convert(struct stored *st, const struct er_stack *s)
{
	bool exact = s->flags & ER_STACK_USER_EXACT;

	for (unsigned i = 0; i < s->nkernel; i++)
		st->pcs[i] = s->pcs[i] - (i > 0);
	for (unsigned i = s->nkernel; i < (unsigned)s->nkernel + s->nuser; i++)
		st->pcs[i] = s->pcs[i] - (i > s->nkernel || !exact);
}

static uint64_t nonzero(uint64_t uid)
{
	return uid ? uid : 1;
}

static void keep_stack(struct drain *dr, const struct er_stack *s)
{
	size_t npcs = (size_t)s->nkernel + s->nuser;
	size_t words = sizeof(struct stored) / sizeof(uint64_t) + npcs;
	struct stored *st;
	bool fresh;
	uint64_t *at;

	dr->nstacks++;
	if (dr->store.len + words > STORE_WORDS) {
		map_free(&dr->stacks);
		dr->store.len = 0;
	}
	at = map_put(&dr->stacks, s->id, &fresh);
	if (!fresh)
		return;
	*at = dr->store.len;
	vec_reserve(&dr->store, dr->store.len + words);
	dr->store.len += words;
	st = (struct stored *)&dr->store.data[*at];
	*st = (struct stored){ .flags = s->flags, .nkernel = s->nkernel, .nuser = s->nuser };
	convert(st, s);
	st->kernel_uid = nonzero(hash64(hash_words(st->pcs, s->nkernel) ^
					(s->flags & (ER_STACK_KERNEL_TRUNCATED |
						     ER_STACK_KERNEL_FAILED))));
}

/*
 * A marker may only stand at the root. Below a kernel part that was cut off, the
 * user frames would have the wrong callees: they are left out.
 */
static size_t compose(const struct stored *st, bool with_user, uint64_t *pcs)
{
	size_t n = st->nkernel;
	uint32_t cut = ER_STACK_KERNEL_TRUNCATED, failed = ER_STACK_KERNEL_FAILED;

	memcpy(pcs, st->pcs, n * sizeof(*pcs));
	if (with_user && !(st->flags & (cut | failed))) {
		memcpy(pcs + n, st->pcs + n, st->nuser * sizeof(*pcs));
		n += st->nuser;
		cut |= ER_STACK_USER_TRUNCATED;
		failed |= ER_STACK_USER_FAILED;
	}
	if (st->flags & cut)
		pcs[n++] = ER_PC_TRUNCATED;
	else if (st->flags & failed || !n)
		pcs[n++] = ER_PC_UNWIND_FAILED;
	return n;
}

/* The uid of the sample's stack in the page, 0 when its definition is not there. */
static uint64_t stack_in(struct drain *dr, struct page *p, uint64_t id, bool with_user)
{
	const struct stored *st = find_stack(dr, id);
	uint64_t pcs[2 * ER_MAX_FRAMES + 1];
	uint64_t uid = nonzero(id);

	if (st && !with_user)
		uid = st->kernel_uid;
	if (page_has_stack(p, uid))
		return uid;
	if (!st)
		return 0;
	page_stack(dr->parts.book, p, uid, pcs, compose(st, with_user, pcs), st->nkernel);
	return uid;
}

/* --- samples --- */

/* Whole microseconds; what is below is carried to a later sample, so that sums are exact. */
static uint64_t microseconds(struct drain *dr, const struct er_clock *c)
{
	uint16_t *carry = &dr->carry[hash64(c->tid ^ (uint64_t)c->start_time << 22) % NCARRY];
	uint64_t ns = c->weight_ns + *carry;

	*carry = ns % 1000;
	return ns / 1000;
}

static void note_thread(struct drain *dr, uint32_t pid, const struct er_clock *c)
{
	struct seen_thread t = { .pid = pid, .tid = c->tid };
	bool fresh;

	if (dr->threads.len >= MAX_THREADS) {
		if (!map_get(&dr->threads_seen, c->tid))
			dr->parts.drops->n[DROP_THREAD]++;
		return;
	}
	map_put(&dr->threads_seen, c->tid, &fresh);
	if (!fresh)
		return;
	memcpy(t.comm, c->comm, sizeof(t.comm) - 1);
	vec_push(&dr->threads, t);
}

/* The function that stands for a sample that has no stack to show. */
static uint64_t pseudo_stack(struct drain *dr, struct page *p, const struct er_clock *c)
{
	char name[64];
	int len = strnlen(c->comm, sizeof(c->comm));

	if (c->flags & ER_CLOCK_IDLE)
		return page_pseudo(dr->parts.book, p, "<IDLE>");
	if (c->flags & ER_CLOCK_UNSAMPLED)
		return page_pseudo(dr->parts.book, p, "<Unsampled-CPU>");
	snprintf(name, sizeof(name), "<%.*s_PID_%u>", len, c->comm, c->tgid);
	return page_pseudo(dr->parts.book, p, name);
}

static bool is_pseudo(const struct er_clock *c, bool followed)
{
	return c->flags & (ER_CLOCK_IDLE | ER_CLOCK_UNSAMPLED) ||
	       (!followed && c->flags & ER_CLOCK_USER);
}

static void write_sample(struct drain *dr, struct page *p, bool followed, const struct er_clock *c,
			 uint64_t uid)
{
	bool task = !(c->flags & (ER_CLOCK_KTHREAD | ER_CLOCK_IDLE));
	bool user = c->flags & ER_CLOCK_USER || (task && c->flags & ER_CLOCK_UNSAMPLED);
	uint64_t us = microseconds(dr, c);

	dr->nsamples++;
	if (!followed)
		note_thread(dr, task ? c->tgid : 0, c);
	page_clock(dr->parts.book, p, &(struct clock_packet){
		.lwp = followed ? c->tid : task ? c->tgid : 0,
		.thread = c->tid,
		.cpu = c->cpu,
		.time_ns = c->h.time_ns,
		.stack = uid,
		.state = user ? MS_USER : followed ? MS_SYSTEM : MS_KERNEL_CPU,
		.nticks = us < UINT32_MAX ? us : UINT32_MAX,
		.seq = c->h.seq,
	});
}

static struct page *followed_page(struct drain *dr, const struct er_clock *c)
{
	struct image *im;

	if (c->flags & (ER_CLOCK_KTHREAD | ER_CLOCK_IDLE))
		return NULL;
	im = procmap_image(dr->procmap, c->tgid, c->start_time, c->h.time_ns);
	/* What never had a sample gets no directory for a residual. */
	return c->flags & ER_CLOCK_UNSAMPLED ? own_page(im) : page_of(dr, im);
}

/* false: the sample's stack is not there yet. */
static bool place_sample(struct drain *dr, const struct er_clock *c, bool last_chance)
{
	struct page *own, *p;
	uint64_t uid;

	/* Asked first: beyond the limit no stack is written, nor an experiment made, either. */
	if (book_full(dr->parts.book)) {
		dr->parts.drops->n[DROP_LIMIT]++;
		return true;
	}
	own = followed_page(dr, c);
	p = own ? own : book_founder(dr->parts.book);
	if (is_pseudo(c, own))
		uid = pseudo_stack(dr, p, c);
	else
		uid = stack_in(dr, p, c->stack, own);
	if (!uid && !last_chance)
		return false;
	if (!uid) {
		dr->parts.drops->n[DROP_STACK]++;
		uid = page_pseudo(dr->parts.book, p, "<Stack-lost>");
	}
	write_sample(dr, p, own, c, uid);
	return true;
}

/* --- batches --- */

static void append(struct buf *b, const void *record, size_t size)
{
	uint64_t n = size, padded = (size + 7) & ~7ULL;

	buf_add(b, &n, sizeof(n));
	buf_add(b, record, size);
	buf_zero(b, padded - size);
}

static bool well_formed(const void *record, size_t size)
{
	const struct er_header *h = record;
	const struct er_stack *s = record;

	if (size < sizeof(*h))
		return false;
	if (h->kind == ER_KIND_CLOCK || h->kind == ER_KIND_RESIDUAL)
		return size >= sizeof(struct er_clock);
	return h->kind == ER_KIND_STACK && size >= sizeof(*s) && s->nkernel <= ER_MAX_FRAMES &&
	       s->nuser <= ER_MAX_FRAMES &&
	       size >= sizeof(*s) + ((size_t)s->nkernel + s->nuser) * sizeof(s->pcs[0]);
}

void drain_take(void *ctx, int cpu, const void *record, size_t size)
{
	struct drain *dr = ctx;
	const struct er_header *h = record;

	if (cpu < 0 || cpu >= dr->parts.ncpus || !well_formed(record, size)) {
		dr->parts.drops->n[DROP_RECORD]++;
		return;
	}
	dr->rings[cpu].recorded[h->kind == ER_KIND_RESIDUAL ? ER_KIND_CLOCK : h->kind]++;
	if (h->kind == ER_KIND_STACK)
		keep_stack(dr, record);
	else
		append(&dr->taken, record, size);
}

static void place_all(struct drain *dr, const struct buf *b, struct buf *later)
{
	for (size_t at = 0; at < b->len;) {
		uint64_t size;
		const void *record = b->data + at + sizeof(size);

		memcpy(&size, b->data + at, sizeof(size));
		if (!place_sample(dr, record, !later))
			append(later, record, size);
		at += sizeof(size) + ((size + 7) & ~7ULL);
	}
}

void drain_process(struct drain *dr, bool last)
{
	struct buf batch = dr->taken;

	place_all(dr, &dr->waiting, NULL);
	buf_clear(&dr->waiting);
	dr->taken = (struct buf){ 0 };
	place_all(dr, &batch, last ? NULL : &dr->waiting);
	dr->taken = batch;
	buf_clear(&dr->taken);
}

/* --- what the account wants to know --- */

const struct ring_count *drain_ring(const struct drain *dr, int cpu)
{
	return &dr->rings[cpu];
}

const seen_threads *drain_threads(const struct drain *dr)
{
	return &dr->threads;
}

uint64_t drain_samples(const struct drain *dr)
{
	return dr->nsamples;
}

uint64_t drain_stacks(const struct drain *dr)
{
	return dr->nstacks;
}
