/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * locks: user locks that threads waited for. A lock is an address in a process. Where many
 * objects each have a lock, all of these are taken at the same place. The report therefore joins
 * locks of one program that were waited for with a common stack, unless addresses are asked for.
 *
 * A recording with -s all also has how often each lock was taken. Locks that no thread waited for come last.
 */
#include <inttypes.h>
#include <string.h>

#include "analysis/base/buf.h"
#include "analysis/experiment/mstate.h"
#include "analysis/metrics/hit.h"
#include "analysis/views/columns.h"
#include "analysis/views/lockset.h"
#include "analysis/views/locktaken.h"
#include "analysis/views/table.h"
#include "analysis/views/view_state.h"
#include "analysis/views/waitrows.h"

enum { KEY_LOCK, KEY_WAITER, KEY_PATH, KEY_HOLDER, KEY_WAKER, KEY_WAKER_PATH };

/* What the report adds to a lock of the set. */
struct group {
	uint32_t process; /* text key of the process's name */
	uint32_t leader;  /* the lock that joined locks are listed under */
};

struct locks {
	struct wait_report w; /* first member: the report's functions are given its address */
	bool by_address;
	struct lock_set set;
	VEC(struct group) groups; /* indexed by lock */
	struct lock_takings takings;
	struct wait_stat idle;    /* waits of runtimes' idle threads, which belong to no lock */
};

static uint32_t lock_id(struct locks *ls, const struct hit *h)
{
	uint32_t lock = lock_set_id(&ls->set, h);
	const char *name;

	if (lock < ls->groups.len)
		return lock;
	name = names_process(ls->w.names, h->e, hit_pid(h));
	while (ls->groups.len <= lock)
		vec_push(&ls->groups, (struct group){ wait_text_key(&ls->w, name ? name : "(unknown)"),
						      ls->groups.len });
	return lock;
}

static void add_count(struct locks *ls, const struct hit *h)
{
	uint32_t lock = lock_id(ls, h), path = wait_path(&ls->w.paths, h->stack);
	struct lock_taken *t = lock_takings_at(&ls->takings, lock);
	uint64_t kind = hit_lock_kind(h);

	if (!t->n || t->path != path) {
		const struct func *taker = wait_path_taker(&ls->w.paths, path);

		t->taker = t->n && t->taker != taker ? NULL : taker;
		t->path = path;
	}
	t->process = ls->groups.data[lock].process;
	t->kind = kind < ER_LOCK_KINDS ? kind : ER_LOCK_UNKNOWN;
	t->n += hit_lock_count(h);
}

static void add_wait(void *ctx, const struct hit *h, const struct amount *amounts, size_t n)
{
	struct locks *ls = ctx;
	struct wait_report *w = &ls->w;
	uint32_t key[WAIT_KEYS];

	if (h->stream->kind == ER_PKT_LOCKS)
		add_count(ls, h);
	if (hit_state(h) != MS_USER_LOCK)
		return;
	key[KEY_PATH] = wait_path(&w->paths, h->stack);
	if (wait_path_idle(&w->paths, key[KEY_PATH])) {
		wait_stat_add(&ls->idle, h, wait_counts_of(w->counts, h));
		return;
	}
	key[KEY_LOCK] = lock_id(ls, h);
	key[KEY_WAITER] = wait_thread_key(w, h, hit_pid(h), hit_thread(h));
	key[KEY_HOLDER] = wait_holder(h) ? wait_thread_key(w, h, hit_holder_pid(h), wait_holder(h)) :
					  wait_text_key(w, "");
	key[KEY_WAKER] = wait_waker_key(w, h);
	key[KEY_WAKER_PATH] = wait_path(&w->paths, wait_has_waker(h) ? hit_waker_stack(h) :
					session_no_stack(h->session));
	wait_report_add(w, h, key);
}

static uint32_t leader_of(struct locks *ls, uint32_t lock)
{
	struct group *all = ls->groups.data;

	while (all[lock].leader != lock)
		lock = all[lock].leader = all[all[lock].leader].leader;
	return lock;
}

static uint64_t place_of(const struct locks *ls, const struct wait_sum *s)
{
	return (uint64_t)ls->groups.data[s->key[KEY_LOCK]].process << 32 | s->key[KEY_PATH];
}

/*
 * The lock for a wait without an address, such as time between samples. It is a lock that was
 * waited for at the same place; if there is none, one for the whole program.
 */
static uint32_t lock_for(const struct locks *ls, const struct wait_sum *s, const struct map *by_place,
			 struct map *unknown)
{
	uint64_t address = ls->set.all.data[s->key[KEY_LOCK]].address;
	const uint64_t *known = map_get(by_place, place_of(ls, s));
	uint64_t *first;
	bool fresh;

	if (address || known)
		return address ? s->key[KEY_LOCK] : *known;
	first = map_put(unknown, ls->groups.data[s->key[KEY_LOCK]].process, &fresh);
	if (fresh)
		*first = s->key[KEY_LOCK];
	return *first;
}

static void join_locks(struct locks *ls)
{
	struct map by_place = { 0 }, unknown = { 0 };

	vec_for_each(s, &ls->w.bag.sums) {
		bool fresh;
		uint64_t *first;

		if (!ls->set.all.data[s->key[KEY_LOCK]].address)
			continue;
		first = map_put(&by_place, place_of(ls, s), &fresh);
		if (fresh)
			*first = s->key[KEY_LOCK];
		else if (!ls->by_address)
			ls->groups.data[leader_of(ls, s->key[KEY_LOCK])].leader =
				leader_of(ls, *first);
	}
	vec_for_each(s, &ls->w.bag.sums)
		s->key[KEY_LOCK] = leader_of(ls, lock_for(ls, s, &by_place, &unknown));
	map_free(&by_place);
	map_free(&unknown);
}

static const char *waiter_of(struct wait_report *w, const struct wait_sum *s)
{
	char *text = xasprintf("%s waited: %s", wait_key_text(w, s->key[KEY_WAITER]),
			       wait_path_text(w, s->key[KEY_PATH]));
	const char *ret = arena_strdup(&w->t->arena, text);

	free(text);
	return ret;
}

static const char *holder_of(struct wait_report *w, const struct wait_sum *s)
{
	const char *name = wait_key_text(w, s->key[KEY_HOLDER]);
	char *text = *name ? xasprintf("%s had it", name) : xstrdup("(holder unknown)");
	const char *ret = arena_strdup(&w->t->arena, text);

	free(text);
	return ret;
}

static const char *waker_of(struct wait_report *w, const struct wait_sum *s)
{
	const char *name = wait_key_text(w, s->key[KEY_WAKER]);
	char *text;
	const char *ret;

	if (!strcmp(name, WAIT_TIMEOUT))
		return "gave up after a timeout";
	if (*name == '<')
		return name;
	text = xasprintf("%s let go: %s", name, wait_path_text(w, s->key[KEY_WAKER_PATH]));
	ret = arena_strdup(&w->t->arena, text);
	free(text);
	return ret;
}

/*
 * The function that takes a lock, according to the stacks of its waits. There may be one
 * function, several, or none.
 */
static const char *taken_in(struct locks *ls, uint32_t lock)
{
	const struct func *taker = NULL;

	vec_for_each(s, &ls->w.bag.sums) {
		const struct func *f;

		if (s->key[KEY_LOCK] != lock)
			continue;
		f = wait_path_taker(&ls->w.paths, s->key[KEY_PATH]);
		if (f && taker && f != taker)
			return "several functions";
		taker = f ? f : taker;
	}
	if (!taker)
		return "a function that no stack shows";
	return func_name(ls->w.v, taker);
}

/* What its waits were for: "mutex", …; "lock" if no stack tells, or if they differ. */
static const char *kind_of(struct locks *ls, uint32_t lock)
{
	const char *unknown = lock_descs[ER_LOCK_UNKNOWN].uname, *kind = unknown;

	vec_for_each(s, &ls->w.bag.sums) {
		const char *one;

		if (s->key[KEY_LOCK] != lock)
			continue;
		one = lock_descs[wait_path_lock_kind(&ls->w.paths, s->key[KEY_PATH])].uname;
		if (one != unknown && kind != unknown && strcmp(kind, one))
			return unknown;
		kind = one != unknown ? one : kind;
	}
	return kind;
}

/* ", 17 times": how often the locks of a group were taken; "" if that was not counted. */
static char *times_of(struct locks *ls, uint32_t leader)
{
	uint64_t n = 0;

	vec_for_each(t, &ls->takings.all) {
		if (t->waited != LOCK_NOT_WAITED && leader_of(ls, t->waited) == leader)
			n += t->n;
	}
	return n ? xasprintf(", %" PRIu64 " time%s", n, n == 1 ? "" : "s") : xstrdup("");
}

/* Name a group by its process and its name or address, or by its number of locks. */
static void put_heading(struct locks *ls, const struct wait_sum *s)
{
	const struct user_lock *l = &ls->set.all.data[s->key[KEY_LOCK]];
	const char *process = wait_key_text(&ls->w, ls->groups.data[s->key[KEY_LOCK]].process);
	const char *taken = taken_in(ls, s->key[KEY_LOCK]), *kind = kind_of(ls, s->key[KEY_LOCK]);
	const char *name = lock_set_name(&ls->set, s->key[KEY_LOCK]);
	bool known = lock_set_known(&ls->set, s->key[KEY_LOCK]);
	__cleanup(freep) char *lock = known ? xstrdup(name) : xasprintf("%s %s", kind, name);
	__cleanup(freep) char *times = times_of(ls, s->key[KEY_LOCK]);
	size_t naddresses = 0;
	struct map processes = { 0 };

	for (uint32_t i = 0; i < ls->groups.len; i++) {
		if (leader_of(ls, i) != s->key[KEY_LOCK])
			continue;
		naddresses++;
		map_put(&processes, ls->set.all.data[i].pid, NULL);
		if (strcmp(name, lock_set_name(&ls->set, i)))
			name = "";
	}
	if (!l->address)
		wait_row(&ls->w, &s->stat, "%s: locks that are not known", process);
	else if (*name && processes.len == 1)
		wait_row(&ls->w, &s->stat, "%s, PID %" PRId64 ": %s, taken in %s%s", process,
			 l->pid, lock, taken, times);
	else if (*name)
		wait_row(&ls->w, &s->stat, "%s: %s in %zu processes, taken in %s%s", process, lock,
			 processes.len, taken, times);
	else if (naddresses == 1)
		wait_row(&ls->w, &s->stat, "%s, PID %" PRId64 ": %s at 0x%" PRIx64 ", taken in %s%s", process,
			 l->pid, kind, l->address, taken, times);
	else if (processes.len == 1)
		wait_row(&ls->w, &s->stat, "%s, PID %" PRId64 ": %zu locks taken at the same places, in %s%s",
			 process, l->pid, naddresses, taken, times);
	else
		wait_row(&ls->w, &s->stat, "%s: %zu locks in %zu processes, taken at the same places, in %s%s",
			 process, naddresses, processes.len, taken, times);
	map_free(&processes);
}

/* Whether no holder is known for any wait; the report then says nothing about holders. */
static bool nobody_known(const struct wait_report *w, const sum_vec *sums, unsigned mask)
{
	return mask == 1 << KEY_HOLDER && sums->len == 1 &&
	       !*wait_key_text(w, sums->data[0]->key[KEY_HOLDER]);
}

static void put_part(struct locks *ls, uint32_t lock, unsigned mask, const char *more,
		     const char *(*text)(struct wait_report *w, const struct wait_sum *s))
{
	struct wait_bag by;
	sum_vec sums;

	wait_bag_by(&ls->w.bag, mask | 1 << KEY_LOCK, &by);
	wait_bag_sorted(&by, &lock, 1, &sums);
	if (!nobody_known(&ls->w, &sums, mask))
		wait_rows(&ls->w, &sums, more, text);
	vec_free(&sums);
	wait_bag_free(&by);
}

/* Locks that no thread waited for: a row for those of one program that are taken in one function. */
struct taken_row {
	const struct lock_taken *first;
	size_t nlocks;
	uint64_t n;
};

typedef VEC(struct taken_row) taken_vec;

static int taken_cmp(const void *pa, const void *pb)
{
	const struct taken_row *a = pa, *b = pb;

	if (a->n != b->n)
		return a->n > b->n ? -1 : 1;
	return (a->first->lock > b->first->lock) - (a->first->lock < b->first->lock);
}

static void gather_taken(const struct locks *ls, taken_vec *ret)
{
	struct map rows = { 0 };

	vec_for_each(t, &ls->takings.all) {
		bool alone = ls->by_address || !t->taker, fresh;
		uint64_t *at;

		if (t->waited != LOCK_NOT_WAITED)
			continue;
		at = map_put(&rows, alone ? t->lock : (t->process + 1ULL) << 32 | t->taker->id, &fresh);
		if (fresh) {
			*at = ret->len;
			vec_push(ret, (struct taken_row){ .first = t });
		}
		ret->data[*at].nlocks++;
		ret->data[*at].n += t->n;
	}
	map_free(&rows);
	vec_sort(ret, taken_cmp);
}

static void put_taken_row(struct locks *ls, const struct taken_row *r, const struct wait_stat *none)
{
	const struct lock_taken *t = r->first;
	const struct user_lock *l = &ls->set.all.data[t->lock];
	const struct lock_desc *kind = &lock_descs[t->kind];
	const char *process = wait_key_text(&ls->w, t->process), *name = lock_set_name(&ls->set, t->lock);
	const char *taker = t->taker ? func_name(ls->w.v, t->taker) : "several functions";
	const char *how = kind->held ? "taken" : "waited for", *s = r->n == 1 ? "" : "s";

	if (r->nlocks > 1)
		wait_row(&ls->w, none, "%s: %zu locks, taken in %s, %" PRIu64 " times", process, r->nlocks, taker,
			 r->n);
	else if (!l->address)
		wait_row(&ls->w, none, "%s, PID %" PRId64 ": any of many locks, taken in %s, %" PRIu64 " times",
			 process, l->pid, taker, r->n);
	else if (*name)
		wait_row(&ls->w, none, "%s, PID %" PRId64 ": %s %s, %s in %s, %" PRIu64 " time%s", process, l->pid,
			 kind->uname, name, how, taker, r->n, s);
	else
		wait_row(&ls->w, none, "%s, PID %" PRId64 ": %s at 0x%" PRIx64 ", %s in %s, %" PRIu64 " time%s",
			 process, l->pid, kind->uname, l->address, how, taker, r->n, s);
}

static void put_taken(struct locks *ls)
{
	taken_vec rows = { 0 };
	struct wait_stat none;
	size_t shown;

	gather_taken(ls, &rows);
	shown = wait_rows_shown(&ls->w, rows.len);
	wait_stat_init(&none, ls->w.bag.ngroups);
	for (size_t i = 0; i < shown; i++) {
		ls->w.group++;
		put_taken_row(ls, &rows.data[i], &none);
	}
	if (shown < rows.len)
		put_note(ls->w.t, "%zu more rows of locks that no thread waited for; `limit %zu' shows all.",
			 rows.len - shown, rows.len);
	if (ls->takings.all.len)
		put_note(ls->w.t, "Times are counts of `-s all': how often a lock was taken, with or without a wait.");
	wait_stat_fini(&none);
	vec_free(&rows);
}

/* Find the locks that were waited for among those that were counted. */
static void match_counts(struct locks *ls)
{
	struct map waits = { 0 };

	vec_for_each(s, &ls->w.bag.sums)
		map_put(&waits, s->key[KEY_LOCK], NULL);
	lock_takings_match(&ls->takings, &ls->set, &waits);
	map_free(&waits);
}

static void put_locks(struct wait_report *w)
{
	struct locks *ls = (struct locks *)w;
	struct wait_bag by_lock;
	sum_vec sums;
	size_t shown;

	match_counts(ls);
	join_locks(ls);
	wait_bag_by(&w->bag, 1 << KEY_LOCK, &by_lock);
	wait_bag_sorted(&by_lock, NULL, 0, &sums);
	shown = wait_rows_shown(w, sums.len);
	wait_row(w, &w->total, "<Total>");
	for (size_t i = 0; i < shown; i++) {
		uint32_t lock = sums.data[i]->key[KEY_LOCK];

		ls->w.group++;
		put_heading(ls, sums.data[i]);
		put_part(ls, lock, 1 << KEY_WAITER | 1 << KEY_PATH, "stack", waiter_of);
		put_part(ls, lock, 1 << KEY_HOLDER, "thread", holder_of);
		put_part(ls, lock, 1 << KEY_WAKER | 1 << KEY_WAKER_PATH, "stack", waker_of);
	}
	put_taken(ls);
	if (ls->idle.time_ns)
		put_note(ls->w.t, "Left out: %.3f sec. in which idle threads of language runtimes "
			 "waited for work.", ls->idle.time_ns / 1e9);
	if (shown < sums.len)
		put_note(ls->w.t, "%zu more locks; `limit %zu' shows all.", sums.len - shown, sums.len);
	vec_free(&sums);
	wait_bag_free(&by_lock);
}

static bool any_counted(const struct wait_report *w)
{
	return ((const struct locks *)w)->takings.all.len;
}

int view_locks(struct view_state *v, bool by_address, struct table *t, struct diag *d)
{
	static const struct wait_view addresses = {
		.name = "locks",
		.title = "User locks by address, most waited for first",
		.heading = "Lock", .what = "waits for user locks",
		.add = add_wait, .any = any_counted, .put = put_locks };
	static const struct wait_view places = {
		.name = "locks",
		.title = "User locks by where they are taken, most waited for first",
		.heading = "Lock", .what = "waits for user locks",
		.add = add_wait, .any = any_counted, .put = put_locks };
	struct locks ls = { .by_address = by_address, .set.session = v->session };

	wait_report_run(&ls.w, by_address ? &addresses : &places, v, t);
	lock_set_free(&ls.set);
	lock_takings_free(&ls.takings);
	vec_free(&ls.groups);
	return 0;
}
