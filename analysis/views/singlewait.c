/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/views/singlewait.h"

#include "analysis/base/buf.h"
#include "analysis/metrics/hit.h"
#include "analysis/views/table.h"

static const char *end_of(const struct hit *h)
{
	if (hit_wait_flags(h) & WFLAG_OPEN_END)
		return "not over at the end";
	return hit_state(h) == MS_WAIT_CPU || wait_has_waker(h) ? NULL : wait_interrupt_name(h);
}

struct single_wait single_wait_of(const struct hit *h)
{
	bool for_cpu = hit_state(h) == MS_WAIT_CPU;

	return (struct single_wait){
		.length_ns = hit_wait_length(h), .end_ns = hit_time(h), .e = h->e,
		.pid = hit_pid(h), .tid = hit_thread(h), .reason = wait_reason_name(h),
		.end = end_of(h), .early = hit_wait_flags(h) & WFLAG_OPEN_START,
		.stack = h->stack, .state = hit_state(h),
		.other_pid = for_cpu ? hit_holder_pid(h) : hit_waker_pid(h),
		.other = for_cpu ? hit_holder(h) : hit_waker(h),
		.waker_stack = wait_has_waker(h) ? hit_waker_stack(h) : session_no_stack(h->session),
	};
}

static const char *path_text(struct wait_report *w, uint32_t stack)
{
	return wait_path_brief(w, wait_path(&w->paths, stack));
}

static const char *keep(struct table *t, struct buf *b)
{
	const char *text = arena_strdup(&t->arena, b->data ? b->data : "");

	buf_free(b);
	return text;
}

const char *single_wait_thread(struct wait_report *w, const struct single_wait *lw)
{
	struct buf b = { 0 };

	names_put_thread(w->names, lw->e, lw->pid, 0, lw->tid, &b);
	return keep(w->t, &b);
}

/* Append the other thread's name and `then`, if there is another thread. */
static void put_other(struct wait_report *w, const struct single_wait *lw, struct buf *b,
		      const char *then)
{
	if (!lw->other)
		return;
	names_put_thread(w->names, lw->e, lw->other_pid, 0, lw->other, b);
	buf_puts(b, then);
}

const char *single_wait_where(struct wait_report *w, const struct single_wait *lw)
{
	struct buf b = { 0 };

	buf_printf(&b, "%s; %s", path_text(w, lw->stack), lw->early ? "began before; " : "");
	if (lw->end) {
		buf_printf(&b, "%s%s", *lw->end == '<' ? "ended by " : "", lw->end);
	} else if (lw->state == MS_WAIT_CPU) {
		buf_puts(&b, lw->other ? "" : "the CPU was idle");
		put_other(w, lw, &b, " had the CPU");
	} else {
		buf_puts(&b, "ended by ");
		put_other(w, lw, &b, ": ");
		buf_puts(&b, path_text(w, lw->waker_stack));
	}
	return keep(w->t, &b);
}
