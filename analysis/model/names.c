/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/model/names.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/buf.h"
#include "analysis/base/wrap.h"
#include "analysis/experiment/exp_recorder.h"
#include "analysis/experiment/exp_threads.h"
#include "analysis/model/model.h"

static uint64_t key(const struct experiment *e, int64_t id)
{
	return (uint64_t)e->recording->id << 32 | (uint32_t)id;
}

static void put(struct map *m, uint64_t k, const char *name, bool replace)
{
	bool fresh;
	uint64_t *at = map_put(m, k, &fresh);

	if (fresh || replace)
		*at = (uintptr_t)name;
}

static const char *get(const struct map *m, uint64_t k)
{
	const uint64_t *at = map_get(m, k);

	return at ? (const char *)(uintptr_t)*at : NULL;
}

/* --- dated names --- */

static struct dated_name *add_dated(struct dated_names *d, uint64_t k, int64_t at_ns, int64_t pid,
				    const char *name)
{
	vec_push(&d->all, (struct dated_name){ .key = k, .at_ns = at_ns, .order = d->all.len,
					       .pid = pid, .name = name });
	return &d->all.data[d->all.len - 1];
}

static int by_date(const void *pa, const void *pb)
{
	const struct dated_name *a = pa, *b = pb;

	if (a->key != b->key)
		return a->key < b->key ? -1 : 1;
	if (a->at_ns != b->at_ns)
		return a->at_ns < b->at_ns ? -1 : 1;
	return a->order < b->order ? -1 : 1;
}

static void index_dated(struct dated_names *d)
{
	for (size_t i = 0; i < d->all.len; i++) {
		if (!i || d->all.data[i].key != d->all.data[i - 1].key)
			*map_put(&d->first, d->all.data[i].key, NULL) = i;
	}
}

static void sort_dated(struct dated_names *d)
{
	vec_sort(&d->all, by_date);
	index_dated(d);
}

/* Number the processes that had one PID, in the order in which they came. Returns how many. */
static uint32_t number_processes(struct dated_name *all, size_t n)
{
	struct map serials = { 0 };
	uint32_t last;

	for (size_t i = 0; i < n; i++) {
		bool fresh;
		uint64_t *serial = map_put(&serials, all[i].start, &fresh);

		if (fresh)
			*serial = serials.len;
		all[i].serial = *serial;
	}
	last = serials.len;
	map_free(&serials);
	return last;
}

/* Keep only the PIDs that several processes had: they are few. */
static void sort_processes(struct dated_names *d)
{
	size_t kept = 0, to;

	vec_sort(&d->all, by_date);
	for (size_t from = 0; from < d->all.len; from = to) {
		struct dated_name *all = &d->all.data[from];

		for (to = from; to < d->all.len && d->all.data[to].key == all->key;)
			to++;
		if (to - from < 2 || number_processes(all, to - from) < 2)
			continue;
		memmove(&d->all.data[kept], all, (to - from) * sizeof(*all));
		kept += to - from;
	}
	d->all.len = kept;
	index_dated(d);
}

static void free_dated(struct dated_names *d)
{
	vec_free(&d->all);
	map_free(&d->first);
}

/* The names of a key, and their number in *n; NULL: none. */
static const struct dated_name *find_dated(const struct dated_names *d, uint64_t k, size_t *n)
{
	const uint64_t *first = map_get(&d->first, k);
	const struct dated_name *all = first ? &d->all.data[*first] : NULL;
	size_t most = first ? d->all.len - *first : 0, lo = 0, hi = most ? 1 : 0;

	/* Most keys have one or two names, so the search begins near the first one. */
	while (hi < most && all[hi - 1].key == k) {
		lo = hi;
		hi = hi * 2 < most ? hi * 2 : most;
	}
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (all[mid].key == k)
			lo = mid + 1;
		else
			hi = mid;
	}
	*n = lo;
	return all;
}

/* The number of names whose time is not later than time_ns. */
static size_t upto(const struct dated_name *all, size_t n, int64_t time_ns)
{
	size_t lo = 0, hi = n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (all[mid].at_ns <= time_ns)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* --- what the experiments say --- */

/* A time in a founder's files, since the start of its recording. */
static int64_t since_start(const struct experiment *e, int64_t time_ns)
{
	return wrap_plus(time_ns, wrap_minus(experiment_founder(e)->start_ns, e->recording->start_ns));
}

/* For recordings without names.xml, which would have the times of renames. */
static void add_threads(struct names *n, const struct experiment *e)
{
	vec_for_each(el, &e->recorder) {
		const char *comm = element_get(el, "comm");
		int64_t tid = element_int(el, "tid");

		if (!strcmp(el->name, "thread") && comm)
			add_dated(&n->threads, key(e, tid), since_start(e, 0), element_int(el, "pid"),
				  comm);
	}
	vec_for_each(th, &e->threads) {
		if (*th->comm) {
			add_dated(&n->threads, key(e, th->tid), since_start(e, th->begin_ns), th->pid,
				  th->comm);
			add_dated(&n->threads, key(e, th->tid), since_start(e, th->end_ns), th->pid,
				  th->comm);
		}
	}
	vec_for_each(name, &e->names) {
		int64_t at = since_start(e, name->at_ns);

		add_dated(&n->threads, key(e, name->tid), at, name->pid, name->comm)->start = name->start;
		if (name->pid && name->start)
			add_dated(&n->processes_at, key(e, name->pid), at, name->pid, NULL)->start = name->start;
	}
}

/* Most threads have a number, and a cgroup, for good. Only for others times are kept. */
static void add_cgroups(struct names *n, const struct experiment *e)
{
	struct map several = { 0 };

	vec_for_each(th, &e->threads) {
		const char *first = get(&n->cgroups, key(e, th->tid));

		if (*th->cgroup)
			put(&n->cgroups, key(e, th->tid), th->cgroup, false);
		if (*th->cgroup && first && strcmp(first, th->cgroup))
			map_put(&several, key(e, th->tid), NULL);
	}
	vec_for_each(th, &e->threads) {
		if (*th->cgroup && several.len && map_get(&several, key(e, th->tid)))
			add_dated(&n->cgroups_at, key(e, th->tid), since_start(e, th->begin_ns),
				  th->pid, th->cgroup);
	}
	map_free(&several);
	vec_for_each(f, &e->fold_numbers) {
		const char *cgroup = e->folds.data[f->fold - 1].sum.cgroup;

		if (*cgroup)
			put(&n->cgroups, key(e, f->tid), cgroup, false);
	}
}

/* Saturates: times from files may be any number. */
static int64_t sum(int64_t a, int64_t b)
{
	int64_t ret;

	return __builtin_add_overflow(a, b, &ret) ? (a < 0 ? INT64_MIN : INT64_MAX) : ret;
}

static void add_programs(struct names *n, const struct experiment *e)
{
	vec_for_each(p, &e->processes)
		add_dated(&n->programs, key(e, p->pid), since_start(e, p->begin_ns), p->pid, p->name);
}

/*
 * A process that executes another program has two experiments; the name of the first is
 * valid until it ends.
 */
static void add_sub(struct names *n, const struct experiment *e)
{
	int64_t end = sum(e->start_ns, e->end_ns), start = e->recording->start_ns;

	end = sum(end, start == INT64_MIN ? INT64_MAX : -start);
	add_dated(&n->subs, key(e, e->pid), end, e->pid, e->process);
}

/* A process takes the last name of its main thread, or of any thread if that is unknown. */
static void name_processes(struct names *n)
{
	vec_for_each(t, &n->threads.all) {
		uint64_t k = (t->key & ~(uint64_t)UINT32_MAX) | (uint32_t)t->pid;

		if (t->pid)
			put(&n->processes, k, t->name, k == t->key);
	}
}

static void names_init(struct names *n, const struct session *s)
{
	*n = (struct names){ 0 };
	vec_for_each(e, &s->experiments) {
		if (!(*e)->founder) {
			add_threads(n, *e);
			add_cgroups(n, *e);
			add_programs(n, *e);
			folded_add(&n->folded, *e);
		}
		/* An experiment of many processes names its recorder. */
		if ((*e)->pid && *(*e)->process && !(*e)->many_processes)
			add_sub(n, *e);
	}
	sort_dated(&n->threads);
	sort_processes(&n->processes_at);
	sort_dated(&n->programs);
	sort_dated(&n->subs);
	folded_sort(&n->folded);
	sort_dated(&n->cgroups_at);
	name_processes(n);
}

void names_free(struct names *n)
{
	free_dated(&n->threads);
	free_dated(&n->processes_at);
	free_dated(&n->programs);
	free_dated(&n->subs);
	free_dated(&n->cgroups_at);
	map_free(&n->processes);
	map_free(&n->cgroups);
	folded_free(&n->folded);
}

/* --- questions --- */

/* A time since the origin's start, as callers have it, since that of the recording. */
static int64_t asked(const struct experiment *e, int64_t time_ns)
{
	return wrap_plus(time_ns, wrap_minus(e->origin->start_ns, e->recording->start_ns));
}

const char *names_thread(const struct names *n, const struct experiment *e, int64_t tid)
{
	size_t len;
	const struct dated_name *all = find_dated(&n->threads, key(e, tid), &len);

	return len ? all[len - 1].name : NULL;
}

bool names_renamed(const struct names *n, const struct experiment *e, int64_t tid)
{
	size_t len;
	const struct dated_name *all = find_dated(&n->threads, key(e, tid), &len);

	for (size_t i = 1; i < len; i++) {
		if (strcmp(all[i].name, all[0].name))
			return true;
	}
	return false;
}

const char *names_thread_at(const struct names *n, const struct experiment *e, int64_t tid,
			    int64_t time_ns)
{
	size_t len, i;
	const struct dated_name *all = find_dated(&n->threads, key(e, tid), &len);

	i = upto(all, len, asked(e, time_ns));
	return len ? all[i ? i - 1 : 0].name : NULL;
}

unsigned names_serial_at(const struct names *n, const struct experiment *e, int64_t pid,
			 int64_t time_ns)
{
	size_t len, i;
	const struct dated_name *all = find_dated(&n->processes_at, key(e, pid), &len);

	i = upto(all, len, asked(e, time_ns));
	return len ? all[i ? i - 1 : 0].serial : 0;
}

/* When the process with this serial began; 0: unknown. */
static int64_t start_of(const struct names *n, const struct experiment *e, int64_t pid,
			unsigned serial)
{
	size_t len;
	const struct dated_name *all = find_dated(&n->processes_at, key(e, pid), &len);

	for (size_t i = serial ? serial - 1 : len; i < len; i++) {
		if (all[i].serial == serial)
			return all[i].start;
	}
	return 0;
}

/*
 * The last name of a thread while it was in this process: another process may have
 * reused its tid.
 */
static const char *thread_in(const struct names *n, const struct experiment *e, int64_t pid,
			     unsigned serial, int64_t tid)
{
	size_t len;
	const struct dated_name *all = find_dated(&n->threads, key(e, tid), &len);
	int64_t start = start_of(n, e, pid, serial);

	for (size_t i = len; i; i--) {
		if (all[i - 1].pid == pid && (!start || all[i - 1].start == start))
			return all[i - 1].name;
	}
	return NULL;
}

const char *names_process(const struct names *n, const struct experiment *e, int64_t pid)
{
	size_t len;
	const struct dated_name *all = find_dated(&n->programs, key(e, pid), &len);

	if (!len)
		all = find_dated(&n->subs, key(e, pid), &len);
	return len ? all[len - 1].name : get(&n->processes, key(e, pid));
}

const char *names_process_at(const struct names *n, const struct experiment *e, int64_t pid,
			     int64_t time_ns)
{
	size_t len, i;
	const struct dated_name *all = find_dated(&n->programs, key(e, pid), &len);
	const char *name;

	i = upto(all, len, asked(e, time_ns));
	if (len)
		return all[i ? i - 1 : 0].name;
	all = find_dated(&n->subs, key(e, pid), &len);
	i = time_ns > INT64_MIN ? upto(all, len, wrap_minus(asked(e, time_ns), 1)) : 0;
	if (len)
		return all[i < len ? i : len - 1].name;
	name = names_thread_at(n, e, pid, time_ns);
	return name ? name : names_process(n, e, pid);
}

/* The kernel reports a kernel thread's tid as its pid (waker, holder): return 0 then. */
static int64_t true_pid(const struct names *n, const struct experiment *e, int64_t pid, int64_t tid)
{
	return pid == tid && !names_process(n, e, pid) && thread_in(n, e, 0, 0, tid) ? 0 : pid;
}

/* processes.xml has the last program of a PID; of an earlier process the main thread's name is known. */
static const char *process_in(const struct names *n, const struct experiment *e, int64_t pid,
			      unsigned serial)
{
	const char *name = serial ? thread_in(n, e, pid, serial, pid) : NULL;

	return name ? name : names_process(n, e, pid);
}

static void put_pid(int64_t pid, unsigned serial, struct buf *b)
{
	buf_printf(b, ", PID %" PRId64, pid);
	if (serial)
		buf_printf(b, ", serial %u", serial);
}

/* The fold whose threads share packets with this TID. */
static const struct exp_fold *sums_of(const struct names *n, const struct experiment *e, int64_t tid)
{
	return folded_sums(&n->folded, experiment_founder(e), tid);
}

void names_put_thread(const struct names *n, const struct experiment *e, int64_t pid,
		      unsigned serial, int64_t tid, struct buf *b)
{
	const struct exp_fold *sums = sums_of(n, e, tid);
	const char *comm, *process;

	if (sums && pid == tid) {
		fold_put_name(sums, b);
		return;
	}
	pid = true_pid(n, e, pid, tid);
	comm = thread_in(n, e, pid, serial, tid);
	process = pid ? process_in(n, e, pid, serial) : NULL;
	if (!process)
		process = comm ? comm : "(unknown)";
	if (!pid) {
		buf_printf(b, "%s, kernel thread %" PRId64, process, tid);
		return;
	}
	buf_puts(b, process);
	put_pid(pid, serial, b);
	if (sums)
		buf_puts(b, ", short-lived threads");
	else
		buf_printf(b, ", TID %" PRId64, tid);
	/* The kernel truncates names: a main thread's name is then a prefix of its process's. */
	if (comm && strncmp(comm, process, strlen(comm)))
		buf_printf(b, " (%s)", comm);
}

void names_put_process(const struct names *n, const struct experiment *e, int64_t pid,
		       unsigned serial, int64_t tid, struct buf *b)
{
	const char *name = pid ? process_in(n, e, pid, serial) : thread_in(n, e, 0, 0, tid);
	const struct exp_fold *sums = sums_of(n, e, pid);

	if (sums) {
		fold_put_name(sums, b);
		return;
	}
	buf_puts(b, name ? name : "(unknown)");
	if (pid)
		put_pid(pid, serial, b);
	else
		buf_printf(b, ", kernel thread %" PRId64, tid);
}

struct thread_kind names_kind(const struct names *n, const struct experiment *e, int64_t pid,
			      int64_t tid, int64_t time_ns)
{
	return (struct thread_kind){
		.process = pid ? names_process_at(n, e, pid, time_ns) : NULL,
		.comm = names_thread_at(n, e, tid, time_ns),
		.tid = tid,
	};
}

/* The first of the times of these names that is after time_ns; INT64_MAX: none. */
static int64_t next_of(const struct dated_names *d, uint64_t k, int64_t time_ns)
{
	size_t len, i;
	const struct dated_name *all = find_dated(d, k, &len);

	i = upto(all, len, time_ns);
	return i < len ? all[i].at_ns : INT64_MAX;
}

int64_t names_next_change(const struct names *n, const struct experiment *e, int64_t pid, int64_t tid,
			  int64_t time_ns)
{
	int64_t at = asked(e, time_ns), sub = next_of(&n->subs, key(e, pid), at - (at > INT64_MIN));
	/* The name of an experiment is also valid at its time. */
	const int64_t times[] = { next_of(&n->threads, key(e, tid), at), next_of(&n->threads, key(e, pid), at),
				  next_of(&n->programs, key(e, pid), at), sub < INT64_MAX ? sub + 1 : sub };
	int64_t ret = INT64_MAX;

	for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++)
		ret = times[i] < ret ? times[i] : ret;
	return ret == INT64_MAX ? ret : wrap_plus(ret, wrap_minus(e->recording->start_ns, e->origin->start_ns));
}

const char *names_cgroup_at(const struct names *n, const struct experiment *e, int64_t tid,
			    int64_t time_ns)
{
	size_t len, i;
	const struct dated_name *all = find_dated(&n->cgroups_at, key(e, tid), &len);

	i = upto(all, len, asked(e, time_ns));
	return len ? all[i ? i - 1 : 0].name : get(&n->cgroups, key(e, tid));
}

const struct names *session_names(struct session *s)
{
	struct names *n = &s->impl->names;

	/* Rebuild after experiments were added or removed. */
	if (s->impl->names_of == s->experiments.len)
		return n;
	names_free(n);
	names_init(n, s);
	s->impl->names_of = s->experiments.len;
	return n;
}
