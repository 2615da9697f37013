/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * waits: where time goes while nobody computes, by reason and, below each, by stack.
 */
#include <string.h>

#include "analysis/views/columns.h"
#include "analysis/views/waitrows.h"

enum { KEY_REASON, KEY_PATH };

static void add_wait(void *ctx, const struct hit *h, const struct amount *amounts, size_t n)
{
	struct wait_report *w = ctx;
	uint32_t key[WAIT_KEYS] = { 0 };

	if (!hit_is_wait(h))
		return;
	key[KEY_REASON] = wait_text_key(w, wait_reason_name(h));
	key[KEY_PATH] = wait_path(&w->paths, h->stack);
	wait_report_add(w, h, key);
}

/* Of kernel threads that have nothing to do there is always most, and nothing to learn. */
static bool is_no_work(const struct wait_report *w, const struct wait_sum *s)
{
	return !strcmp(wait_key_text(w, s->key[KEY_REASON]), reason_descs[REASON_NO_WORK].uname);
}

static const char *path_of(struct wait_report *w, const struct wait_sum *s)
{
	return wait_path_text(w, s->key[KEY_PATH]);
}

/* The stacks of one reason. */
static void put_stacks(struct wait_report *w, const struct wait_sum *reason)
{
	sum_vec sums;

	w->group++;
	wait_row(w, &reason->stat, "%s", wait_key_text(w, reason->key[KEY_REASON]));
	wait_bag_sorted(&w->bag, &reason->key[KEY_REASON], 1, &sums);
	wait_rows(w, &sums, "stack", path_of);
	vec_free(&sums);
}

static void put_reasons(struct wait_report *w)
{
	struct wait_bag by_reason;
	sum_vec reasons;

	wait_bag_by(&w->bag, 1 << KEY_REASON, &by_reason);
	wait_bag_sorted(&by_reason, NULL, 0, &reasons);
	wait_row(w, &w->total, "<Total>");
	for (int last = 0; last < 2; last++) {
		vec_for_each(r, &reasons) {
			if (is_no_work(w, *r) == last)
				wait_row(w, &(*r)->stat, "%s", wait_key_text(w, (*r)->key[KEY_REASON]));
		}
	}
	vec_for_each(r, &reasons) {
		if (!is_no_work(w, *r))
			put_stacks(w, *r);
	}
	vec_free(&reasons);
	wait_bag_free(&by_reason);
}

int view_waits(struct view_state *v, struct table *t, struct diag *d)
{
	static const struct wait_view view = { .name = "waits",
					       .title = "Waits by reason and stack, most time first",
					       .heading = "Reason, stack",
					       .what = "waits",
					       .add = add_wait,
					       .put = put_reasons };
	struct wait_report w;

	wait_report_run(&w, &view, v, t);
	return 0;
}
