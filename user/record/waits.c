/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Turns wait records into packets. A record describes one interval off the CPU: the thread was
 * blocked, unless it was preempted, and then waited for a CPU. Each part with a weight becomes a
 * packet, whose time is the end of that part.
 *
 * With -T the leaf function of time off the CPU is <SLEEPING> or <STALLED>, as in Sun's er_kernel,
 * and the stack of the wait calls it.
 */
#include "user/record/drain_impl.h"

const enum er_mstate off_states[ER_OFF_STATES] = {
	[ER_OFF_TFAULT] = MS_TFAULT, [ER_OFF_DFAULT] = MS_DFAULT, [ER_OFF_KFAULT] = MS_KFAULT,
	[ER_OFF_LOCK] = MS_USER_LOCK, [ER_OFF_SLEEP] = MS_SLEEP,  [ER_OFF_CPU] = MS_WAIT_CPU,
	[ER_OFF_STOP] = MS_STOPPED,
};

static const char *target_leaf(const struct drain *dr, enum er_off_state state)
{
	if (!dr->parts.targets || dr->parts.program)
		return NULL;
	return state == ER_OFF_CPU ? "<STALLED>" : "<SLEEPING>";
}

/*
 * A traced wait for a lock is also a packet of synchronization data, as gprofng has them. It begins when the
 * thread asks for the lock, and ends when the thread goes on, so it contains the wait for a CPU.
 */
static void put_sync(struct drain *dr, const struct off_time *t, uint32_t stack)
{
	if (!dr->parts.sync || !t->sync_ns)
		return;
	output_packet(dr->parts.recording, t->output, ER_PKT_SYNC,
		      (int64_t[]){ drain_lwp(&t->actor, t->output), t->actor.task->tid, t->cpu, t->sync_end_ns,
				   stack, t->sync_end_ns - t->sync_ns, t->info.object }, NULL);
}

void put_off_time(struct drain *dr, const struct off_time *t)
{
	const char *leaf = target_leaf(dr, t->state);
	char root[64];
	bool joined;
	struct stack_shape shape = { .with_user = t->followed, .leaf = leaf, .time_ns = t->time_ns };
	struct clock_packet packet = {
		.cpu = t->cpu,
		.time_ns = t->time_ns,
		.state = off_states[t->state],
		.seq = t->seq,
		.wait = &t->info,
		.goroutine = t->goroutine,
	};

	if (!t->followed && !t->actor.kthread) {
		route_pseudo_name(&t->actor, root, sizeof(root));
		shape.root = root;
	}
	if (t->actor.recorder && !leaf)
		packet.stack = output_pseudo(dr->parts.recording, t->output, RECORDING);
	else if (t->stack)
		packet.stack = stacks_write(dr->stacks, t->output, t->stack, &shape);
	if (!packet.stack)
		packet.stack = output_pseudo(dr->parts.recording, t->output, leaf ? leaf : t->pseudo);
	put_sync(dr, t, packet.stack);
	route_count_end(dr, &t->actor, t->time_ns, ENDS_WAITS, t->stack, t->weight_ns);
	if (!t->fold || !drain_fold(dr, t->output, &t->actor, t->fold, &packet, t->weight_ns, &joined))
		drain_packet(dr, t->output, &t->actor, &packet, t->weight_ns);
}

static uint32_t disk_flags(const struct er_wait *w)
{
	static const struct {
		uint32_t ring, disk;
	} same[] = {
		{ ER_WAIT_TRACED, WFLAG_TRACED },
		{ ER_WAIT_IO, WFLAG_IO },
		{ ER_WAIT_STACK_EARLY, WFLAG_STACK_EARLY },
	};
	uint32_t flags = 0;

	for (size_t i = 0; i < sizeof(same) / sizeof(same[0]); i++)
		flags |= w->flags & same[i].ring ? same[i].disk : 0;
	return flags;
}

/*
 * Write the stack to the waker's experiment, and create that experiment if the stack shows its
 * program's code. An interrupt has nothing to do with what it interrupted, so without own_doing only
 * its own frames are written: nearly every stack with all frames would be a new one.
 */
static uint32_t waker_stack(struct drain *dr, const struct er_wait *w, bool own_doing)
{
	const struct er_task waker = { .tgid = w->waker_tgid, .tid = w->waker_tid,
				       .start_time = w->waker_start };
	struct actor a = { .task = &waker };
	struct output *own = NULL;

	if (!w->waker_stack || !stacks_has(dr->stacks, w->waker_stack))
		return 0;
	if (w->waker_tgid)
		own = route_output(dr, &a, w->h.time_ns,
				 own_doing && stacks_has_user(dr->stacks, w->waker_stack) &&
				 route_may_make(dr, &a, w->h.time_ns));
	return stacks_write(dr->stacks, own ? own : recording_founder(dr->parts.recording), w->waker_stack,
			    &(struct stack_shape){
				    .with_user = own && own_doing, .time_ns = w->h.time_ns,
				    .nkernel = own_doing ? 0 : reason_interrupt(dr->reasons, w->waker_stack) });
}

/* A wakeup in an interrupt may have been caused by the thread that ran. */
static uint32_t waker_flags(struct drain *dr, const struct er_wait *w)
{
	if (!(w->flags & ER_WAIT_WAKER_IRQ))
		return 0;
	switch (reason_waking(dr->reasons, w->waker_stack)) {
	case WAKING_TIMER:
		return WFLAG_WAKER_IRQ | WFLAG_WAKER_TIMER;
	case WAKING_THREAD:
		return 0;
	default:
		return WFLAG_WAKER_IRQ;
	}
}

/* Fill in what both parts have in common. */
static void fill_common(struct drain *dr, const struct er_wait *w, struct off_time *t)
{
	uint32_t waker = waker_flags(dr, w);

	*t = (struct off_time){
		.actor = route_actor(dr, &w->task, w->flags & ER_WAIT_KTHREAD, w->h.time_ns),
		.stack = w->stack,
		.cpu = w->cpu,
		.seq = w->h.seq,
		.goroutine = w->goroutine,
		.info = {
			.syscall = w->syscall,
			.flags = disk_flags(w) | waker,
			.waker = w->waker_tid,
			.waker_pid = w->waker_tgid,
			.waker_stack = waker_stack(dr, w, !waker),
		},
	};
}

/* A part that was recorded because of its length represents itself alone. */
static void flag_whole(struct off_time *t)
{
	if (points_is_alone(t->weight_ns, t->info.length_ns))
		t->info.flags |= WFLAG_TRACED;
}

static void put_blocked(struct drain *dr, const struct er_wait *w, struct off_time t, bool continues)
{
	t.state = w->state < ER_OFF_STATES ? w->state : ER_OFF_SLEEP;
	t.time_ns = w->h.time_ns - w->runq_ns;
	t.weight_ns = w->blocked_weight;
	if (t.state == ER_OFF_LOCK && w->flags & ER_WAIT_TRACED && w->blocked_ns) {
		t.sync_ns = w->blocked_ns + w->runq_ns;
		t.sync_end_ns = w->h.time_ns;
	}
	t.info.length_ns = w->blocked_ns;
	flag_whole(&t);
	t.info.object = route_data(dr, &t.actor, w->h.time_ns, t.output, w->address);
	t.info.holder = w->holder_tid;
	t.info.holder_pid = w->holder_tid ? w->task.tgid : 0;
	t.info.reason = reason_blocked(dr->reasons, w);
	if (w->flags & ER_WAIT_OPEN_START)
		t.info.flags |= WFLAG_OPEN_START;
	if (continues)
		t.info.flags |= WFLAG_CONTINUED;
	if (w->flags & ER_WAIT_OPEN_END && !w->runq_ns)
		t.info.flags |= WFLAG_OPEN_END;
	put_off_time(dr, &t);
}

static void put_runq(struct drain *dr, const struct er_wait *w, struct off_time t, bool continues)
{
	t.state = ER_OFF_CPU;
	t.time_ns = w->h.time_ns;
	t.weight_ns = w->runq_weight;
	t.info.length_ns = w->runq_ns;
	flag_whole(&t);
	t.info.holder = w->oncpu_tid;
	t.info.holder_pid = w->oncpu_tgid;
	t.info.reason = reason_runq(w);
	if (w->flags & ER_WAIT_OPEN_START && !w->blocked_ns)
		t.info.flags |= WFLAG_OPEN_START;
	if (continues)
		t.info.flags |= WFLAG_CONTINUED;
	if (w->flags & ER_WAIT_OPEN_END)
		t.info.flags |= WFLAG_OPEN_END;
	put_off_time(dr, &t);
}

/*
 * A thread that only waited, from the recording's beginning to its end, is no reason to make an
 * experiment for its process alone, unless it is a target: most processes only wait. A program's pool
 * is small, and without it nobody could see what the thread waits in.
 */
static bool makes_output(const struct drain *dr, const struct er_wait *w)
{
	const uint32_t whole = ER_WAIT_OPEN_START | ER_WAIT_OPEN_END;

	return dr->parts.targets || dr->parts.follow->mode == FOLLOW_SHARED || (w->flags & whole) != whole;
}

/* Write at least one of the two parts, so that each recorded number is in the experiment. */
static void put_parts(struct drain *dr, const struct er_wait *w, const struct off_time *t,
		      unsigned continues)
{
	if (w->blocked_weight || !w->runq_weight)
		put_blocked(dr, w, *t, continues & CUT_BLOCKED);
	if (w->runq_weight)
		put_runq(dr, w, *t, continues & CUT_RUNQ);
}

bool write_wait(struct drain *dr, const void *record, bool last_chance)
{
	struct er_wait w = *(const struct er_wait *)record;
	unsigned continues;
	struct off_time t;
	struct output *own;

	if (recording_full(dr->parts.recording)) {
		drops_limit(dr->parts.drops, w.h.time_ns);
		return true;
	}
	if (!last_chance && ((w.stack && !stacks_has(dr->stacks, w.stack)) ||
			     (w.waker_stack && !stacks_has(dr->stacks, w.waker_stack))))
		return false;
	if (w.stack && !stacks_has(dr->stacks, w.stack))
		dr->parts.drops->n[DROP_STACK]++;
	dr->nwritten[ER_KIND_WAIT]++;
	continues = dr->cuts ? cuts_wait(dr->cuts, &w) : 0;
	fill_common(dr, &w, &t);
	own = route_output(dr, &t.actor, w.h.time_ns, makes_output(dr, &w));
	if (own && stacks_in_no_file(dr->stacks, w.stack))
		own = route_own(dr, &t.actor, w.h.time_ns);
	t.followed = own;
	t.output = own ? own : route_rest(dr, &t.actor, false);
	t.pseudo = w.stack ? "<Stack-lost>" : "<Stack-not-taken>";
	put_parts(dr, &w, &t, continues);
	return true;
}
