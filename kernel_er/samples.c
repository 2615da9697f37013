/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Clock samples and residuals: times on a CPU. */
#include <string.h>

#include "kernel_er/drain_impl.h"

/* A thread on an idle CPU is none: it has no process, as a kernel thread. */
static struct actor actor_of(const struct er_clock *c)
{
	return (struct actor){
		.tgid = c->tgid,
		.tid = c->tid,
		.start_time = c->start_time,
		.kthread = c->flags & (ER_CLOCK_KTHREAD | ER_CLOCK_IDLE),
		.comm = c->comm,
	};
}

/* The function that stands for a sample that has no stack to show. */
static uint64_t pseudo_stack(struct drain *dr, struct page *p, const struct er_clock *c)
{
	struct actor a = actor_of(c);
	char name[64];

	if (c->flags & ER_CLOCK_IDLE)
		return page_pseudo(dr->parts.book, p, "<IDLE>");
	if (c->flags & ER_CLOCK_UNSAMPLED)
		return page_pseudo(dr->parts.book, p, "<Unsampled-CPU>");
	owner_pseudo(&a, name, sizeof(name));
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
	struct actor a = actor_of(c);
	bool user = c->flags & ER_CLOCK_USER || (!a.kthread && c->flags & ER_CLOCK_UNSAMPLED);
	struct clock_packet packet = {
		.cpu = c->cpu,
		.time_ns = c->h.time_ns,
		.stack = uid,
		.state = user ? MS_USER : followed ? MS_SYSTEM : MS_KERNEL_CPU,
		.seq = c->h.seq,
	};

	dr->nsamples++;
	if (!followed)
		owner_note(dr, &a);
	drain_packet(dr, p, followed, &a, &packet, c->weight_ns);
}

bool place_sample(struct drain *dr, const struct er_clock *c, bool last_chance)
{
	struct actor a = actor_of(c);
	struct page *own, *p;
	uint64_t uid;

	/* Asked first: beyond the limit no stack is written, nor an experiment made, either. */
	if (book_full(dr->parts.book)) {
		dr->parts.drops->n[DROP_LIMIT]++;
		return true;
	}
	/* What never had a sample gets no directory for a residual. */
	own = owner_page(dr, &a, c->h.time_ns, !(c->flags & ER_CLOCK_UNSAMPLED));
	p = own ? own : book_founder(dr->parts.book);
	if (is_pseudo(c, own))
		uid = pseudo_stack(dr, p, c);
	else
		uid = stacks_write(dr->stacks, p, c->stack,
				   &(struct stack_shape){ .with_user = own });
	if (!uid && !last_chance)
		return false;
	if (!uid) {
		dr->parts.drops->n[DROP_STACK]++;
		uid = page_pseudo(dr->parts.book, p, "<Stack-lost>");
	}
	write_sample(dr, p, own, c, uid);
	return true;
}
