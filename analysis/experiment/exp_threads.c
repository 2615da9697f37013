/* SPDX-License-Identifier: GPL-2.0-or-later */
/* threads.xml: all the time of each thread, from the kernel's exact counters. */
#include "analysis/experiment/exp_threads.h"

#include <stddef.h>

#include "analysis/base/wrap.h"
#include "analysis/experiment/experiment_impl.h"

/* Numeric attributes and their members, without those of states. None can be negative. */
static const struct number {
	const char *name;
	size_t member;
} numbers[] = {
	{ "begin", offsetof(struct exp_thread, begin_ns) },
	{ "end", offsetof(struct exp_thread, end_ns) },
	{ "run", offsetof(struct exp_thread, run_ns) },
	{ "user", offsetof(struct exp_thread, user_ns) },
	{ "system", offsetof(struct exp_thread, system_ns) },
	{ "stolen", offsetof(struct exp_thread, stolen_ns) },
	{ "waits", offsetof(struct exp_thread, nwaits) },
	{ "preempted", offsetof(struct exp_thread, npreempted) },
	{ "moves", offsetof(struct exp_thread, nmoved) },
	{ "moved", offsetof(struct exp_thread, moved_ns) },
	{ "minflt", offsetof(struct exp_thread, minflt) },
	{ "majflt", offsetof(struct exp_thread, majflt) },
};

struct reading {
	struct experiment *e;
	struct strtab folds; /* see fold_read */
	uint64_t nwrong;
};

static int64_t *member(struct exp_thread *th, const struct number *n)
{
	return (int64_t *)((char *)th + n->member);
}

/* Read a number; a negative one becomes 0. False: it was negative. */
static bool read_number(const struct xml_element *el, const char *name, int64_t *ret)
{
	*ret = xml_get_int(el, name, 0);
	if (*ret >= 0)
		return true;
	*ret = 0;
	return false;
}

static bool read_states(struct exp_thread *th, const struct xml_element *el)
{
	bool ok = true;

	for (int i = 0; i < MS_COUNT; i++) {
		const struct mstate_desc *m = &mstate_descs[i];

		if (m->on_cpu)
			continue;
		ok &= read_number(el, m->attr, &th->off_ns[i]);
		ok &= read_number(el, m->count_attr, &th->off_n[i]);
	}
	return ok;
}

/* Read all numbers; impossible ones are corrected. False: there were some. */
static bool read_numbers(struct exp_thread *th, const struct xml_element *el)
{
	bool ok = read_states(th, el);

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		ok &= read_number(el, numbers[i].name, member(th, &numbers[i]));
	if (th->end_ns < th->begin_ns) {
		th->end_ns = th->begin_ns;
		ok = false;
	}
	return ok;
}

void thread_add(struct exp_thread *to, const struct exp_thread *th)
{
	int64_t begin = to->begin_ns < th->begin_ns ? to->begin_ns : th->begin_ns;
	int64_t end = to->end_ns > th->end_ns ? to->end_ns : th->end_ns;

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		add_to(member(to, &numbers[i]), *(const int64_t *)((const char *)th + numbers[i].member));
	for (int i = 0; i < MS_COUNT; i++) {
		add_to(&to->off_ns[i], th->off_ns[i]);
		add_to(&to->off_n[i], th->off_n[i]);
	}
	to->begin_ns = begin;
	to->end_ns = end;
}

static void read_strings(struct exp_thread *th, struct experiment *e, const struct xml_element *el)
{
	th->comm = exp_attr(e, el, "comm");
	th->cgroup = exp_attr(e, el, "cgroup");
	th->experiment = exp_attr(e, el, "experiment");
}

static void read_thread(struct reading *r, const struct xml_element *el)
{
	struct exp_thread th = {
		.pid = xml_get_int(el, "pid", -1), .tid = xml_get_int(el, "tid", -1),
		.born = xml_get_int(el, "born", 0) == 1, .ended = xml_get_int(el, "ended", 0) == 1,
		.split = xml_get_int(el, "split", 0) == 1,
		.again = xml_get_int(el, "again", 0) == 1,
	};

	if (!exp_is_id(th.pid) || !exp_is_id(th.tid)) {
		r->nwrong++;
		return;
	}
	read_strings(&th, r->e, el);
	r->nwrong += !read_numbers(&th, el);
	vec_push(&r->e->threads, th);
}

static void read_fold(struct reading *r, const struct xml_element *el)
{
	struct exp_thread sum = { .split = xml_get_int(el, "split", 0) == 1, .born = true,
				  .ended = true };

	read_strings(&sum, r->e, el);
	r->nwrong += !read_numbers(&sum, el);
	r->nwrong += fold_read(r->e, &r->folds, el, &sum);
}

static void read_element(void *ctx, const struct xml_element *el)
{
	if (!strcmp(el->name, "thread"))
		read_thread(ctx, el);
	else if (!strcmp(el->name, "threads"))
		read_fold(ctx, el);
}

void threads_read(struct experiment *e, int dirfd)
{
	static const struct xml_handler handler = { .start = read_element };
	struct reading r = { .e = e };
	struct file f;

	if (!exp_text(e, dirfd, "threads.xml", &f))
		return;
	exp_parse(e, "threads.xml", &f, &handler, &r);
	file_close(&f);
	strtab_free(&r.folds);
	folds_mark(e);
	if (r.nwrong)
		diag_warn(&e->diag, "threads.xml: %llu thread%s with an impossible number",
			  (unsigned long long)r.nwrong, r.nwrong == 1 ? "" : "s");
}

/* In a damaged file the sum may exceed 64 bits: it saturates. */
int64_t thread_sum(const struct exp_thread *th)
{
	__int128 sum = th->run_ns;

	for (int i = 0; i < MS_COUNT; i++)
		sum += th->off_ns[i];
	return sum > INT64_MAX ? INT64_MAX : (int64_t)sum;
}
