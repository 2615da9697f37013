/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "user/record/snapshots.h"

#include <inttypes.h>
#include <linux/types.h>
#include <stdlib.h>

#include "analysis/base/alloc.h"
#include "analysis/base/buf.h"
#include "analysis/base/map.h"
#include "analysis/base/vec.h"
#include "bpf/snap.h"
#include "user/record/recording.h"

enum { ENDS_MAX = 32 << 10 }; /* bytes of ends in one element */

/* The times of a thread, in the order of `letters`. */
enum { SUMS = 4 + ER_OFF_STATES };

static const char letters[SUMS + 1] = "ruyztdklswp";

_Static_assert(ER_OFF_STATES == 7, "each state has a letter");

struct sums {
	int64_t ns[SUMS];
};

struct account {
	struct sums written; /* in all segments */
	struct sums earlier; /* in those before this one */
};

struct snapshots {
	struct recording *recording;
	struct map by_thread; /* to index in `accounts` */
	VEC(struct account) accounts;
	VEC(uint64_t) unused; /* indexes in `accounts` */
	struct buf snaps;     /* struct er_snap, that were taken */
	struct buf ends;      /* members */
	bool first;
};

struct snapshots *snapshots_new(struct recording *recording)
{
	struct snapshots *s = xcalloc(1, sizeof(*s));

	s->recording = recording;
	s->first = true;
	return s;
}

void snapshots_free(struct snapshots *s)
{
	if (!s)
		return;
	map_free(&s->by_thread);
	vec_free(&s->accounts);
	vec_free(&s->unused);
	buf_free(&s->snaps);
	buf_free(&s->ends);
	free(s);
}

bool snapshots_is_first(const struct snapshots *s)
{
	return s->first;
}

/* A thread begins anew after a pause, so the begin belongs to its name. */
static uint64_t key_of(uint64_t start_time, uint32_t tgid, uint32_t tid, uint64_t begin_ns)
{
	return hash64(start_time ^ hash64(begin_ns ^ hash64((uint64_t)tgid << 32 | tid)));
}

/* Valid until the next call. */
static struct account *need_account(struct snapshots *s, uint64_t key)
{
	bool fresh;
	uint64_t *at = map_put(&s->by_thread, key, &fresh);

	if (fresh && s->unused.len) {
		*at = s->unused.data[--s->unused.len];
		s->accounts.data[*at] = (struct account){ 0 };
	} else if (fresh) {
		*at = s->accounts.len;
		vec_push(&s->accounts, (struct account){ 0 });
	}
	return &s->accounts.data[*at];
}

static void drop_account(struct snapshots *s, uint64_t key)
{
	const uint64_t *at = map_get(&s->by_thread, key);

	if (at)
		vec_push(&s->unused, *at);
	map_remove(&s->by_thread, key);
}

/* --- members --- */

static int64_t since_start(const struct snapshots *s, uint64_t t)
{
	return (int64_t)(t - recording_start(s->recording));
}

static void put_thread(struct buf *b, uint32_t tgid, uint32_t tid, bool kthread)
{
	if (b->len)
		buf_puts(b, " ");
	if (kthread || tgid != tid)
		buf_printf(b, "%" PRIu32 "/", kthread ? 0 : tgid);
	buf_printf(b, "%" PRIu32, tid);
}

/* Write what `now` has more than the account, and note it there. */
static void put_difference(struct buf *b, struct account *a, const struct sums *now)
{
	for (int i = 0; i < SUMS; i++) {
		int64_t ns = now->ns[i] - a->written.ns[i];

		if (ns)
			buf_printf(b, "%c%" PRId64, letters[i], ns);
	}
	a->written = *now;
}

static void set_sums(struct sums *to, const uint64_t times[4], const __u64 off_ns[ER_OFF_STATES])
{
	for (int i = 0; i < 4; i++)
		to->ns[i] = (int64_t)times[i];
	for (int i = 0; i < ER_OFF_STATES; i++)
		to->ns[4 + i] = (int64_t)off_ns[i];
}

/* --- snapshots --- */

void snapshots_take(void *ctx, int cpu, const void *snap, size_t size)
{
	struct snapshots *s = ctx;

	if (size == sizeof(struct er_snap))
		buf_add(&s->snaps, snap, size);
}

/* PID/TID+LATE,STATE and the times. */
static void put_snap(struct snapshots *s, struct buf *b, const struct er_snap *sn, uint64_t time_ns)
{
	struct account *a =
		need_account(s, key_of(sn->start_time, sn->tgid, sn->tid, sn->begin_ns));
	uint32_t state = sn->state < ER_OFF_STATES ? sn->state + 4 : 0;
	struct sums now;

	set_sums(&now, (uint64_t[]){ sn->run_ns, sn->user_ns, sn->system_ns, sn->stolen_ns },
		 sn->off_ns);
	put_thread(b, sn->tgid, sn->tid, sn->flags & ER_TOTAL_KTHREAD);
	if (sn->time_ns > time_ns)
		buf_printf(b, "+%" PRIu64, (uint64_t)sn->time_ns - time_ns);
	buf_printf(b, ",%c", letters[state]);
	put_difference(b, a, &now);
}

void snapshots_write(struct snapshots *s, uint64_t time_ns, uint64_t took_ns)
{
	const struct er_snap *snaps = (const struct er_snap *)s->snaps.data;
	struct buf line = { 0 }, members = { 0 };

	snapshots_flush(s, false);
	for (size_t i = 0; i < s->snaps.len / sizeof(*snaps); i++)
		put_snap(s, &members, &snaps[i], time_ns);
	buf_printf(&line, "<snapshot at=\"%" PRId64 "\" took=\"%" PRIu64 "\" threads=\"%s\"/>",
		   since_start(s, time_ns), took_ns, members.len ? members.data : "");
	recording_snapshot(s->recording, line.data);
	buf_free(&line);
	buf_free(&members);
	buf_clear(&s->snaps);
	s->first = false;
}

/* --- ends --- */

/* What the thread has in all segments, this one included. */
static struct sums until_now(const struct account *a, const struct er_total *part)
{
	struct sums now;

	set_sums(&now,
		 (uint64_t[]){ part->run_ns, part->user_ns, part->system_ns, part->stolen_ns },
		 part->off_ns);
	for (int i = 0; i < SUMS; i++)
		now.ns[i] += a->earlier.ns[i];
	return now;
}

void snapshots_total(struct snapshots *s, const struct er_total *whole, const struct er_total *part)
{
	const struct er_task *task = &whole->task;
	uint64_t key = key_of(task->start_time, task->tgid, task->tid, whole->begin_ns);
	struct account *a = need_account(s, key);
	struct sums now = until_now(a, part);

	put_thread(&s->ends, task->tgid, task->tid, whole->flags & ER_TOTAL_KTHREAD);
	buf_printf(&s->ends, "+%" PRId64 ",", since_start(s, part->end_ns));
	put_difference(&s->ends, a, &now);
	a->earlier = now;
	if (!(whole->flags & ER_TOTAL_CUT))
		drop_account(s, key);
	if (s->ends.len > ENDS_MAX)
		snapshots_flush(s, false);
}

void snapshots_flush(struct snapshots *s, bool next)
{
	struct buf line = { 0 };

	if (next)
		s->first = true;
	if (!s->ends.len)
		return;
	buf_printf(&line, "<ends threads=\"%s\"/>", s->ends.data);
	recording_snapshot(s->recording, line.data);
	buf_free(&line);
	buf_clear(&s->ends);
}
