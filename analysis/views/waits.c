/* SPDX-License-Identifier: GPL-2.0-or-later */
/* waits: time off the CPU by reason, and by stack below each reason. */
#include <stdlib.h>
#include <string.h>

#include "analysis/experiment/mstate.h"
#include "analysis/metrics/hit.h"
#include "analysis/views/columns.h"
#include "analysis/views/lockset.h"
#include "analysis/views/table.h"
#include "analysis/views/view_state.h"
#include "analysis/views/waitrows.h"

enum { KEY_HEADING, KEY_REASON, KEY_PATH, KEY_LOCK };

/* The reasons why a thread waits for a CPU are listed under one heading. */
#define WAIT_FOR_CPU "wait for a CPU"

struct waits {
	struct wait_report w; /* first member: the report's functions are given its address */
	struct lock_set locks;
};

/* A name of locks whose number is unknown would tell nothing here. */
static const char *lock_name(struct lock_set *locks, uint32_t lock)
{
	return locks->all.data[lock].taker ? "" : lock_set_name(locks, lock);
}

static void add_wait(void *ctx, const struct hit *h, const struct amount *amounts, size_t n)
{
	struct waits *ws = ctx;
	struct wait_report *w = &ws->w;
	uint32_t key[WAIT_KEYS] = { 0 };
	bool lock;

	if (!hit_is_wait(h))
		return;
	key[KEY_PATH] = wait_path(&w->paths, h->stack);
	lock = hit_state(h) == MS_USER_LOCK && !reason_is_rest(hit_reason(h));
	key[KEY_REASON] = wait_text_key(w, wait_reason_name(h));
	key[KEY_HEADING] = hit_state(h) == MS_WAIT_CPU ? wait_text_key(w, WAIT_FOR_CPU) :
							 key[KEY_REASON];
	key[KEY_LOCK] = wait_text_key(w, lock ? lock_name(&ws->locks, lock_set_id(&ws->locks, h)) : "");
	wait_report_add(w, h, key);
}

/* Whether the threads had no work. These waits take the most time and tell the least. */
static bool is_no_work(const struct wait_report *w, const struct wait_sum *s)
{
	const char *reason = wait_key_text(w, s->key[KEY_HEADING]);

	return !strcmp(reason, reason_descs[REASON_NO_WORK].uname) ||
	       !strcmp(reason, reason_descs[REASON_RUNTIME_IDLE].uname);
}

static const char *path_of(struct wait_report *w, const struct wait_sum *s)
{
	const char *lock = wait_key_text(w, s->key[KEY_LOCK]), *path, *ret;
	char *text;

	path = wait_path_text(w, s->key[KEY_PATH]);
	if (!*lock)
		return path;
	text = xasprintf("%s: %s", lock, path);
	ret = arena_strdup(&w->t->arena, text);
	free(text);
	return ret;
}

/* Add a row for each reason below a heading. Waits for a CPU first get a row with their sum. */
static void put_heading(struct wait_report *w, const struct wait_groups *in_heading, const struct wait_sum *heading)
{
	bool cpu = !strcmp(wait_key_text(w, heading->key[KEY_HEADING]), WAIT_FOR_CPU);
	sum_vec reasons;

	w->counted = true; /* it is a state */
	if (cpu)
		wait_row(w, &heading->stat, WAIT_FOR_CPU ":");
	w->counted = false;
	wait_groups_sorted(in_heading, heading->key, &reasons);
	vec_for_each(r, &reasons)
		wait_row(w, &(*r)->stat, "%s%s", cpu ? "  " : "", wait_key_text(w, (*r)->key[KEY_REASON]));
	vec_free(&reasons);
}

/* Add the stacks of one reason. */
static void put_stacks(struct wait_report *w, const struct wait_groups *of_reason, const struct wait_sum *reason)
{
	sum_vec sums;

	w->group++;
	wait_row(w, &reason->stat, "%s", wait_key_text(w, reason->key[KEY_REASON]));
	wait_groups_sorted(of_reason, reason->key, &sums);
	wait_rows(w, &sums, "stack", path_of);
	vec_free(&sums);
}

static void put_headings(struct wait_report *w, const struct wait_bag *by_reason)
{
	struct wait_groups reasons;
	struct wait_bag by_heading;
	sum_vec headings;

	wait_groups_init(&reasons, by_reason, 1);
	wait_bag_by(&w->bag, 1 << KEY_HEADING, &by_heading);
	wait_bag_sorted(&by_heading, &headings);
	for (int last = 0; last < 2; last++) {
		vec_for_each(h, &headings) {
			if (is_no_work(w, *h) == last)
				put_heading(w, &reasons, *h);
		}
	}
	vec_free(&headings);
	wait_bag_free(&by_heading);
	wait_groups_free(&reasons);
}

static void put_reasons(struct wait_report *w)
{
	struct wait_groups stacks;
	struct wait_bag by_reason;
	sum_vec reasons;

	wait_bag_by(&w->bag, 1 << KEY_HEADING | 1 << KEY_REASON, &by_reason);
	wait_bag_sorted(&by_reason, &reasons);
	wait_groups_init(&stacks, &w->bag, 2);
	wait_row(w, &w->total, "<Total>");
	put_headings(w, &by_reason);
	vec_for_each(r, &reasons) {
		if (!is_no_work(w, *r))
			put_stacks(w, &stacks, *r);
	}
	wait_groups_free(&stacks);
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
	struct waits ws = { .locks.session = v->session };

	wait_report_run(&ws.w, &view, v, t);
	lock_set_free(&ws.locks);
	return 0;
}
