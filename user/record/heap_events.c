/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Turns heap events (-H) into packets. They do not come from BPF: the processes of the load write
 * them (heap_server.h). A stack comes before the first event that has it, and its addresses become
 * frames like those of BPF. A process gets an experiment of its own, because an address means
 * something in one process only.
 */
#include <math.h>
#include <string.h>

#include "analysis/base/map.h"
#include "analysis/experiment/expwriter.h"
#include "user/record/drain_impl.h"
#include "user/record/heap_server.h"
#include "user/space/space.h"

enum {
	BATCH = 1 << 16,   /* slots of each ring at a time */
	RELIEF_EVERY = 64, /* events */
};

struct sink {
	struct drain *dr;
	unsigned n;
	/* The process of the last event, which is the same for most. */
	pid_t pid;
	struct image *image;
	uint64_t start_time;
};

static struct image *image_of(struct sink *k, const struct heap_process *p, uint64_t time_ns)
{
	if (k->pid != p->pid || !k->image || k->image->older || k->image->begin_ns > time_ns) {
		k->image = procmap_image_at(k->dr->procmap, p->pid, time_ns, &k->start_time);
		k->pid = p->pid;
	}
	return k->image;
}

/* The byte before a return address is inside the call. */
static uint64_t frame_of(const struct image *im, uint64_t pc, uint64_t time_ns, bool exact)
{
	const struct mapping *m = space_at(im->space, pc - !exact, time_ns);

	return m && m->file ? er_frame(m->file, m->pgoff + (pc - m->start)) : pc & ~ER_FRAME_FILE;
}

uint64_t heap_stack_id(const struct heap_process *p, uint64_t id)
{
	return hash64(id ^ p->salt);
}

void heap_stack_keep(struct stacks *stacks, const struct image *im, const struct heap_stack *from)
{
	uint64_t store[(sizeof(struct er_stack) + HEAP_FRAMES * sizeof(uint64_t)) / sizeof(uint64_t)];
	struct er_stack *s = (struct er_stack *)store;
	unsigned end = from->end;

	*s = (struct er_stack){
		.h = { .kind = ER_KIND_STACK, .time_ns = from->time_ns }, .id = from->id,
		.start_time = from->start_time, .tgid = im->pid, .nuser = from->n,
		.end = end < ER_END_COUNT && end ? end : ER_END_FAULT,
		.flags = (end == ER_END_DEPTH ? ER_STACK_USER_TRUNCATED : from->n ? 0 : ER_STACK_USER_FAILED) |
			 (from->exact ? ER_STACK_USER_EXACT : 0),
	};
	for (size_t i = 0; i < from->n; i++)
		s->pcs[i] = frame_of(im, from->pcs[i], from->time_ns, from->exact && !i);
	stacks_keep(stacks, s);
}

static void take_stack(void *ctx, const struct heap_process *p, uint64_t id, uint64_t time_ns,
		       const uint64_t *pcs, size_t n, unsigned end)
{
	struct sink *k = ctx;
	const struct image *im = image_of(k, p, time_ns);

	if (im)
		heap_stack_keep(k->dr->stacks, im,
				&(struct heap_stack){ .id = heap_stack_id(p, id), .time_ns = time_ns, .pcs = pcs,
						      .start_time = k->start_time, .n = n, .end = end });
}

/* The experiment of the process alone. NULL: it is not followed, or there is no room. */
static struct output *output_of(struct drain *dr, const struct actor *a, uint64_t time_ns)
{
	struct output *own = route_output(dr, a, time_ns, true);

	if (own)
		own = route_own(dr, a, time_ns);
	if (!own || output_image(own))
		return own;
	dr->parts.drops->n[DROP_HEAP_PLACE]++;
	return NULL;
}

/*
 * The sampler chooses a block of s bytes with the probability 1 - exp(-s / mean) (heap_sample.h).
 * A chosen block counts as s bytes divided by this probability.
 */
static uint64_t weight(const struct drain *dr, unsigned kind, uint64_t size)
{
	double s = size;

	if (!dr->parts.sampled || kind == HEAP_SLOT_MMAP || kind == HEAP_SLOT_MUNMAP || !size)
		return size;
	return s / -expm1(-s / HEAP_SAMPLE_BYTES) + 0.5;
}

/* The fields of a packet after FRINFO. */
struct heap_fields {
	uint64_t kind, size, address, old;
};

static void put_packet(struct drain *dr, struct output *output, const struct actor *a, uint64_t time_ns,
		       uint32_t cpu, uint32_t uid, const struct heap_fields *f)
{
	thread_names_note(dr->names, a->task, a->comm, false, time_ns);
	output_packet(dr->parts.recording, output, ER_PKT_HEAP,
		      (int64_t[]){ drain_lwp(a, output), a->task->tid, cpu, time_ns, uid, f->kind, f->size,
				   f->address, f->old }, NULL);
}

static uint32_t lost_stack(struct drain *dr, struct output *output)
{
	dr->parts.drops->n[DROP_STACK]++;
	return output_pseudo(dr->parts.recording, output, "<Stack-lost>");
}

static void write_packet(struct sink *k, const struct heap_process *p, const struct heap_record *r)
{
	struct drain *dr = k->dr;
	struct er_task task = { .start_time = k->start_time, .tgid = p->pid, .tid = r->tid };
	struct actor actor;
	struct output *output;
	uint32_t uid;

	memcpy(task.comm, r->comm, sizeof(task.comm));
	actor = route_actor(dr, &task, false, r->time_ns);
	output = output_of(dr, &actor, r->time_ns);
	if (!output)
		return;
	uid = stacks_write(dr->stacks, output, heap_stack_id(p, r->stack),
			   &(struct stack_shape){ .with_user = true, .time_ns = r->time_ns });
	put_packet(dr, output, &actor, r->time_ns, 0, uid ? uid : lost_stack(dr, output),
		   &(struct heap_fields){ r->kind, weight(dr, r->kind, r->size), r->address, r->old });
}

/* A record of BPF, from a program that does not load the library. */
bool write_heap(struct drain *dr, const void *record, bool last_chance)
{
	const struct er_heap *h = record;
	uint64_t time_ns = h->at.h.time_ns;
	struct actor actor = route_actor(dr, &h->at.task, false, time_ns);
	struct output *output;
	uint32_t uid;

	if (recording_full(dr->parts.recording)) {
		drops_limit(dr->parts.drops, time_ns);
		return true;
	}
	output = output_of(dr, &actor, time_ns);
	if (!output)
		return true;
	uid = stacks_write(dr->stacks, output, h->at.stack,
			   &(struct stack_shape){ .with_user = true, .time_ns = time_ns });
	if (!uid && !last_chance)
		return false;
	dr->nwritten[ER_KIND_HEAP]++;
	put_packet(dr, output, &actor, time_ns, h->at.cpu, uid ? uid : lost_stack(dr, output),
		   &(struct heap_fields){ h->kind, weight(dr, h->kind, h->size), h->address, h->old });
	return true;
}

static void take_event(void *ctx, const struct heap_process *p, const struct heap_record *r)
{
	struct sink *k = ctx;
	struct drain *dr = k->dr;

	if (++k->n % RELIEF_EVERY == 0)
		recording_relieve(dr->parts.recording);
	if (!image_of(k, p, r->time_ns)) {
		dr->parts.drops->n[DROP_HEAP_PLACE]++;
		return;
	}
	if (recording_full(dr->parts.recording)) {
		drops_limit(dr->parts.drops, r->time_ns);
		return;
	}
	write_packet(k, p, r);
}

void drain_heap(struct drain *dr, struct heap_server *heap, bool last)
{
	struct sink k = { .dr = dr };
	const struct heap_sink sink = { .stack = take_stack, .event = take_event, .ctx = &k };

	heap_server_take(heap, &sink, BATCH, last);
}
