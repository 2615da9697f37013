/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "user/record/thread_line.h"

#include <inttypes.h>

#include "user/record/drain_impl.h"

void thread_line_number(struct buf *b, const char *name, uint64_t v)
{
	buf_printf(b, " %s=\"%" PRIu64 "\"", name, v);
}

/* Most threads do little. */
void thread_line_attr(struct buf *b, const char *name, uint64_t v)
{
	if (v)
		thread_line_number(b, name, v);
}

static void put_states(struct buf *b, const struct er_total *t)
{
	thread_line_attr(b, "run", t->run_ns);
	thread_line_attr(b, "user", t->user_ns);
	thread_line_attr(b, "system", t->system_ns);
	for (int i = 0; i < ER_OFF_STATES; i++) {
		const struct mstate_desc *m = &mstate_descs[off_states[i]];

		thread_line_attr(b, m->attr, t->off_ns[i]);
		thread_line_attr(b, m->count_attr, t->off_n[i]);
	}
	thread_line_attr(b, "stolen", t->stolen_ns);
}

static void put_counts(struct buf *b, const struct er_total *t)
{
	thread_line_attr(b, "waits", t->nwaits);
	thread_line_attr(b, "preempted", t->npreempted);
	thread_line_attr(b, "moves", t->nmoved);
	thread_line_attr(b, "moved", t->moved_ns);
	thread_line_attr(b, "minflt", t->minflt);
	thread_line_attr(b, "majflt", t->majflt);
	thread_line_attr(b, "syscalls", t->ncalls);
	thread_line_attr(b, "rchar", t->rchar);
	thread_line_attr(b, "wchar", t->wchar);
	thread_line_attr(b, "read_bytes", t->read_bytes);
	thread_line_attr(b, "write_bytes", t->write_bytes);
}

void thread_line_sums(struct buf *b, const struct er_total *t)
{
	put_states(b, t);
	put_counts(b, t);
}
