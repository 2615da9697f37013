/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The drain.
 *
 * There is one thread and no lock. The session's loop calls three functions in this order:
 * capture_drain copies the records of all rings into `taken` (drain_take), sideband_drain brings
 * the procmap up to date, and drain_process writes packets. So when drain_process handles a
 * record, the procmap knows every earlier event of its process: fork, exec, mappings.
 * drain_process may take seconds for a batch that is large or needs new directories. Meanwhile the
 * rings are emptied into `taken` for the next batch, and the recording can end in time. An image
 * that has ended is kept a little longer; a record's time selects the image of its process.
 *
 * A stack may come after the first record that refers to it: another CPU sends it, and the rings
 * are drained one after the other. So drain_take keeps all stacks of a batch before drain_process
 * writes the other records. A record whose stack is still missing waits for one more batch. Then
 * it is shown as <Stack-lost> and counted.
 *
 * The table of kinds.c knows each kind of record: its least size, its checks, the stacks that it
 * refers to and the function that writes its packets.
 *
 * Shutdown: capture_stop, drain_take of the last records with residuals and totals,
 * drain_process(last), then the recording is closed. A total comes after all waits of its thread,
 * so the time that no packet has by then is the remainder.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/base/alloc.h"
#include "analysis/base/map.h"
#include "user/record/cgroups.h"
#include "user/record/codes.h"
#include "user/record/drain_impl.h"
#include "user/record/schedule.h"

enum {
	TAKEN_MAX = 32 << 20, /* bytes */
	EMPTY_MAX = 1 << 20,  /* bytes of an empty buffer that is kept */
	RELIEF_EVERY = 64,    /* records: tens of microseconds */
	LAST_TABLES_NS = 1000000000,
	LAST_NAMES_S = 5,
	LAST_TABLES_STEP_MS = 50,
	MAX_HELD_FILES = ER_MAX_FILES / 4,
};

static bool want_vm(void *ctx, struct image *im)
{
	struct drain *dr = ctx;

	return jit_names_want_vm(dr->jit, im);
}

static void mention_generated(void *ctx, struct output *p, uint64_t pc)
{
	struct drain *dr = ctx;

	jit_names_mention(dr->jit, p, output_image(p), pc);
}

struct drain *drain_new(const struct drain_parts *parts)
{
	struct drain *dr = xcalloc(1, sizeof(*dr));

	dr->parts = *parts;
	dr->rings = xcalloc(parts->ncpus, sizeof(*dr->rings));
	dr->next_rings = xcalloc(parts->ncpus, sizeof(*dr->next_rings));
	dr->cuts = parts->cuts ? cuts_new() : NULL;
	dr->snapshots = snapshots_new(parts->recording);
	dr->stacks = stacks_new(parts->recording);
	dr->unread = unread_new(dr->stacks);
	dr->ends = ends_new();
	if (parts->unwind) {
		dr->unwinder = unwinder_new(parts->unwind, parts->tables);
		dr->raws = raws_new(dr->stacks, dr->unwinder);
	}
	if (parts->unwind && parts->worker) {
		dr->jit = jit_names_new(parts->recording, parts->worker, dr->unwinder,
					parts->drops);
		recording_set_generated(parts->recording, mention_generated, dr);
		raws_want_vms(dr->raws, want_vm, dr);
	}
	dr->reasons = reasons_new(parts->recording, dr->stacks);
	dr->cgroups = cgroups_new(NULL);
	dr->names = thread_names_new(parts->recording);
	dr->commands = commands_new();
	drain_begin_folds(dr);
	return dr;
}

void drain_set_procmap(struct drain *dr, struct procmap *pm)
{
	dr->procmap = pm;
}

/* When too many numbers of files are held by old stacks, the stacks have to go. */
static void reuse_files(struct drain *dr)
{
	stacks_look(dr->stacks);
	if (procmap_reuse_files(dr->procmap) > MAX_HELD_FILES)
		stacks_age(dr->stacks);
}

void drain_restart(struct drain *dr)
{
	procmap_disown(dr->procmap);
	reuse_files(dr);
	stacks_restart(dr->stacks);
	if (dr->unwinder)
		unwinder_restart_counts(dr->unwinder);
	unread_restart(dr->unread);
	if (dr->raws)
		raws_restart(dr->raws);
	if (dr->jit)
		jit_names_restart(dr->jit);
	thread_names_free(dr->names);
	dr->names = thread_names_new(dr->parts.recording);
	drain_free_folds(dr);
	drain_begin_folds(dr);
	ends_clear(dr->ends);
	memcpy(dr->rings, dr->next_rings, dr->parts.ncpus * sizeof(*dr->rings));
	memset(dr->next_rings, 0, dr->parts.ncpus * sizeof(*dr->rings));
	dr->cutting = false;
	memset(dr->nwritten, 0, sizeof(dr->nwritten));
	memset(&dr->span_texts, 0, sizeof(dr->span_texts));
	memset(dr->state_ns, 0, sizeof(dr->state_ns));
}

void drain_free(struct drain *dr)
{
	if (!dr)
		return;
	buf_free(&dr->taken);
	buf_free(&dr->cut);
	cuts_free(dr->cuts);
	snapshots_free(dr->snapshots);
	free(dr->next_rings);
	buf_free(&dr->spare);
	buf_free(&dr->waiting);
	buf_free(&dr->spare_waiting);
	unread_free(dr->unread);
	raws_free(dr->raws);
	jit_names_free(dr->jit);
	ends_free(dr->ends);
	unwinder_free(dr->unwinder);
	stacks_free(dr->stacks);
	reasons_free(dr->reasons);
	cgroups_free(dr->cgroups);
	thread_names_free(dr->names);
	commands_free(dr->commands);
	late_lines_free(&dr->late_lines);
	drain_free_folds(dr);
	vec_free(&dr->recorders);
	free(dr->rings);
	free(dr);
}

/* --- packets --- */

static uint64_t microseconds(struct drain *dr, const struct actor *a, enum er_mstate state,
			     uint64_t ns)
{
	uint64_t key = a->task->tid ^ (uint64_t)a->task->start_time << 22;
	enum er_mstate kept = mstate_descs[state].on_cpu ? MS_USER : state;
	uint16_t *carry = &dr->carry[hash64(key ^ (uint64_t)kept << 60) % NCARRY];

	ns += *carry;
	*carry = ns % 1000;
	return ns / 1000;
}

int64_t drain_lwp(const struct actor *a, const struct output *p)
{
	return output_is_process(p) ? a->task->tid : a->kthread ? 0 : a->task->tgid;
}

void drain_packet(struct drain *dr, struct output *p, const struct actor *a,
		  struct clock_packet *c, uint64_t weight_ns)
{
	uint64_t us = microseconds(dr, a, c->state, weight_ns);
	struct wait_info later = c->wait ? *c->wait : (struct wait_info){ 0 };

	later.flags |= WFLAG_CONTINUED | WFLAG_MORE;
	dr->state_ns[c->state] += weight_ns;
	c->lwp = drain_lwp(a, p);
	c->thread = a->task->tid;
	thread_names_note(dr->names, a->task, a->comm, a->kthread, c->time_ns);
	/* A packet holds at most INT32_MAX microseconds, about 36 minutes. Those after the first count no wait. */
	do {
		c->nticks = us < INT32_MAX ? us : INT32_MAX;
		output_clock(dr->parts.recording, p, c);
		us -= c->nticks;
		c->wait = c->wait ? &later : NULL;
	} while (us);
	c->wait = NULL;
}

/* --- batches --- */

static void append(struct buf *b, const void *record, size_t size, int cpu)
{
	const struct taken head = { .size = size, .cpu = cpu };
	size_t padded = (size + 7) & ~(size_t)7;

	buf_add(b, &head, sizeof(head));
	buf_add(b, record, size);
	buf_zero(b, padded - size);
}

/* The record at *at, and *at behind it. */
static const struct taken *next_taken(const struct buf *b, size_t *at)
{
	const struct taken *head = (const struct taken *)(b->data + *at);

	*at += sizeof(*head) + ((head->size + 7) & ~(size_t)7);
	return head;
}

/* The row of the record's kind, if it is what it says it is; else NULL. */
static const struct data_kind *well_formed(const void *record, size_t size)
{
	const struct er_header *h = record;
	const struct data_kind *k = size < sizeof(*h) ? NULL : data_kind(h->kind);

	return k && size >= k->size && (!k->valid || k->valid(record, size)) ? k : NULL;
}

void keep_stack(struct drain *dr, const void *record)
{
	const struct er_stack *s = record;

	if (s->flags & ER_STACK_RAW) {
		if (dr->raws)
			raws_take(dr->raws, s);
		return;
	}
	if (s->flags & (ER_STACK_UNREAD | ER_STACK_AGAIN))
		unread_take(dr->unread, s);
	else
		stacks_keep(dr->stacks, s);
	if (dr->jit)
		jit_names_met(dr->jit, s);
}

/*
 * An ordinary user's recorder may read names only where that user may read memory. So functions of
 * other users' processes have none.
 */
void keep_code(struct drain *dr, const void *record)
{
	const struct er_code *c = record;

	if (!codes_take(recording_codes(dr->parts.recording), c, !geteuid() || c->uid == getuid()))
		dr->parts.drops->n[DROP_CODE]++;
}

void keep_command(struct drain *dr, const void *record)
{
	commands_take(dr->commands, record);
}

static void take(struct drain *dr, int cpu, const void *record, size_t size, struct buf *to)
{
	const struct data_kind *k = well_formed(record, size);

	if (cpu < 0 || cpu >= dr->parts.ncpus || !k) {
		dr->parts.drops->n[DROP_RECORD]++;
		return;
	}
	(dr->cutting ? dr->next_rings : dr->rings)[cpu].recorded[k->counted_as]++;
	if (k->keep)
		k->keep(dr, record);
	else
		append(to, record, size, cpu);
}

void drain_take(void *ctx, int cpu, const void *record, size_t size)
{
	struct drain *dr = ctx;

	take(dr, cpu, record, size, &dr->taken);
}

void drain_take_cut(void *ctx, int cpu, const void *record, size_t size)
{
	struct drain *dr = ctx;

	take(dr, cpu, record, size, &dr->cut);
}

/* True if a stack of the record has still to be walked. */
static bool is_waiting(const struct drain *dr, const void *record)
{
	bool raws = dr->raws && raws_waiting(dr->raws), unread = unread_waiting(dr->unread);
	const struct er_header *h = record;
	uint64_t ids[KIND_STACKS];
	size_t n;

	if (!raws && !unread)
		return false;
	n = data_kind(h->kind)->stacks(record, ids);
	for (size_t i = 0; i < n; i++) {
		if ((raws && raws_pending(dr->raws, ids[i])) || (unread && unread_pending(dr->unread, ids[i])))
			return true;
	}
	return false;
}

/* `last_chance`: write the record even if its stack is missing, unless it is being walked. */
static void write_one(struct drain *dr, const struct taken *head, bool last_chance)
{
	const struct er_header *h = (const struct er_header *)(head + 1);
	const struct er_wait *w = (const struct er_wait *)h;

	if (!is_waiting(dr, h)) {
		if (data_kind(h->kind)->write(dr, h, last_chance))
			return;
		dr->misses_stacks = true;
	}
	append(&dr->waiting, h, head->size, head->cpu);
	if (dr->cuts && h->kind == ER_KIND_WAIT)
		cuts_defer(dr->cuts, &w->task);
}

/*
 * What the waits of a thread represent since its last cut is taken off its last total. So this comes after them, also
 * after those that the ring of another CPU gives later: it waits for the next batch.
 */
static bool comes_late(const struct drain *dr, const struct er_header *h)
{
	return dr->cuts && h->kind == ER_KIND_TOTAL && cuts_was_cut(dr->cuts, &((const struct er_total *)h)->task);
}

static void write_all(struct drain *dr, const struct buf *b, bool last_chance, bool late)
{
	unsigned n = 0;

	for (size_t at = 0; at < b->len;) {
		const struct taken *head = next_taken(b, &at);

		if (++n % RELIEF_EVERY == 0)
			recording_relieve(dr->parts.recording);
		if (comes_late(dr, (const struct er_header *)(head + 1)) == late)
			write_one(dr, head, last_chance);
	}
}

static void ask_for_vms(struct drain *dr)
{
	if (dr->jit)
		jit_names_update(dr->jit, now_ns(), false);
}

/*
 * Walk the raw stacks whose tables are ready. After the last record, wait a moment for tables that
 * are being built, and for Java VMs that are being asked.
 */
static void walk_raws(struct drain *dr, bool last)
{
	uint64_t t = now_ns(), until = t + LAST_TABLES_NS;

	unwinder_update(dr->unwinder, t);
	raws_settle(dr->raws);
	raws_process(dr->raws, dr->procmap, last ? 0 : t, false);
	if (!last)
		return;
	ask_for_vms(dr);
	while (raws_settled(dr->raws) && now_ns() < until &&
	       unwinder_wait(dr->unwinder, LAST_TABLES_STEP_MS, dr->jit && jit_names_reading(dr->jit))) {
		recording_relieve(dr->parts.recording);
		unwinder_update(dr->unwinder, now_ns());
		ask_for_vms(dr);
		raws_process(dr->raws, dr->procmap, 0, false);
	}
	raws_process(dr->raws, dr->procmap, now_ns(), true);
}

/*
 * Read names of generated code. At the end of a segment, wait a moment for what is being read:
 * later it would be too late.
 */
static void read_names(struct drain *dr, bool last)
{
	uint64_t t = now_ns(), until = t + LAST_NAMES_S * UINT64_C(1000000000);

	if (!dr->jit)
		return;
	jit_names_update(dr->jit, t, last);
	if (!last)
		return;
	while (jit_names_reading(dr->jit) && now_ns() < until) {
		unwinder_wait(dr->unwinder, LAST_TABLES_STEP_MS, true);
		recording_relieve(dr->parts.recording);
		unwinder_update(dr->unwinder, now_ns());
		jit_names_update(dr->jit, now_ns(), false);
	}
	jit_names_complete(dr->jit);
}

/* Empty the buffer for later use. After a burst its memory is given back. */
static void empty(struct buf *b)
{
	if (b->cap > EMPTY_MAX)
		buf_free(b);
	buf_clear(b);
}

void drain_process(struct drain *dr, bool last)
{
	struct buf batch = dr->taken, waited = dr->waiting;

	unread_process(dr->unread, now_ns(), last);
	if (dr->raws)
		walk_raws(dr, last);
	if (dr->cuts)
		cuts_batch(dr->cuts);
	/* Records may be taken meanwhile; they belong to the next batch. */
	dr->taken = dr->spare;
	dr->waiting = dr->spare_waiting;
	dr->misses_stacks = false;
	write_all(dr, &waited, true, false);
	write_all(dr, &batch, last, false);
	if (dr->cuts) {
		write_all(dr, &waited, true, true);
		write_all(dr, &batch, last, true);
	}
	empty(&waited);
	dr->spare_waiting = waited;
	empty(&batch);
	dr->spare = batch;
	late_lines_update(&dr->late_lines, dr->parts.recording, now_ns(), last);
	read_names(dr, last);
	drain_write_folds(dr, last);
	if (last)
		snapshots_flush(dr->snapshots, false);
}

/* --- a cut --- */

static bool is_total(const struct taken *head)
{
	return ((const struct er_header *)(head + 1))->kind == ER_KIND_TOTAL;
}

static void note_totals(struct drain *dr, const struct buf *b)
{
	for (size_t at = 0; at < b->len;) {
		const struct taken *head = next_taken(b, &at);

		if (is_total(head))
			cuts_note(dr->cuts, (const struct er_total *)(head + 1));
	}
}

/* Append to `old` the records of the present segment; the others wait for the next one. */
static void sort_out(struct drain *dr, const struct buf *b, struct buf *old)
{
	for (size_t at = 0; at < b->len;) {
		const struct taken *head = next_taken(b, &at);
		const struct er_header *h = (const struct er_header *)(head + 1);
		enum er_kind kind = data_kind(h->kind)->counted_as;

		if (!cuts_is_next(dr->cuts, h)) {
			append(old, h, head->size, head->cpu);
			continue;
		}
		append(&dr->waiting, h, head->size, head->cpu);
		dr->rings[head->cpu].recorded[kind]--;
		dr->next_rings[head->cpu].recorded[kind]++;
	}
}

/* Totals come after all waits of their threads: only then the remainders are known. */
static void write_kept(struct drain *dr, const struct buf *b, bool totals)
{
	unsigned n = 0;

	for (size_t at = 0; at < b->len;) {
		const struct taken *head = next_taken(b, &at);
		const struct er_header *h = (const struct er_header *)(head + 1);

		if (++n % RELIEF_EVERY == 0)
			recording_relieve(dr->parts.recording);
		if (is_total(head) == totals)
			data_kind(h->kind)->write(dr, h, true);
	}
}

void drain_cut(struct drain *dr, uint64_t begin_ns, uint64_t end_ns)
{
	struct buf batch, waited = dr->waiting, old = { 0 };

	if (dr->raws)
		walk_raws(dr, true);
	/* What is taken from here on is the next segment's. */
	dr->cutting = true;
	batch = dr->taken;
	dr->taken = dr->spare;
	dr->waiting = dr->spare_waiting;
	cuts_batch(dr->cuts);
	cuts_begin(dr->cuts, begin_ns, end_ns);
	note_totals(dr, &dr->cut);
	note_totals(dr, &waited);
	note_totals(dr, &batch);
	sort_out(dr, &waited, &old);
	sort_out(dr, &batch, &old);
	for (int totals = 0; totals <= 1; totals++) {
		write_kept(dr, &old, totals);
		write_kept(dr, &dr->cut, totals);
	}
	cuts_end(dr->cuts);
	late_lines_update(&dr->late_lines, dr->parts.recording, now_ns(), true);
	read_names(dr, true);
	drain_write_folds(dr, true);
	snapshots_flush(dr->snapshots, true);
	empty(&waited);
	dr->spare_waiting = waited;
	empty(&batch);
	dr->spare = batch;
	buf_free(&old);
	buf_free(&dr->cut);
}

bool drain_misses_stacks(const struct drain *dr)
{
	return dr->misses_stacks;
}

bool drain_is_behind(const struct drain *dr)
{
	return dr->taken.len > TAKEN_MAX;
}

struct snapshots *drain_snapshots(struct drain *dr)
{
	return dr->snapshots;
}

void drain_relieve(struct drain *dr)
{
	if (!dr->unwinder)
		return;
	unwinder_relieve(dr->unwinder, now_ns());
	raws_ask(dr->raws, dr->procmap);
}
