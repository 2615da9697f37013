/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Turns counts of locks (-s all) into packets. They do not come from BPF: a library in the processes of
 * the load counts (user/preload/lock_calls.c). A packet has the times that a thread took a lock in about a
 * second, and its stack is the caller alone. Its time is the beginning of that second: the process still
 * ran the program that counted then.
 */
#include <string.h>

#include "analysis/experiment/expwriter.h"
#include "user/record/drain_impl.h"
#include "user/record/heap_server.h"
#include "user/space/space.h"

struct sink {
	struct drain *dr;
	bool paused;
};

static uint32_t caller_of(struct drain *dr, const struct heap_process *p, const struct heap_lock *l,
			  const struct image *im, uint64_t start_time, struct output *output)
{
	struct heap_stack s = { .id = heap_stack_id(p, l->caller), .time_ns = l->began_ns, .start_time = start_time,
				.pcs = &l->caller, .n = 1, .end = ER_END_DEPTH };

	heap_stack_keep(dr->stacks, im, &s);
	return stacks_write(dr->stacks, output, s.id,
			    &(struct stack_shape){ .with_user = true, .time_ns = l->began_ns });
}

static void take_lock(void *ctx, const struct heap_process *p, const struct heap_lock *l)
{
	const struct sink *k = ctx;
	struct drain *dr = k->dr;
	struct er_task task = { .tgid = p->pid, .tid = l->tid };
	uint64_t start_time = 0;
	const struct image *im;
	struct output *output;
	struct actor actor;

	if (k->paused)
		return;
	im = procmap_image_at(dr->procmap, p->pid, l->began_ns, &start_time);
	if (recording_full(dr->parts.recording)) {
		drops_limit(dr->parts.drops, l->began_ns);
		return;
	}
	task.start_time = start_time;
	memcpy(task.comm, l->comm, sizeof(task.comm));
	actor = route_actor(dr, &task, false, l->began_ns);
	output = im ? route_output(dr, &actor, l->began_ns, true) : NULL;
	if (!output)
		return;
	thread_names_note(dr->names, &task, actor.comm, false, l->began_ns);
	output_packet(dr->parts.recording, output, ER_PKT_LOCKS,
		      (int64_t[]){ drain_lwp(&actor, output), l->tid, 0, l->began_ns,
				   caller_of(dr, p, l, im, start_time, output), l->kind,
				   route_data(dr, &actor, l->began_ns, output, l->object), l->n }, NULL);
}

void drain_locks(struct drain *dr, struct heap_server *locks, bool paused, bool last)
{
	struct sink k = { .dr = dr, .paused = paused };

	heap_server_take(locks, &(struct heap_sink){ .lock = take_lock, .ctx = &k }, 0, last);
}
