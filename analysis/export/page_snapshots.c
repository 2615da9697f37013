/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A step of a thread becomes a record of the second that it belongs to. The record also says in
 * which state the thread was in the seconds before it, if the thread has no step there. So the page
 * adds up records, and needs to know nothing about lives of threads.
 */
#include "analysis/export/page_snapshots.h"

#include <inttypes.h>

#include "analysis/base/diag.h"
#include "analysis/base/map.h"
#include "analysis/base/wrap.h"
#include "analysis/experiment/exp_snapshots.h"
#include "analysis/experiment/exp_threads.h"
#include "analysis/export/export.h"
#include "analysis/export/page_events.h"
#include "analysis/metrics/filter.h"
#include "analysis/metrics/hit.h"
#include "analysis/metrics/pass.h"
#include "analysis/model/names.h"
#include "analysis/views/view_state.h"

/* Bytes of a pack before it is compressed; the browser decodes one without a pause. */
enum { PACK_BYTES = 1 << 20 };

/* The packs take at most this part of the page. */
enum { PAGE_PART = 4 };

/* The times of a record, the frequent ones first. The last two are parts of the first. */
static const int kinds[] = { MS_LINUX_CPU, MS_SLEEP,  MS_WAIT_CPU, MS_USER_LOCK, MS_DFAULT,
			     MS_TFAULT,	   MS_KFAULT, MS_STOPPED,  MS_USER,	 MS_SYSTEM };

enum { NKINDS = sizeof(kinds) / sizeof(kinds[0]), NSUMMED = NKINDS - 2, KIND_BITS = 4 };

/* The threads of the page that a step belongs to: its own, and that with the sums of its fold. */
struct owners {
	uint32_t own, fold; /* index + 1; 0: none */
};

struct second {
	struct pack records;
	size_t n;
	uint32_t last; /* owners of the record before */
};

struct snapping {
	const struct export *x;
	const struct page_events *events;
	struct map threads, folds; /* to index in events->threads */
	struct map chosen;         /* by er_print's filter: see is_chosen */
	struct map owner_ids;
	VEC(struct owners) owners;
	/* of the experiment at hand */
	const struct experiment *e;
	const struct exp_snapshots *s;
	bool split; /* user and system time are exact */
	VEC(struct second) seconds;
	struct buf vague;
	/* of all */
	struct buf json;
	struct pack times, pack;
	size_t nexps, npacks, room;
	packed_vec *packs;
};

/* --- threads --- */

static uint64_t thread_key(const struct experiment *e, int64_t pid, int64_t tid)
{
	return hash64(e->id ^ hash64((uint64_t)pid << 32 | (uint32_t)tid));
}

/* Only threads with events, because er_print's filter chooses those. */
static void know_threads(struct snapping *sn)
{
	for (size_t i = 0; i < sn->events->threads.len; i++) {
		const struct page_thread *t = &sn->events->threads.data[i];

		if (!t->n)
			continue;
		*map_put(&sn->threads, thread_key(t->origin, t->pid, t->tid), NULL) = i;
		if (t->sums)
			*map_put(&sn->folds, hash64((uintptr_t)t->sums), NULL) = i;
	}
}

/*
 * Whether er_print's filter chooses the thread, also one that has no event in the times of the page: it may have
 * waited through them.
 */
static bool is_chosen(const struct snapping *sn, const struct exp_step *st)
{
	return !sn->x->threads || map_get(&sn->chosen, thread_key(sn->e->origin, st->pid, st->tid));
}

static void choose(void *ctx, const struct hit *h, const struct amount *amounts, size_t n)
{
	struct snapping *sn = ctx;

	map_put(&sn->chosen, thread_key(h->e->origin, hit_pid(h), hit_thread(h)), NULL);
}

static struct owners owners_of(const struct snapping *sn, const struct exp_step *st)
{
	const struct names *names = session_names(sn->x->view->session);
	const struct exp_fold *fold =
		folded_at(&names->folded, sn->e, st->pid, st->tid,
			  wrap_plus(st->own_ns, experiment_offset_ns(sn->e)));
	const uint64_t *own = map_get(&sn->threads, thread_key(sn->e->origin, st->pid, st->tid));
	const uint64_t *sums = fold ? map_get(&sn->folds, hash64((uintptr_t)folded_whole(&names->folded, fold))) : NULL;

	return (struct owners){ own ? 1 + *own : 0, sums ? 1 + *sums : 0 };
}

/* A thread that the page does not have is an owner of its own, so that it counts as one. */
static uint32_t owners_index(struct snapping *sn, struct owners o, const struct exp_step *st)
{
	static const uint64_t unknown = 1ULL << 63;
	bool known = o.own || o.fold, fresh;
	uint64_t *at = map_put(&sn->owner_ids, known ? (uint64_t)o.own << 32 | o.fold :
			       unknown | thread_key(sn->e->origin, st->pid, st->tid), &fresh);

	if (fresh) {
		*at = sn->owners.len;
		vec_push(&sn->owners, o);
	}
	return *at;
}

/* --- records --- */

/* The time between the instants that limit the second. */
static int64_t second_length(const struct exp_snapshots *s, size_t second)
{
	int64_t begin = second ? s->instants.data[second - 1].at_ns : 0;

	return wrap_minus(second < s->instants.len ? s->instants.data[second].at_ns : s->e->end_ns,
			  begin);
}

static int64_t time_of(const struct exp_step *st, size_t kind)
{
	switch (kinds[kind]) {
	case MS_LINUX_CPU:
		return st->ns.run_ns;
	case MS_USER:
		return st->ns.user_ns;
	case MS_SYSTEM:
		return st->ns.system_ns;
	default:
		return st->ns.off_ns[kinds[kind]];
	}
}

static size_t kind_of_state(int state)
{
	for (size_t i = 0; i < NSUMMED; i++) {
		if (kinds[i] == state)
			return i;
	}
	return 0;
}

/*
 * Usually the times add up to the length of the second, so one of them need not be written: the
 * longest is what the others leave of it, and a difference that is mostly 0.
 */
static void put_times(struct pack *p, const int64_t ns[NKINDS], size_t n, size_t longest,
		      int64_t length)
{
	for (size_t i = 0; i < NSUMMED; i++)
		length = i == longest ? length : wrap_minus(length, ns[i]);
	for (size_t i = 0; i < n; i++) {
		if (i == longest || ns[i])
			pack_int(p, i == longest ? wrap_minus(ns[i], length) : ns[i]);
	}
}

static void put_record(struct snapping *sn, struct second *sec, const struct exp_step *st,
		       uint32_t owners, size_t nbefore)
{
	size_t n = sn->split ? NKINDS : NSUMMED, longest = 0;
	int64_t ns[NKINDS] = { 0 };
	unsigned mask = 0;

	for (size_t i = 0; i < n; i++) {
		ns[i] = time_of(st, i);
		mask |= (ns[i] != 0) << i;
		longest = i < NSUMMED && ns[i] > ns[longest] ? i : longest;
	}
	mask |= 1 << longest;
	pack_int(&sec->records, (int64_t)owners - sec->last);
	pack_uint(&sec->records, (mask << KIND_BITS | longest) << 1 | (nbefore > 0));
	if (nbefore) {
		pack_uint(&sec->records, nbefore);
		pack_uint(&sec->records, kind_of_state(st->before));
		pack_int(&sec->records, wrap_minus(st->before_own_ns, st->before_at_ns));
	}
	put_times(&sec->records, ns, n, longest, second_length(sn->s, st->second));
	sec->last = owners;
	sec->n++;
}

static void note_vague(struct snapping *sn, const struct exp_step *st, uint32_t owners)
{
	buf_printf(&sn->vague, "%s[%" PRIu32 ",%zu,%zu,%" PRId64 "]", sn->vague.len ? "," : "",
		   owners, exp_snapshots_until(sn->s, st->begin_ns), st->second,
		   exp_span_of_thread_sum(&st->ns));
}

static void take_step(void *ctx, const struct exp_step *st)
{
	struct snapping *sn = ctx;
	struct owners o = owners_of(sn, st);
	size_t nbefore = 0;
	uint32_t owners;

	if (!o.own && !o.fold && !is_chosen(sn, st))
		return;
	owners = owners_index(sn, o, st);
	if (st->before >= 0)
		nbefore = st->second - 1 -
			  exp_snapshots_until(sn->s, wrap_minus(st->before_at_ns, 1));
	if (st->is_vague)
		note_vague(sn, st, owners);
	put_record(sn, &sn->seconds.data[st->second], st, owners, nbefore);
}

/* --- packs --- */

static void finish_pack(struct snapping *sn)
{
	if (!sn->pack.bytes.len)
		return;
	pack_end(&sn->pack);
	vec_push(sn->packs, pack_compress(&sn->pack));
	sn->room += packed_room(&sn->packs->data[sn->packs->len - 1]);
	pack_clear(&sn->pack);
}

/* A pack can end after any second. */
static void put_seconds(struct snapping *sn)
{
	for (size_t i = 0; i < sn->seconds.len; i++) {
		struct second *sec = &sn->seconds.data[i];

		if (!sn->pack.bytes.len)
			pack_begin(&sn->pack, "snap");
		pack_uint(&sn->pack, sn->nexps);
		pack_uint(&sn->pack, i);
		pack_uint(&sn->pack, sec->n);
		buf_add(&sn->pack.bytes, sec->records.bytes.data, sec->records.bytes.len);
		pack_free(&sec->records);
		if (sn->pack.bytes.len > PACK_BYTES)
			finish_pack(sn);
	}
}

/* Members of the index: the experiment, and what exact_states says below its table. */
static void put_experiment(struct snapping *sn)
{
	int64_t before = 0;

	buf_printf(&sn->json,
		   "%s{\"exp\":%" PRIu32 ",\"begin\":%" PRId64 ",\"n\":%zu,\"took\":%" PRId64
		   ",\"split\":%s,\"vague\":[%s]}",
		   sn->nexps ? "," : "", sn->e->origin->id, experiment_offset_ns(sn->e), sn->seconds.len,
		   sn->s->took_ns,
		   sn->split ? "true" : "false", sn->vague.len ? sn->vague.data : "");
	for (size_t i = 0; i < sn->seconds.len; i++) {
		int64_t at =
			i < sn->s->instants.len ? sn->s->instants.data[i].at_ns : sn->e->end_ns;

		pack_int(&sn->times, wrap_minus(at, before));
		before = at;
	}
}

static bool is_split(const struct experiment *e)
{
	vec_for_each (th, &e->threads) {
		if (th->split && !th->fold)
			return true;
	}
	return false;
}

static void take_experiment(struct snapping *sn, struct experiment *e)
{
	struct exp_snapshots *s = exp_snapshots_open(e);

	if (!s)
		return;
	sn->e = e;
	sn->s = s;
	sn->split = is_split(e);
	for (size_t i = 0; i <= s->instants.len; i++)
		vec_push(&sn->seconds, (struct second){ 0 });
	exp_snapshots_each(s, take_step, sn);
	put_experiment(sn);
	put_seconds(sn);
	vec_free(&sn->seconds);
	buf_free(&sn->vague);
	sn->nexps++;
	exp_snapshots_close(s);
}

/* --- the index --- */

static enum filter_choice choice(const struct export *x)
{
	return x->threads ? filter_chooses(x->threads) : CHOOSES_THREADS;
}

static void put_limit(struct buf *b, const char *name, int64_t ns, int64_t none)
{
	if (ns != none)
		buf_printf(b, ",\"%s\":%" PRId64, name, ns);
}

static void put_index(const struct snapping *sn, const char *why, struct pack *index)
{
	struct buf *b = &index->bytes;

	pack_begin(index, "snjs");
	buf_printf(b, "{\"packs\":%zu,\"why\":\"%s\",\"named\":%s,\"exps\":[%s]", sn->packs->len, why,
		   choice(sn->x) == CHOOSES_NAMES ? "true" : "false", sn->json.data);
	put_limit(b, "from", sn->x->from_ns, 0);
	put_limit(b, "to", sn->x->to_ns, INT64_MAX);
	buf_puts(b, "}");
	pack_end(index);
	pack_begin(index, "snat");
	buf_add(b, sn->times.bytes.data, sn->times.bytes.len);
	pack_end(index);
	pack_begin(index, "snow");
	vec_for_each (o, &sn->owners) {
		pack_uint(index, o->own);
		pack_uint(index, o->fold);
	}
	pack_end(index);
}

static void free_all(struct snapping *sn)
{
	map_free(&sn->threads);
	map_free(&sn->folds);
	map_free(&sn->chosen);
	map_free(&sn->owner_ids);
	vec_free(&sn->owners);
	buf_free(&sn->json);
	pack_free(&sn->times);
	pack_free(&sn->pack);
}

/* Why the page gets no packs; "": it gets them. */
static const char *why_none(const struct snapping *sn)
{
	const struct export *x = sn->x;

	if (x->view->selection.experiments.len || choice(x) == CHOOSES_PACKETS)
		return "filter";
	if (!x->page_size || sn->room <= x->page_size / PAGE_PART)
		return "";
	diag_note(x->diag,
		  "the exact states of seconds need %.1f MB, more than a quarter of --page-size: "
		  "the page estimates the states of a range",
		  (double)sn->room / (1 << 20));
	return "size";
}

void make_snapshots(const struct export *x, const struct page_events *events, struct pack *index,
		    packed_vec *ret)
{
	struct snapping sn = { .x = x, .events = events, .packs = ret };
	const char *why;

	know_threads(&sn);
	if (x->threads)
		pass_run(x->view->session, NULL, x->threads, choose, NULL, &sn);
	vec_for_each (e, &x->view->session->experiments) {
		if (!(*e)->founder)
			take_experiment(&sn, *e);
	}
	finish_pack(&sn);
	why = why_none(&sn);
	if (*why)
		packs_free(ret);
	if (sn.nexps)
		put_index(&sn, why, index);
	free_all(&sn);
}
