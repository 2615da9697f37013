/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Elements `threads` of threads.xml: sums of short-lived threads, and a list of those threads. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/buf.h"
#include "analysis/base/wrap.h"
#include "analysis/experiment/exp_threads.h"
#include "analysis/experiment/experiment_impl.h"

/* The fold of this name and cgroup, new if there is none. Valid until the next call. */
static struct exp_fold *need_fold(struct experiment *e, struct strtab *keys,
				  const struct exp_thread *sum)
{
	struct buf key = { 0 };
	uint32_t id;

	buf_printf(&key, "%zu %s%s", strlen(sum->comm), sum->comm, sum->cgroup);
	id = strtab_id(keys, key.data);
	buf_free(&key);
	if (id == e->folds.len)
		vec_push(&e->folds, (struct exp_fold){ .sum = {
			.comm = sum->comm, .cgroup = sum->cgroup, .experiment = "",
			.begin_ns = sum->begin_ns, .end_ns = sum->end_ns, .split = true } });
	return &e->folds.data[id];
}

/* Read a number, and the character behind it. False: there is none. */
static bool read_number(const char **at, char behind, int64_t *ret)
{
	char *end;

	if (**at < '0' || **at > '9')
		return false;
	errno = 0;
	*ret = strtoll(*at, &end, 10);
	if (errno || (behind && *end != behind))
		return false;
	*at = end + (behind != 0);
	return true;
}

/*
 * Read "PID/TID:BEGIN+LENGTH"; without the PID it is equal to TID. BEGIN counts from
 * ret->begin_ns.
 */
static bool read_member(const char **at, struct exp_thread *ret)
{
	int64_t begin, length;
	const char *tid = *at;

	if (!read_number(&tid, '/', &ret->pid) || !read_number(&tid, ':', &ret->tid)) {
		tid = *at;
		if (!read_number(&tid, ':', &ret->tid))
			return false;
		ret->pid = ret->tid;
	}
	if (!exp_is_id(ret->pid) || !exp_is_id(ret->tid) || !read_number(&tid, '+', &begin) ||
	    !read_number(&tid, 0, &length) ||
	    __builtin_add_overflow(ret->begin_ns, begin, &ret->begin_ns) ||
	    __builtin_add_overflow(ret->begin_ns, length, &ret->end_ns))
		return false;
	*at = tid + strspn(tid, " ");
	return true;
}

/* Add the threads of the list; returns their number, or -1 if one is wrong. */
static int64_t read_members(struct experiment *e, const char *list, const struct exp_fold *f,
			    int64_t begin_ns)
{
	const struct exp_thread first = {
		.comm = f->sum.comm, .cgroup = f->sum.cgroup, .experiment = "",
		.begin_ns = begin_ns, .born = true, .ended = true, .fold = f - e->folds.data + 1,
	};
	int64_t n = 0;

	for (; *list; n++) {
		struct exp_thread th = first;

		if (!read_member(&list, &th))
			return -1;
		vec_push(&e->threads, th);
	}
	return n;
}

void folds_mark(struct experiment *e)
{
	struct strtab names = { 0 };
	VEC(struct exp_fold *) firsts = { 0 }; /* by name */

	vec_for_each(f, &e->folds) {
		uint32_t id = strtab_id(&names, f->sum.comm);

		if (id == firsts.len)
			vec_push(&firsts, f);
		else
			f->ambiguous = firsts.data[id]->ambiguous = true;
	}
	strtab_free(&names);
	vec_free(&firsts);
}

/* Elements of one fold mostly have the same number. */
static void add_number(struct experiment *e, struct exp_fold *f, int64_t tid)
{
	uint32_t fold = f - e->folds.data + 1;

	if (!tid)
		return;
	f->summed = true;
	for (size_t i = e->fold_numbers.len; i-- > 0;) {
		if (e->fold_numbers.data[i].tid == tid && e->fold_numbers.data[i].fold == fold)
			return;
	}
	vec_push(&e->fold_numbers, (struct exp_fold_number){ tid, fold });
}

uint64_t fold_read(struct experiment *e, struct strtab *keys, const struct xml_element *el,
		   const struct exp_thread *sum)
{
	const char *list = xml_get(el, "members");
	int64_t sums = xml_get_int(el, "sums", 0);
	int64_t count = xml_get_int(el, "count", 0), lived = xml_get_int(el, "lived", 0);
	int64_t movers = xml_get_int(el, "movers", 0);
	struct exp_fold *f;

	if (count <= 0 || lived < 0 || movers < 0 || movers > count || !exp_is_id(sums))
		return 1;
	f = need_fold(e, keys, sum);
	thread_add(&f->sum, sum);
	f->sum.split &= sum->split;
	add_to(&f->nthreads, count);
	add_to(&f->lived_ns, lived);
	add_to(&f->nmovers, movers);
	add_number(e, f, sums);
	return read_members(e, list ? list : "", f, sum->begin_ns) != count;
}
