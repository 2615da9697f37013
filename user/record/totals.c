/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Turns totals into packets. BPF counts all of a thread's time by state, but recorded waits
 * represent only a part of it. The remainder is written here as one packet per state, so that the
 * packets of a thread add up to BPF's counters. The counters become a line of threads.xml.gz, or are
 * folded with those of other short-lived threads.
 */
#include <inttypes.h>
#include <string.h>

#include "analysis/experiment/xml.h"
#include "user/record/cgroups.h"
#include "user/record/drain_impl.h"
#include "user/record/processes.h"
#include "user/record/thread_line.h"

static struct actor actor_of(struct drain *dr, const struct er_total *t)
{
	return route_actor(dr, &t->task, t->flags & ER_TOTAL_KTHREAD, t->end_ns);
}

/* Where remainders of a thread go. */
struct rest_to {
	struct output *own; /* NULL: it has none */
	uint32_t fold;      /* its number; 0: the thread was not folded */
};

/* A packet of a total in `state`; the caller fills in the rest. */
static struct off_time off_time_of(struct drain *dr, const struct er_total *t,
				   const struct rest_to *to, enum er_off_state state, uint64_t ns)
{
	struct actor a = actor_of(dr, t);

	return (struct off_time){
		.output = to->own ? to->own : route_rest(dr, &a, false),
		.followed = to->own,
		.fold = to->fold,
		.actor = a,
		.state = state,
		.time_ns = t->end_ns,
		.weight_ns = ns,
		.cpu = t->cpu,
		.seq = t->h.seq,
		.info = { .syscall = -1, .flags = WFLAG_REST, .length_ns = ns },
	};
}

/* Time in which the thread had a CPU that the kernel did not charge to it. */
static void put_stolen(struct drain *dr, const struct er_total *t, const struct rest_to *to,
		       uint64_t ns)
{
	struct off_time off = off_time_of(dr, t, to, ER_OFF_CPU, ns);

	off.pseudo = "<Stolen>";
	off.info.reason = t->flags & ER_TOTAL_IRQ_APART ? REASON_STOLEN_IRQ : REASON_STOLEN;
	put_off_time(dr, &off);
}

static void put_rest(struct drain *dr, const struct er_total *t, const struct rest_to *to,
		     enum er_off_state state, uint64_t ns)
{
	struct off_time off = off_time_of(dr, t, to, state, ns);

	off.pseudo = mstate_descs[off_states[state]].unsampled;
	if (stacks_has(dr->stacks, t->rest_stack[state]))
		off.stack = t->rest_stack[state];
	off.info.reason = reason_rest(dr->reasons, state, off.stack, off.actor.kthread);
	put_off_time(dr, &off);
}

static uint64_t since_start(const struct drain *dr, uint64_t t)
{
	uint64_t start = recording_start(dr->parts.recording);

	return t > start ? t - start : 0;
}

static void put_flags(struct buf *b, uint32_t flags)
{
	thread_line_attr(b, "born", !!(flags & ER_TOTAL_BORN));
	thread_line_attr(b, "ended", !!(flags & ER_TOTAL_ENDED));
	thread_line_attr(b, "again", !!(flags & ER_TOTAL_AGAIN));
	thread_line_attr(b, "split", !!(flags & ER_TOTAL_SPLIT));
}

static void put_line(struct drain *dr, const struct er_total *t, const char *comm,
		     const char *cgroup, struct output *own)
{
	struct buf b = { 0 };

	buf_puts(&b, "<thread");
	thread_line_number(&b, "pid", t->flags & ER_TOTAL_KTHREAD ? 0 : t->task.tgid);
	thread_line_number(&b, "tid", t->task.tid);
	xml_attr(&b, "comm", comm);
	thread_line_attr(&b, "begin", since_start(dr, t->begin_ns));
	thread_line_attr(&b, "end", since_start(dr, t->end_ns));
	thread_line_sums(&b, t);
	put_flags(&b, t->flags);
	if (cgroup)
		xml_attr(&b, "cgroup", cgroup);
	if (own)
		xml_attr(&b, "experiment", expwriter_name(output_writer(own)));
	buf_puts(&b, "/>");
	recording_thread(dr->parts.recording, b.data);
	buf_free(&b);
}

/* Write the thread's time, or fold it: returns the number of the fold. */
static uint32_t put_thread(struct drain *dr, const struct er_total *t, const struct actor *a,
		       struct output *own)
{
	const char *cgroup = cgroups_path(dr->cgroups, t->cgroup);
	char comm[sizeof(t->task.comm) + 1] = "";
	uint32_t fold;

	memcpy(comm, a->comm, strnlen(a->comm, sizeof(t->task.comm)));
	fold = dr->folds ? folds_take(dr->folds, t, comm, cgroup) : 0;
	if (!fold)
		put_line(dr, t, comm, cgroup, own);
	return fold;
}

/*
 * The main thread's end is the process's, unless other threads go on without it. If one of them
 * executes a program it takes the main thread's number, and has an end of its own.
 */
static void put_exit(struct drain *dr, const struct er_total *t)
{
	const char *cgroup = cgroups_path(dr->cgroups, t->cgroup);
	struct buf b = { 0 };

	buf_puts(&b, "<exit");
	thread_line_number(&b, "pid", t->task.tgid);
	thread_line_number(&b, "start", process_start(t->task.start_time));
	thread_line_number(&b, "at", since_start(dr, t->end_ns));
	thread_line_number(&b, "status", t->exit_status);
	if (cgroup)
		xml_attr(&b, "cgroup", cgroup);
	buf_puts(&b, "/>");
	recording_process_exit(dr->parts.recording, b.data);
	buf_free(&b);
}

static void put_rests(struct drain *dr, const struct er_total *t, const struct rest_to *to,
		      enum er_off_state state)
{
	uint64_t rest = t->rest_ns[state], stolen = 0;

	if (!rest)
		return;
	if (recording_full(dr->parts.recording)) {
		drops_limit(dr->parts.drops, t->h.time_ns);
		return;
	}
	/* No wait record contains stolen time, so all of it is in the remainder. */
	if (state == ER_OFF_CPU)
		stolen = t->stolen_ns < rest ? t->stolen_ns : rest;
	if (rest > stolen)
		put_rest(dr, t, to, state, rest - stolen);
	if (stolen)
		put_stolen(dr, t, to, stolen);
}

bool write_total(struct drain *dr, const void *record, bool last_chance)
{
	struct er_total t = *(const struct er_total *)record;
	struct actor a = actor_of(dr, &t);
	struct output *own;
	struct rest_to to;

	for (int i = 0; i < ER_OFF_STATES && !last_chance; i++) {
		if (t.rest_ns[i] && t.rest_stack[i] && !stacks_has(dr->stacks, t.rest_stack[i]))
			return false;
	}
	if (dr->cuts && (cuts_must_defer(dr->cuts, &t.task) ||
			 (!last_chance && cuts_was_cut(dr->cuts, &t.task))))
		return false;
	if (dr->cuts)
		cuts_total(dr->cuts, &t);
	snapshots_total(dr->snapshots, record, &t);
	/*
	 * A process without a packet gets no directory for a remainder, unless it is a target or has
	 * executed another program since its last packet: else that program seems to go on.
	 */
	own = route_output(dr, &a, t.end_ns, dr->parts.targets);
	to = (struct rest_to){ own, put_thread(dr, &t, &a, own) };
	if (t.task.tid == t.task.tgid && (own || route_list(dr, &a, &t)) && t.flags & ER_TOTAL_ENDED)
		put_exit(dr, &t);
	for (int i = 0; i < ER_OFF_STATES; i++)
		put_rests(dr, &t, &to, i);
	return true;
}
