/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The text of a thread's kind, and a memo of the kind asked for last. */
#include <inttypes.h>
#include <string.h>

#include "analysis/base/buf.h"
#include "analysis/model/names.h"

bool kind_memo_holds(const struct kind_memo *m, const struct experiment *e, int64_t pid, int64_t tid, int64_t time_ns)
{
	return m->e == e && m->tid == tid && m->pid == pid && m->from <= time_ns && time_ns < m->until;
}

void kind_memo_ask(struct kind_memo *m, const struct names *n, const struct experiment *e, int64_t pid, int64_t tid,
		   int64_t time_ns)
{
	*m = (struct kind_memo){ .e = e, .pid = pid, .tid = tid, .from = time_ns,
				 .until = names_next_change(n, e, pid, tid, time_ns),
				 .kind = names_kind(n, e, pid, tid, time_ns) };
}

void names_put_kind(const struct thread_kind *k, struct buf *b)
{
	const char *comm = k->comm, *process = k->process;

	if (!comm && !process)
		buf_printf(b, "TID %" PRId64, k->tid);
	else if (!comm)
		buf_puts(b, process);
	else if (!process || !strncmp(comm, process, strlen(comm)))
		buf_puts(b, process ? process : comm);
	else
		buf_printf(b, "%s (%s)", process, comm);
}
