/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/model/folded.h"

#include <inttypes.h>
#include <stdlib.h>

#include "analysis/base/alloc.h"
#include "analysis/base/buf.h"
#include "analysis/base/wrap.h"
#include "analysis/experiment/exp_threads.h"
#include "analysis/experiment/experiment.h"

/*
 * A packet's time may lie outside of its thread's life by the difference of two clock readings. The
 * kernel gives a TID to another thread much later.
 */
enum { SLACK_NS = 1000000 };

enum { ANY_PROCESS = -1 };

#define ALWAYS_NS (INT64_MAX / 2)

static uint64_t key_of(const struct experiment *founder, int64_t tid)
{
	return (uint64_t)founder->id << 32 | (uint32_t)tid;
}

void folded_add(struct folded_threads *f, const struct experiment *e)
{
	int64_t offset = experiment_offset_ns(e);

	if (!e->folds.len)
		return;
	vec_push(&f->founders, e);
	vec_for_each(th, &e->threads) {
		if (th->fold)
			vec_push(&f->all, (struct folded){ .key = key_of(e, th->tid), .pid = th->pid,
							   .begin_ns = wrap_plus(th->begin_ns, offset),
							   .end_ns = wrap_plus(th->end_ns, offset),
							   .fold = th->fold });
	}
	vec_for_each(n, &e->fold_numbers)
		vec_push(&f->all, (struct folded){ .key = key_of(e, n->tid), .pid = ANY_PROCESS,
						   .begin_ns = -ALWAYS_NS, .end_ns = ALWAYS_NS,
						   .fold = n->fold });
}

static int by_key_and_time(const void *pa, const void *pb)
{
	const struct folded *a = pa, *b = pb;

	if (a->key != b->key)
		return a->key < b->key ? -1 : 1;
	return a->begin_ns < b->begin_ns ? -1 : a->begin_ns > b->begin_ns;
}

/* --- segments --- */

/* The number of a fold's name in its recording; `cgroup` is a part of the name, or NULL. */
static uint32_t name_number(struct strtab *names, const struct experiment *e, const char *comm,
			    const char *cgroup)
{
	struct buf b = { 0 };
	uint32_t id;

	buf_printf(&b, "%u %s", e->recording->id, comm);
	if (cgroup)
		buf_printf(&b, "\n%s", cgroup);
	id = strtab_id(names, b.data);
	buf_free(&b);
	return id;
}

static struct exp_fold *add_part(struct folded_threads *f, const struct exp_fold *part, uint32_t number)
{
	struct exp_fold *whole;

	while (f->wholes.len <= number)
		vec_push(&f->wholes, xcalloc(1, sizeof(*whole)));
	whole = f->wholes.data[number];
	whole->sum.comm = part->sum.comm;
	whole->sum.cgroup = part->sum.cgroup;
	whole->nthreads = wrap_plus(whole->nthreads, part->nthreads);
	whole->summed |= part->summed;
	*map_put(&f->whole_of, (uintptr_t)part, NULL) = (uintptr_t)whole;
	return whole;
}

/* Segments list the same names. */
static void join_folds(struct folded_threads *f)
{
	struct strtab names = { 0 }, comms = { 0 };
	VEC(struct exp_fold *) by_comm = { 0 }; /* the first of each comm */

	for (size_t i = 0; f->founders.len > 1 && i < f->founders.len; i++) {
		const struct experiment *e = f->founders.data[i];

		vec_for_each(part, &e->folds) {
			uint32_t comm = name_number(&comms, e, part->sum.comm, NULL);
			uint32_t number = name_number(&names, e, part->sum.comm, part->sum.cgroup);
			struct exp_fold *whole = add_part(f, part, number);

			if (comm == by_comm.len)
				vec_push(&by_comm, whole);
			if (by_comm.data[comm] != whole)
				by_comm.data[comm]->ambiguous = whole->ambiguous = true;
		}
	}
	vec_free(&by_comm);
	strtab_free(&names);
	strtab_free(&comms);
}

const struct exp_fold *folded_whole(const struct folded_threads *f, const struct exp_fold *fold)
{
	const uint64_t *whole = map_get(&f->whole_of, (uintptr_t)fold);

	return whole ? (const struct exp_fold *)(uintptr_t)*whole : fold;
}

/* --- all --- */

void folded_sort(struct folded_threads *f)
{
	vec_sort(&f->all, by_key_and_time);
	for (size_t i = f->all.len; i-- > 0;)
		*map_put(&f->first, f->all.data[i].key, NULL) = i;
	join_folds(f);
}

void folded_free(struct folded_threads *f)
{
	vec_free(&f->all);
	map_free(&f->first);
	vec_free(&f->founders);
	vec_for_each(whole, &f->wholes)
		free(*whole);
	vec_free(&f->wholes);
	map_free(&f->whole_of);
}

const struct exp_fold *folded_at(const struct folded_threads *f, const struct experiment *founder,
				 int64_t pid, int64_t tid, int64_t time_ns)
{
	uint64_t key = key_of(founder, tid);
	const uint64_t *first = map_get(&f->first, key);
	size_t lo = first ? *first : 0, hi = first ? f->all.len : 0;
	const struct folded *th;

	/* Of the threads with this TID find the first that began later. */
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (f->all.data[mid].key == key &&
		    wrap_minus(f->all.data[mid].begin_ns, SLACK_NS) <= time_ns)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (!first || lo == *first)
		return NULL;
	th = &f->all.data[lo - 1];
	if ((th->pid != pid && th->pid != ANY_PROCESS) || time_ns > wrap_plus(th->end_ns, SLACK_NS))
		return NULL;
	return &founder->folds.data[th->fold - 1];
}

const struct exp_fold *folded_sums(const struct folded_threads *f, const struct experiment *founder,
				   int64_t tid)
{
	const uint64_t *first = map_get(&f->first, key_of(founder, tid));
	const struct folded *th = first ? &f->all.data[*first] : NULL;

	return th && th->pid == ANY_PROCESS ? &founder->folds.data[th->fold - 1] : NULL;
}

void fold_put_name(const struct exp_fold *fold, struct buf *b)
{
	const struct exp_thread *sum = &fold->sum;

	buf_printf(b, "%s, %" PRId64 " short-lived thread%s", *sum->comm ? sum->comm : "(unknown)",
		   fold->nthreads, fold->nthreads == 1 ? "" : "s");
	if (fold->ambiguous && *sum->cgroup)
		buf_printf(b, ", %s", sum->cgroup);
}
