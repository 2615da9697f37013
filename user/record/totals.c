/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Turns totals into packets. BPF counts all of a thread's time by state, but recorded waits
 * represent only a part of it. The remainder is written here as one packet per state, so that the
 * packets of a thread add up to BPF's counters. The counters become a line of threads.xml.
 */
#include <inttypes.h>
#include <string.h>

#include "analysis/experiment/xml.h"
#include "user/record/cgroups.h"
#include "user/record/drain_impl.h"

static struct actor actor_of(struct drain *dr, const struct er_total *t)
{
	return route_actor(dr, &t->task, t->flags & ER_TOTAL_KTHREAD, t->end_ns);
}

/* A packet of a total in `state`; the caller fills in the rest. */
static struct off_time off_time_of(struct drain *dr, const struct er_total *t, struct output *own,
				   enum er_off_state state, uint64_t ns)
{
	return (struct off_time){
		.output = off_output(dr, own),
		.followed = own,
		.actor = actor_of(dr, t),
		.state = state,
		.time_ns = t->end_ns,
		.weight_ns = ns,
		.cpu = t->cpu,
		.seq = t->h.seq,
		.info = { .syscall = -1, .flags = WFLAG_REST, .length_ns = ns },
	};
}

/* Time in which the thread had a CPU that the kernel did not charge to it. */
static void put_stolen(struct drain *dr, const struct er_total *t, struct output *own, uint64_t ns)
{
	struct off_time off = off_time_of(dr, t, own, ER_OFF_CPU, ns);

	off.pseudo = "<Stolen>";
	off.info.reason = t->flags & ER_TOTAL_IRQ_APART ? REASON_STOLEN_IRQ : REASON_STOLEN;
	put_off_time(dr, &off);
}

static void put_rest(struct drain *dr, const struct er_total *t, struct output *own,
		     enum er_off_state state, uint64_t ns)
{
	struct off_time off = off_time_of(dr, t, own, state, ns);

	off.pseudo = mstate_descs[off_states[state]].unsampled;
	if (stacks_has(dr->stacks, t->rest_stack[state]))
		off.stack = t->rest_stack[state];
	off.info.reason = reason_rest(dr->reasons, state, off.stack, off.actor.kthread);
	put_off_time(dr, &off);
}

static void number(struct buf *b, const char *name, uint64_t v)
{
	buf_printf(b, " %s=\"%" PRIu64 "\"", name, v);
}

/* Zeros are left out: most threads do little. */
static void attr(struct buf *b, const char *name, uint64_t v)
{
	if (v)
		number(b, name, v);
}

static void put_states(struct buf *b, const struct er_total *t)
{
	attr(b, "run", t->run_ns);
	attr(b, "user", t->user_ns);
	attr(b, "system", t->system_ns);
	for (int i = 0; i < ER_OFF_STATES; i++) {
		const struct mstate_desc *m = &mstate_descs[off_states[i]];

		attr(b, m->attr, t->off_ns[i]);
		attr(b, m->count_attr, t->off_n[i]);
	}
	attr(b, "stolen", t->stolen_ns);
}

static void put_counts(struct buf *b, const struct er_total *t)
{
	attr(b, "waits", t->nwaits);
	attr(b, "preempted", t->npreempted);
	attr(b, "moves", t->nmoved);
	attr(b, "moved", t->moved_ns);
	attr(b, "minflt", t->minflt);
	attr(b, "majflt", t->majflt);
	attr(b, "syscalls", t->ncalls);
	attr(b, "rchar", t->rchar);
	attr(b, "wchar", t->wchar);
	attr(b, "read_bytes", t->read_bytes);
	attr(b, "write_bytes", t->write_bytes);
	attr(b, "born", !!(t->flags & ER_TOTAL_BORN));
	attr(b, "ended", !!(t->flags & ER_TOTAL_ENDED));
	attr(b, "again", !!(t->flags & ER_TOTAL_AGAIN));
	attr(b, "split", !!(t->flags & ER_TOTAL_SPLIT));
}

static uint64_t since_start(const struct drain *dr, uint64_t t)
{
	uint64_t start = recording_start(dr->parts.recording);

	return t > start ? t - start : 0;
}

static void put_line(struct drain *dr, const struct er_total *t, const struct actor *a,
		     struct output *own)
{
	const char *cgroup = cgroups_path(dr->cgroups, t->cgroup);
	char comm[sizeof(t->task.comm) + 1] = "";
	struct buf b = { 0 };

	memcpy(comm, a->comm, strnlen(a->comm, sizeof(t->task.comm)));
	buf_puts(&b, "<thread");
	number(&b, "pid", t->flags & ER_TOTAL_KTHREAD ? 0 : t->task.tgid);
	number(&b, "tid", t->task.tid);
	xml_attr(&b, "comm", comm);
	attr(&b, "begin", since_start(dr, t->begin_ns));
	attr(&b, "end", since_start(dr, t->end_ns));
	put_states(&b, t);
	put_counts(&b, t);
	if (cgroup)
		xml_attr(&b, "cgroup", cgroup);
	if (own)
		xml_attr(&b, "experiment", expwriter_name(output_writer(own)));
	buf_puts(&b, "/>");
	recording_thread(dr->parts.recording, b.data);
	buf_free(&b);
}

/* The main thread's end is the process's, unless other threads go on without it. */
static void put_exit(struct drain *dr, const struct er_total *t)
{
	const char *cgroup = cgroups_path(dr->cgroups, t->cgroup);
	struct buf b = { 0 };

	buf_puts(&b, "<exit");
	number(&b, "pid", t->task.tgid);
	number(&b, "at", since_start(dr, t->end_ns));
	number(&b, "status", t->exit_status);
	if (cgroup)
		xml_attr(&b, "cgroup", cgroup);
	buf_puts(&b, "/>");
	recording_process_exit(dr->parts.recording, b.data);
	buf_free(&b);
}

static void put_rests(struct drain *dr, const struct er_total *t, struct output *own,
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
		put_rest(dr, t, own, state, rest - stolen);
	if (stolen)
		put_stolen(dr, t, own, stolen);
}

bool write_total(struct drain *dr, const void *record, bool last_chance)
{
	struct er_total t = *(const struct er_total *)record;
	struct actor a = actor_of(dr, &t);
	struct output *own;

	for (int i = 0; i < ER_OFF_STATES && !last_chance; i++) {
		if (t.rest_ns[i] && t.rest_stack[i] && !stacks_has(dr->stacks, t.rest_stack[i]))
			return false;
	}
	if (dr->cuts && cuts_must_defer(dr->cuts, &t.task))
		return false;
	if (dr->cuts)
		cuts_total(dr->cuts, &t);
	/*
	 * A process without a packet gets no directory for a remainder, unless it is a target or has
	 * executed another program since its last packet: else that program seems to go on.
	 */
	own = route_output(dr, &a, t.end_ns, dr->parts.targets);
	put_line(dr, &t, &a, own);
	if (own && t.flags & ER_TOTAL_ENDED && t.task.tid == t.task.tgid)
		put_exit(dr, &t);
	for (int i = 0; i < ER_OFF_STATES; i++)
		put_rests(dr, &t, own, i);
	return true;
}
