/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * locks: user locks that threads waited for. A lock is an address in a process. Some have none (lockset.h).
 * Where many objects each have a lock, all of these are taken at the same place. The report therefore joins
 * locks of one program that were waited for with a common stack, unless addresses are asked for.
 *
 * A recording with -s all also has how often each lock was taken. Locks that no thread waited for come last.
 */
#include <inttypes.h>
#include <stdlib.h>
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

/* Indexes of things by the lock that they are listed under: sort_by_group. */
struct listing {
	uint32_t *order, *first;
};

#define listing_for_each(i, l, lock)                                                               \
	for (const uint32_t *i = (l)->order + (l)->first[lock]; i < (l)->order + (l)->first[(lock) + 1]; i++)

struct locks {
	struct wait_report w; /* first member: the report's functions are given its address */
	bool by_address;
	struct lock_set set;
	VEC(struct group) groups; /* indexed by lock */
	struct lock_takings takings;
	struct wait_stat idle;    /* waits of runtimes' threads at rest, which belong to no lock */
	struct listing members, waits, counts; /* locks of the set, sums of the bag, takings */
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
	if (reason_is_rest(hit_reason(h))) {
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
	bool told = user_lock_told(&ls->set.all.data[s->key[KEY_LOCK]]);
	const uint64_t *known = map_get(by_place, place_of(ls, s));
	uint64_t *first;
	bool fresh;

	if (told || known)
		return told ? s->key[KEY_LOCK] : *known;
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

		if (!user_lock_told(&ls->set.all.data[s->key[KEY_LOCK]]))
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
 * function, several, or none. A method that was interpreted, and then compiled, is one.
 */
static const char *taken_in(struct locks *ls, uint32_t lock)
{
	const char *taker = NULL;

	listing_for_each(i, &ls->waits, lock) {
		const struct func *f = wait_path_taker(&ls->w.paths, ls->w.bag.sums.data[*i].key[KEY_PATH]);

		if (f && taker && strcmp(func_name(ls->w.v, f), taker))
			return "several functions";
		taker = f ? func_name(ls->w.v, f) : taker;
	}
	return taker ? taker : "a function that no stack shows";
}

/* What its waits were for: "mutex", …; "lock" if no stack tells, or if they differ. */
static const char *kind_of(struct locks *ls, uint32_t lock)
{
	const char *unknown = lock_descs[ER_LOCK_UNKNOWN].uname, *kind = unknown;

	listing_for_each(i, &ls->waits, lock) {
		uint32_t path = ls->w.bag.sums.data[*i].key[KEY_PATH];
		const char *one = lock_descs[wait_path_lock_kind(&ls->w.paths, path)].uname;

		if (one != unknown && kind != unknown && strcmp(kind, one))
			return unknown;
		kind = one != unknown ? one : kind;
	}
	return kind;
}

/* ", 17 times": how often the locks of a group were taken; "" if that was not counted. */
static char *times_of(const struct locks *ls, uint32_t lock)
{
	uint64_t n = 0;

	listing_for_each(i, &ls->counts, lock)
		n += ls->takings.all.data[*i].n;
	return n ? xasprintf(", %" PRIu64 " time%s", n, n == 1 ? "" : "s") : xstrdup("");
}

/* The name of all locks that are listed under this one; "": they differ, or have none. Counts locks and processes. */
static const char *common_name(struct locks *ls, uint32_t lock, size_t *naddresses, size_t *nprocesses)
{
	const char *name = lock_set_name(&ls->set, lock);
	struct map processes = { 0 };

	listing_for_each(i, &ls->members, lock) {
		map_put(&processes, ls->set.all.data[*i].pid, NULL);
		if (strcmp(name, lock_set_name(&ls->set, *i)))
			name = "";
	}
	*naddresses = ls->members.first[lock + 1] - ls->members.first[lock];
	*nprocesses = processes.len;
	map_free(&processes);
	return name;
}

/* Name a group by its process and its name or address, or by its number of locks. */
static void put_heading(struct locks *ls, const struct wait_sum *s)
{
	uint32_t id = s->key[KEY_LOCK];
	const struct user_lock *l = &ls->set.all.data[id];
	const char *process = wait_key_text(&ls->w, ls->groups.data[id].process);
	const char *taken = taken_in(ls, id), *kind = kind_of(ls, id), *first = lock_set_name(&ls->set, id);
	bool known = lock_set_known(&ls->set, id);
	__cleanup(freep) char *lock = known ? xstrdup(first) : xasprintf("%s %s", kind, first);
	__cleanup(freep) char *times = times_of(ls, id);
	size_t naddresses, nprocesses;
	const char *name = common_name(ls, id, &naddresses, &nprocesses);

	if (!user_lock_told(l))
		wait_row(&ls->w, &s->stat, "%s: locks that are not known", process);
	else if (*name && nprocesses == 1)
		wait_row(&ls->w, &s->stat, "%s, PID %" PRId64 ": %s, taken in %s%s", process,
			 l->pid, lock, taken, times);
	else if (*name)
		wait_row(&ls->w, &s->stat, "%s: %s in %zu processes, taken in %s%s", process, lock,
			 nprocesses, taken, times);
	else if (naddresses == 1)
		wait_row(&ls->w, &s->stat, "%s, PID %" PRId64 ": %s at 0x%" PRIx64 ", taken in %s%s", process,
			 l->pid, kind, l->address, taken, times);
	else if (nprocesses == 1)
		wait_row(&ls->w, &s->stat, "%s, PID %" PRId64 ": %zu locks taken at the same places, in %s%s",
			 process, l->pid, naddresses, taken, times);
	else
		wait_row(&ls->w, &s->stat, "%s: %zu locks in %zu processes, taken at the same places, in %s%s",
			 process, naddresses, nprocesses, taken, times);
}

/* Whether no holder is known for any wait; the report then says nothing about holders. */
static bool nobody_known(const struct wait_report *w, const sum_vec *sums, unsigned mask)
{
	return mask == 1 << KEY_HOLDER && sums->len == 1 &&
	       !*wait_key_text(w, sums->data[0]->key[KEY_HOLDER]);
}

/* The report lists three things of each lock: who waited, who held it, and who let it go. This is one of them. */
struct part {
	unsigned mask; /* of keys, besides that of the lock */
	const char *more;
	const char *(*text)(struct wait_report *w, const struct wait_sum *s);
};

static const struct part parts[] = {
	{ 1 << KEY_WAITER | 1 << KEY_PATH, "stack", waiter_of },
	{ 1 << KEY_HOLDER, "thread", holder_of },
	{ 1 << KEY_WAKER | 1 << KEY_WAKER_PATH, "stack", waker_of },
};

enum { PARTS = sizeof(parts) / sizeof(parts[0]) };

/* The sums of each part, for all locks at once. */
struct part_sums {
	struct wait_bag by[PARTS];
	struct wait_groups of_lock[PARTS];
};

static void make_parts(const struct wait_bag *bag, struct part_sums *ret)
{
	for (int i = 0; i < PARTS; i++) {
		wait_bag_by(bag, parts[i].mask | 1 << KEY_LOCK, &ret->by[i]);
		wait_groups_init(&ret->of_lock[i], &ret->by[i], 1);
	}
}

static void free_parts(struct part_sums *p)
{
	for (int i = 0; i < PARTS; i++) {
		wait_groups_free(&p->of_lock[i]);
		wait_bag_free(&p->by[i]);
	}
}

static void put_parts(struct locks *ls, const struct part_sums *p, const struct wait_sum *lock)
{
	for (int i = 0; i < PARTS; i++) {
		sum_vec sums;

		wait_groups_sorted(&p->of_lock[i], lock->key, &sums);
		if (!nobody_known(&ls->w, &sums, parts[i].mask))
			wait_rows(&ls->w, &sums, parts[i].more, parts[i].text);
		vec_free(&sums);
	}
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

/* After join_locks: find out what is listed under each lock. */
static void group_locks(struct locks *ls)
{
	size_t nlocks = ls->groups.len, nsums = ls->w.bag.sums.len, ncounts = ls->takings.all.len, i;
	uint32_t *lock = xcalloc(nlocks + nsums + ncounts + 1, sizeof(*lock));

	for (i = 0; i < nlocks; i++)
		lock[i] = leader_of(ls, i);
	ls->members.order = sort_by_group(lock, nlocks, nlocks, &ls->members.first);
	for (i = 0; i < nsums; i++)
		lock[i] = ls->w.bag.sums.data[i].key[KEY_LOCK];
	ls->waits.order = sort_by_group(lock, nsums, nlocks, &ls->waits.first);
	for (i = 0; i < ncounts; i++) {
		uint32_t waited = ls->takings.all.data[i].waited;

		/* Locks that no thread waited for make one more group. */
		lock[i] = waited == LOCK_NOT_WAITED ? nlocks : leader_of(ls, waited);
	}
	ls->counts.order = sort_by_group(lock, ncounts, nlocks + 1, &ls->counts.first);
	free(lock);
}

static void listing_free(struct listing *l)
{
	free(l->order);
	free(l->first);
}

static void put_locks(struct wait_report *w)
{
	struct locks *ls = (struct locks *)w;
	struct part_sums sums_of;
	struct wait_bag by_lock;
	sum_vec sums;
	size_t shown;

	match_counts(ls);
	join_locks(ls);
	group_locks(ls);
	wait_bag_by(&w->bag, 1 << KEY_LOCK, &by_lock);
	make_parts(&w->bag, &sums_of);
	wait_bag_sorted(&by_lock, &sums);
	shown = wait_rows_shown(w, sums.len);
	wait_row(w, &w->total, "<Total>");
	for (size_t i = 0; i < shown; i++) {
		ls->w.group++;
		put_heading(ls, sums.data[i]);
		put_parts(ls, &sums_of, sums.data[i]);
	}
	put_taken(ls);
	if (ls->idle.time_ns)
		put_note(ls->w.t, "Left out: %.3f sec. in which threads of language runtimes "
			 "waited for work or slept.", ls->idle.time_ns / 1e9);
	if (shown < sums.len)
		put_note(ls->w.t, "%zu more locks; `limit %zu' shows all.", sums.len - shown, sums.len);
	vec_free(&sums);
	free_parts(&sums_of);
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
	listing_free(&ls.members);
	listing_free(&ls.waits);
	listing_free(&ls.counts);
	return 0;
}
