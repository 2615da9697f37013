/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rules on what held programs up: a CPU, a lock, a disk, page faults, … */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "analysis/base/buf.h"
#include "analysis/base/map.h"
#include "analysis/base/wrap.h"
#include "analysis/findings/rules.h"
#include "analysis/views/columns.h"

/* The hold-ups of one program for one reason. */
struct case_of {
	struct facts *facts;
	const struct program *program;
	enum holdup holdup;
};

/* The sums of this case by one thing that is known, in descending order of time. The caller frees them. */
static sum_vec sums_by(const struct case_of *c, enum fact_by by)
{
	uint32_t program = c->program - c->facts->programs.data;
	uint32_t key[FACT_KEYS] = { [FACT_HOLDUP] = c->holdup, [FACT_PROGRAM] = program, [FACT_BY] = by };
	sum_vec ret;

	wait_groups_sorted(&c->facts->holdups, key, &ret);
	return ret;
}

static void put_having(const char *thread, const char *it, struct buf *b)
{
	if (!strcmp(thread, WAIT_UNSEEN))
		buf_printf(b, "; threads that were not recorded had %s ", it);
	else
		buf_printf(b, "; `%s` had %s ", thread, it);
}

/*
 * Append the thread that most often had what was waited for, and its share of the waits with a
 * known holder, if that is at least `least`. The error is that of a ratio of sampled times (Cochran, Sampling
 * Techniques, 6.4).
 */
static void put_having_most(const struct case_of *c, const char *it, double least, struct buf *b)
{
	double known = 0, variance = 0, share, of;
	const struct wait_sum *top = NULL;
	sum_vec sums = sums_by(c, BY_HOLDER);

	vec_for_each(s, &sums) {
		if (!*wait_key_text(&c->facts->w, (*s)->key[FACT_VALUE]))
			continue;
		top = top ? top : *s;
		known += (double)(*s)->stat.time_ns;
		variance += (*s)->stat.variance;
	}
	share = top ? (double)top->stat.time_ns / known : 0;
	if (top && share >= least && known > 0.1 * (double)c->program->held[c->holdup].time_ns) {
		of = top->stat.variance * (1 - share) * (1 - share) +
		     (variance - top->stat.variance) * share * share;
		put_having(wait_key_text(&c->facts->w, top->key[FACT_VALUE]), it, b);
		put_share(b, share, sqrt(of > 0 ? of : 0) / known);
		buf_puts(b, " of that time");
	}
	vec_free(&sums);
}

static void put_holder(const struct case_of *c, struct buf *b)
{
	put_having_most(c, "it", 0, b);
}

/* Append the path with the most time, if it has at least half of the time. */
static void put_place(const struct case_of *c, struct buf *b)
{
	int64_t whole = c->program->held[c->holdup].time_ns;
	sum_vec sums = sums_by(c, BY_PATH);

	if (sums.len && sums.data[0]->stat.time_ns >= whole / 2)
		buf_printf(b, ", mostly in %s", wait_path_brief(&c->facts->w, sums.data[0]->key[FACT_VALUE]));
	vec_free(&sums);
}

static void put_cgroup(const struct case_of *c, struct buf *b)
{
	sum_vec sums = sums_by(c, BY_CGROUP);

	if (sums.len && *wait_key_text(&c->facts->w, sums.data[0]->key[FACT_VALUE]))
		buf_printf(b, ", mostly of cgroup `%s`",
			   wait_key_text(&c->facts->w, sums.data[0]->key[FACT_VALUE]));
	vec_free(&sums);
}

/* A lock with so much of the time is the one that a sentence is about; so is a place, or a holder of several locks. */
static const double nearly_all = 0.9;
/* Of several locks those with so much of the time are named. */
static const double named_lock = 0.2;

/* The lock's variable if it has a name; otherwise the function that took most of the locks. */
static void put_one_lock(const struct case_of *c, uint32_t lock, struct buf *b)
{
	const char *name = lock_set_name(&c->facts->locks, lock);
	const struct func *taker = NULL;
	sum_vec sums = sums_by(c, BY_PATH);

	if (sums.len)
		taker = wait_path_taker(&c->facts->w.paths, sums.data[0]->key[FACT_VALUE]);
	if (*name)
		buf_printf(b, lock_set_known(&c->facts->locks, lock) ? " %s%s" : " the lock `%s`%s", name,
			   taker ? "," : "");
	else
		buf_puts(b, taker ? " a lock" : " a lock of its own");
	if (taker)
		buf_printf(b, " taken in %s", func_name(c->facts->w.v, taker));
	vec_free(&sums);
	put_holder(c, b);
}

/* The time of waits for locks that functions of one name took: a method may be interpreted, and compiled. */
struct taker {
	const char *name; /* NULL: no stack shows it */
	struct wait_stat stat;
};

typedef VEC(struct taker) taker_vec;

static int by_taken_time(const void *pa, const void *pb)
{
	const struct taker *a = pa, *b = pb;

	return (a->stat.time_ns < b->stat.time_ns) - (a->stat.time_ns > b->stat.time_ns);
}

/* The functions that took the locks, most time first. Release with vec_free. */
static taker_vec takers_of(const struct case_of *c)
{
	sum_vec sums = sums_by(c, BY_PATH);
	struct map by_name = { 0 };
	taker_vec ret = { 0 };

	vec_for_each(s, &sums) {
		const struct func *f = wait_path_taker(&c->facts->w.paths, (*s)->key[FACT_VALUE]);
		const char *name = f ? func_name(c->facts->w.v, f) : NULL;
		uint64_t *at = map_put(&by_name, name ? hash_bytes(name, strlen(name)) : 0, NULL);

		if (!*at) {
			vec_push(&ret, (struct taker){ .name = name });
			*at = ret.len;
		}
		wait_stat_merge(&ret.data[*at - 1].stat, &(*s)->stat);
	}
	map_free(&by_name);
	vec_free(&sums);
	vec_sort(&ret, by_taken_time);
	return ret;
}

/* " taken in f", if f took the locks in nearly all waits; else ": 60 % taken in f, 40 % taken in g". */
static void put_takers(const struct case_of *c, bool several, struct buf *b)
{
	double whole = (double)c->program->held[c->holdup].time_ns;
	taker_vec takers = takers_of(c);
	size_t n = 0;

	vec_for_each(t, &takers) {
		double share = (double)t->stat.time_ns / whole;

		if (t->name && share >= nearly_all)
			buf_printf(b, " taken in %s", t->name);
		if (share >= nearly_all || share < named_lock || !several)
			break;
		buf_puts(b, n++ ? ", " : ": ");
		put_share(b, share, wait_stat_time_error(&t->stat) / whole);
		if (t->name)
			buf_printf(b, " taken in %s", t->name);
		else
			buf_puts(b, " taken where no stack shows it");
	}
	vec_free(&takers);
}

/* A name that tells it from other locks; NULL: none. */
static const char *own_name(const struct case_of *c, uint32_t lock)
{
	const char *name = lock_set_name(&c->facts->locks, lock);

	return c->facts->locks.all.data[lock].address && *name ? name : NULL;
}

/* Whether a lock with enough of the time to be named has a name. */
static bool any_named(const struct case_of *c, const sum_vec *sums, int64_t known)
{
	vec_for_each(s, sums) {
		uint32_t lock = (*s)->key[FACT_VALUE];

		if (own_name(c, lock) && (double)(*s)->stat.time_ns >= named_lock * (double)known)
			return true;
	}
	return false;
}

/* Whether there may be one lock that several functions take. */
static bool may_be_one(const struct case_of *c, const sum_vec *sums)
{
	vec_for_each(s, sums) {
		if (c->facts->locks.all.data[(*s)->key[FACT_VALUE]].address)
			return false;
	}
	return true;
}

/* Each may have a holder of its own. */
static void put_locks(const struct case_of *c, const sum_vec *sums, int64_t known, struct buf *b)
{
	size_t n = 0;

	buf_puts(b, may_be_one(c, sums) ? " one lock or several" : " several locks");
	put_takers(c, !any_named(c, sums, known), b);
	vec_for_each(s, sums) {
		uint32_t lock = (*s)->key[FACT_VALUE];
		double share = (double)(*s)->stat.time_ns / (double)known;

		if (!own_name(c, lock))
			continue;
		if (share < named_lock)
			break;
		buf_puts(b, n++ ? ", " : ": ");
		put_share(b, share, wait_stat_time_error(&(*s)->stat) / (double)known);
		buf_printf(b, " for `%s`", own_name(c, lock));
	}
	put_having_most(c, "them", nearly_all, b);
}

static void put_lock(const struct case_of *c, struct buf *b)
{
	const struct wait_sum *top = NULL;
	int64_t known = 0;
	sum_vec sums = sums_by(c, BY_LOCK);

	vec_for_each(s, &sums) {
		if (!user_lock_told(&c->facts->locks.all.data[(*s)->key[FACT_VALUE]]))
			continue;
		top = top ? top : *s;
		add_to(&known, (*s)->stat.time_ns);
	}
	if (!top || (double)top->stat.time_ns >= nearly_all * (double)known)
		put_one_lock(c, (top ? top : sums.data[0])->key[FACT_VALUE], b);
	else
		put_locks(c, &sums, known, b);
	vec_free(&sums);
}

/* What a sentence says: "6.1 s of 10.0 s that `x` waited were " + what + more. */
static const struct {
	const char *what, *command;
	void (*more)(const struct case_of *c, struct buf *b);
} says[HOLDUPS] = {
	[HOLDUP_CPU] = { "for a CPU", "-runqueue", put_holder },
	[HOLDUP_QUOTA] = { "for the CPU quota", "-runqueue", put_cgroup },
	[HOLDUP_LOCK] = { "for", "-locks", put_lock },
	[HOLDUP_KERNEL_LOCK] = { "for a lock in the kernel", "-waits", put_place },
	[HOLDUP_FILE_LOCK] = { "for a file lock", "-waits", put_place },
	[HOLDUP_DISK] = { "for the disk", "-waits", put_place },
	[HOLDUP_FAULT] = { "for pages to be read in (page faults)", "-waits", put_place },
	[HOLDUP_MEMORY] = { "for memory to be freed", "-waits", put_place },
};

/*
 * The standard error of a hold-up's time. All waits for a CPU and all page faults of a thread are
 * counted, so they have none. Other hold-ups are parts of a state, known from sampled waits.
 */
static double error_of(const struct program *p, enum holdup holdup)
{
	if (!p->cut && (holdup == HOLDUP_CPU || holdup == HOLDUP_FAULT))
		return 0;
	return wait_stat_time_error(&p->held[holdup]);
}

static void add_finding(struct finder *f, const struct rule *r, const struct program *p)
{
	const struct program *all = facts_all(&f->facts);
	const struct wait_stat *held = &p->held[r->holdup];
	struct case_of c = { &f->facts, p, r->holdup };
	struct buf text = { 0 }, pids = { 0 }, command = { 0 }, filter = { 0 };

	put_time(&text, held->time_ns);
	buf_puts(&text, " of ");
	put_time(&text, p->wait_ns);
	buf_printf(&text, " that `%s` waited were %s", p->name, says[r->holdup].what);
	says[r->holdup].more(&c, &text);
	if (all->held[r->holdup].time_ns / 2 >= held->time_ns) {
		buf_puts(&text, "; all programs together: ");
		put_time(&text, all->held[r->holdup].time_ns);
	}
	buf_puts(&text, ".");
	if (program_put_pids(p, &pids)) {
		buf_printf(&command, "-pid %s ", pids.data);
		buf_printf(&filter, "PID IN (%s) && ", pids.data);
	}
	buf_puts(&command, says[r->holdup].command);
	buf_puts(&filter, holdup_filter(r->holdup));
	finder_add(f, r, text.data, held->time_ns, error_of(p, r->holdup), command.data,
		   filter.data);
	buf_free(&text);
	buf_free(&pids);
	buf_free(&command);
	buf_free(&filter);
}

/*
 * The program that was held up for the longest time, among those that pass the thresholds. With
 * random errors, three standard errors are exceeded once in 700 cases.
 */
void find_holdup(struct finder *f, const struct rule *r)
{
	const struct program *all = facts_all(&f->facts), *worst = NULL;

	vec_for_each(p, &f->facts.programs) {
		const struct wait_stat *held = &p->held[r->holdup];

		if (p == all || (double)held->time_ns < r->of_program * (double)p->busy_ns ||
		    (double)held->time_ns < r->of_whole * (double)f->facts.duration_ns ||
		    !held->time_ns || (double)held->time_ns < 3 * error_of(p, r->holdup))
			continue;
		if (!worst || held->time_ns > worst->held[r->holdup].time_ns)
			worst = p;
	}
	if (worst)
		add_finding(f, r, worst);
}

void find_stolen(struct finder *f, const struct rule *r)
{
	const struct program *all = facts_all(&f->facts);
	int64_t stolen = all->held[HOLDUP_STOLEN].time_ns;
	double had = (double)stolen + (double)all->run_ns;
	struct buf text = { 0 };

	if (stolen <= 0 || (double)stolen < r->of_program * had ||
	    (double)stolen < r->of_whole * (double)f->facts.duration_ns)
		return;
	buf_puts(&text, "The hypervisor or interrupts took ");
	put_time(&text, stolen);
	buf_puts(&text, " of ");
	put_time(&text, had);
	buf_puts(&text, " that threads had a CPU.");
	finder_add(f, r, text.data, stolen, 0, "-runqueue", holdup_filter(HOLDUP_STOLEN));
	buf_free(&text);
}
