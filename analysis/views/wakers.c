/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * wakers: which threads ended the waits of which others, what the waiting thread waited for, and
 * where the waking thread was. Time is how long the woken thread had waited.
 */
#include <string.h>

#include "analysis/experiment/mstate.h"
#include "analysis/metrics/hit.h"
#include "analysis/views/columns.h"
#include "analysis/views/table.h"
#include "analysis/views/view_state.h"
#include "analysis/views/waitrows.h"

enum { KEY_WAKER, KEY_WOKEN, KEY_REASON, KEY_WAKER_PATH, KEY_PATH };

static void add_wait(void *ctx, const struct hit *h, const struct amount *amounts, size_t n)
{
	struct wait_report *w = ctx;
	uint32_t key[WAIT_KEYS] = { 0 };

	if (!hit_is_wait(h) || hit_state(h) == MS_WAIT_CPU)
		return;
	key[KEY_WAKER] = wait_waker_key(w, h);
	key[KEY_WOKEN] = wait_thread_key(w, h, hit_pid(h), hit_thread(h));
	key[KEY_REASON] = wait_text_key(w, wait_reason_name(h));
	key[KEY_WAKER_PATH] = wait_path(&w->paths, wait_has_waker(h) ? hit_waker_stack(h) :
					session_no_stack(h->session));
	key[KEY_PATH] = wait_path(&w->paths, h->stack);
	wait_report_add(w, h, key);
}

static void put_pair(struct wait_report *w, const struct wait_sum *s)
{
	wait_row(w, &s->stat, "%s -> %s", wait_key_text(w, s->key[KEY_WAKER]),
		 wait_key_text(w, s->key[KEY_WOKEN]));
}

static const char *way_text(struct wait_report *w, const struct wait_sum *s)
{
	bool thread = *wait_key_text(w, s->key[KEY_WAKER]) != '<';
	char *text = thread ? xasprintf("%s, by %s; waited in %s", wait_key_text(w, s->key[KEY_REASON]),
					wait_path_text(w, s->key[KEY_WAKER_PATH]),
					wait_path_text(w, s->key[KEY_PATH])) :
			      xasprintf("%s; waited in %s", wait_key_text(w, s->key[KEY_REASON]),
					wait_path_text(w, s->key[KEY_PATH]));
	const char *ret = arena_strdup(&w->t->arena, text);

	free(text);
	return ret;
}

static void put_ways(struct wait_report *w, const struct wait_groups *by_pair, const struct wait_sum *pair)
{
	sum_vec ways;

	w->group++;
	put_pair(w, pair);
	wait_groups_sorted(by_pair, pair->key, &ways);
	wait_rows(w, &ways, "way", way_text);
	vec_free(&ways);
}

/* Whether nothing is known to have ended these waits. */
static bool has_no_end(const struct wait_report *w, const struct wait_sum *s)
{
	const char *waker = wait_key_text(w, s->key[KEY_WAKER]);

	return !strcmp(waker, WAIT_OPEN) || !strcmp(waker, WAIT_REST);
}

/* List rows with a known end before those without, each in sort order. */
static void put_ends_first(const struct wait_report *w, sum_vec *pairs)
{
	sum_vec sorted = { 0 };

	for (int none = 0; none < 2; none++) {
		vec_for_each(p, pairs) {
			if (has_no_end(w, *p) == none)
				vec_push(&sorted, *p);
		}
	}
	vec_free(pairs);
	*pairs = sorted;
}

static void put_pairs(struct wait_report *w)
{
	struct wait_groups ways;
	struct wait_bag by_pair;
	sum_vec pairs;
	size_t shown;

	wait_bag_by(&w->bag, 1 << KEY_WAKER | 1 << KEY_WOKEN, &by_pair);
	wait_bag_sorted(&by_pair, &pairs);
	put_ends_first(w, &pairs);
	shown = wait_rows_shown(w, pairs.len);
	wait_row(w, &w->total, "<Total>");
	for (size_t i = 0; i < shown; i++)
		put_pair(w, pairs.data[i]);
	wait_groups_init(&ways, &w->bag, 2);
	for (size_t i = 0; i < shown; i++)
		put_ways(w, &ways, pairs.data[i]);
	wait_groups_free(&ways);
	if (shown < pairs.len)
		put_note(w->t, "%zu more pairs; `limit %zu' shows all.", pairs.len - shown, pairs.len);
	vec_free(&pairs);
	wait_bag_free(&by_pair);
}

int view_wakers(struct view_state *v, struct table *t, struct diag *d)
{
	static const struct wait_view view = { .name = "wakers",
					       .title = "Threads that ended the waits of others, most time first",
					       .heading = "Waker -> waiting thread",
					       .what = "waits",
					       .add = add_wait,
					       .put = put_pairs };
	struct wait_report w;

	wait_report_run(&w, &view, v, t);
	return 0;
}
