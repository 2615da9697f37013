/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "user/record/folds.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/alloc.h"
#include "analysis/base/buf.h"
#include "analysis/base/map.h"
#include "analysis/base/vec.h"
#include "analysis/experiment/xml.h"
#include "bpf/er_event.h"
#include "user/record/thread_line.h"

enum {
	MAX_ROWS = 4096,    /* names; beyond them all are forgotten, and 1.7 MB are used again */
	MAX_MEMBERS = 512,  /* of one element: at most 32 KB */
	MAX_PENDING = 1 << 14, /* members of all rows: 0.5 MB */
	RECENT = 1024,      /* a power of two */
};

struct member {
	uint64_t begin_ns, end_ns;
	uint32_t pid, tid;
};

/* Threads with the same name and cgroup. */
struct row {
	char *comm, *cgroup;              /* cgroup NULL: unknown */
	uint32_t number;                  /* from FOLDS_FIRST; never given twice */
	unsigned kept;                    /* threads that were not folded */
	struct er_total sum;              /* of the members */
	uint64_t lived_ns;
	unsigned nmovers;                 /* members that the scheduler moved */
	VEC(struct member) members;
};

struct folds {
	struct recording *recording;
	struct strtab keys; /* ids index `rows` */
	VEC(struct row) rows;
	size_t npending;
	uint32_t nrows; /* forgotten ones, too */
	struct recent {
		uint64_t start_time;
		uint32_t pid, tid, number;
	} recent[RECENT]; /* folded threads, by TID */
};

struct folds *folds_new(struct recording *recording)
{
	struct folds *f = xcalloc(1, sizeof(*f));

	f->recording = recording;
	return f;
}

static void forget(struct folds *f)
{
	vec_for_each(r, &f->rows) {
		free(r->comm);
		free(r->cgroup);
		vec_free(&r->members);
	}
	vec_free(&f->rows);
	strtab_free(&f->keys);
}

void folds_free(struct folds *f)
{
	if (!f)
		return;
	forget(f);
	free(f);
}

/* --- elements --- */

static uint64_t since_start(const struct folds *f, uint64_t t)
{
	uint64_t start = recording_start(f->recording);

	return t > start ? t - start : 0;
}

/* "PID/TID:BEGIN+LENGTH"; most threads are the only one of their process. */
static void put_member(struct buf *b, const struct member *m, uint64_t begin_ns)
{
	if (m->pid != m->tid)
		buf_printf(b, "%" PRIu32 "/", m->pid);
	buf_printf(b, "%" PRIu32 ":%" PRIu64 "+%" PRIu64, m->tid, m->begin_ns - begin_ns,
		   m->end_ns - m->begin_ns);
}

static void write_row(struct folds *f, struct row *r)
{
	struct buf b = { 0 };

	buf_printf(&b, "<threads count=\"%zu\"", r->members.len);
	thread_line_number(&b, "sums", r->number);
	xml_attr(&b, "comm", r->comm);
	if (r->cgroup)
		xml_attr(&b, "cgroup", r->cgroup);
	thread_line_attr(&b, "begin", since_start(f, r->sum.begin_ns));
	thread_line_attr(&b, "end", since_start(f, r->sum.end_ns));
	thread_line_attr(&b, "lived", r->lived_ns);
	thread_line_sums(&b, &r->sum);
	thread_line_attr(&b, "movers", r->nmovers);
	thread_line_attr(&b, "split", !!(r->sum.flags & ER_TOTAL_SPLIT));
	buf_puts(&b, " members=\"");
	vec_for_each(m, &r->members) {
		if (m != r->members.data)
			buf_puts(&b, " ");
		put_member(&b, m, r->sum.begin_ns);
	}
	buf_puts(&b, "\"/>");
	recording_thread(f->recording, b.data);
	buf_free(&b);
	f->npending -= r->members.len;
	vec_free(&r->members);
	r->lived_ns = r->nmovers = 0;
}

void folds_write(struct folds *f, uint64_t before_ns)
{
	vec_for_each(r, &f->rows) {
		if (r->members.len && r->members.data[0].end_ns < before_ns)
			write_row(f, r);
	}
}

/* --- threads --- */

static struct row *row_of(struct folds *f, const char *comm, const char *cgroup, bool split)
{
	struct buf key = { 0 };
	uint32_t id;

	if (f->rows.len == MAX_ROWS) {
		folds_write(f, UINT64_MAX);
		forget(f);
	}
	/* No name contains the quotes that end the values: they are escaped. */
	xml_attr(&key, "comm", comm);
	xml_attr(&key, "cgroup", cgroup ? cgroup : "");
	thread_line_number(&key, "split", split);
	id = strtab_id(&f->keys, key.data);
	buf_free(&key);
	if (id == f->rows.len)
		vec_push(&f->rows, (struct row){ .comm = xstrdup(comm),
						 .cgroup = cgroup ? xstrdup(cgroup) : NULL,
						 .number = FOLDS_FIRST + f->nrows++ });
	return &f->rows.data[id];
}

static void add_counts(struct er_total *sum, const struct er_total *t)
{
	sum->nwaits += t->nwaits;
	sum->npreempted += t->npreempted;
	sum->minflt += t->minflt;
	sum->majflt += t->majflt;
	sum->ncalls += t->ncalls;
	sum->rchar += t->rchar;
	sum->wchar += t->wchar;
	sum->read_bytes += t->read_bytes;
	sum->write_bytes += t->write_bytes;
	sum->nmoved += t->nmoved;
	sum->moved_ns += t->moved_ns;
}

static void add_times(struct er_total *sum, const struct er_total *t)
{
	if (t->begin_ns < sum->begin_ns)
		sum->begin_ns = t->begin_ns;
	if (t->end_ns > sum->end_ns)
		sum->end_ns = t->end_ns;
	sum->run_ns += t->run_ns;
	sum->user_ns += t->user_ns;
	sum->system_ns += t->system_ns;
	sum->stolen_ns += t->stolen_ns;
	for (int i = 0; i < ER_OFF_STATES; i++) {
		sum->off_ns[i] += t->off_ns[i];
		sum->off_n[i] += t->off_n[i];
	}
}

static void add(struct folds *f, struct row *r, const struct er_total *t)
{
	if (!r->members.len)
		r->sum = (struct er_total){ .begin_ns = t->begin_ns, .end_ns = t->end_ns,
					    .flags = t->flags };
	add_times(&r->sum, t);
	add_counts(&r->sum, t);
	r->lived_ns += t->end_ns - t->begin_ns;
	r->nmovers += t->nmoved != 0;
	vec_push(&r->members, (struct member){ t->begin_ns, t->end_ns, t->task.tgid, t->task.tid });
	f->npending++;
}

static bool is_short_lived(const struct er_total *t)
{
	const uint32_t whole = ER_TOTAL_BORN | ER_TOTAL_ENDED;

	return (t->flags & whole) == whole && !(t->flags & (ER_TOTAL_KTHREAD | ER_TOTAL_AGAIN)) &&
	       t->begin_ns <= t->end_ns && t->end_ns - t->begin_ns < FOLDS_SHORT_NS;
}

uint32_t folds_recent(const struct folds *f, const struct er_task *task)
{
	const struct recent *r = &f->recent[task->tid % RECENT];

	return r->start_time == task->start_time && r->pid == task->tgid && r->tid == task->tid ?
	       r->number : 0;
}

uint32_t folds_take(struct folds *f, const struct er_total *t, const char *comm, const char *cgroup)
{
	struct row *r;
	uint32_t number;

	if (!is_short_lived(t))
		return 0;
	r = row_of(f, comm, cgroup, t->flags & ER_TOTAL_SPLIT);
	if (r->kept < FOLDS_KEEP) {
		r->kept++;
		return 0;
	}
	number = r->number;
	f->recent[t->task.tid % RECENT] = (struct recent){ t->task.start_time, t->task.tgid,
							   t->task.tid, number };
	add(f, r, t);
	if (r->members.len >= MAX_MEMBERS)
		write_row(f, r);
	else if (f->npending >= MAX_PENDING)
		folds_write(f, UINT64_MAX);
	return number;
}
