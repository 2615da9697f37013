/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/views/waitrows.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "analysis/base/buf.h"
#include "analysis/experiment/exp_threads.h"
#include "analysis/metrics/hit.h"
#include "analysis/views/columns.h"
#include "analysis/views/table.h"
#include "analysis/views/view_state.h"

enum { ROWS_SHOWN = 8 };

void wait_report_init(struct wait_report *w, struct view_state *v, struct table *t)
{
	*w = (struct wait_report){ .v = v, .t = t, .names = session_names(v->session),
				   .compare = v->metric_set->compare };
	if (w->compare)
		w->bag.ngroups = v->session->groups.len;
	w->bag.by_difference = w->compare > COMPARE_ON;
	wait_paths_init(&w->paths, v->session, v->all_frames);
}

struct wait_count wait_report_add(struct wait_report *w, const struct hit *h,
				  const uint32_t key[WAIT_KEYS])
{
	struct wait_count n = wait_counts_of(w->counts, h);

	wait_stat_add(wait_bag_at(&w->bag, key), h, n);
	return n;
}

void wait_report_end(struct wait_report *w)
{
	if (w->total.count > 0 && !w->compare)
		put_note(w->t, "Lengths by decade: < is below 1 us, u begins at 1 us, m at 1 ms, s at "
			 "1 s, > is above 10 s; `.' is few, `#' most.");
	if (w->estimates)
		put_note(w->t, "~ marks an estimate: only a sample of the waits was recorded%s. Longest "
			 "covers recorded waits only.", w->v->errors ? "" :
			 "; `errors on' shows standard errors");
	if (w->bag.by_difference)
		put_note(w->t, "Sorted by the difference in time, the largest first.");
	wait_stat_fini(&w->total);
	wait_counts_free(w->counts);
	wait_paths_free(&w->paths);
	strtab_free(&w->texts);
	map_free(&w->kinds);
	map_free(&w->by_thread);
	vec_free(&w->threads);
	wait_bag_free(&w->bag);
}

enum { COL_TIME, COL_PERCENT, COL_TIME_ERROR, COL_COUNT, COL_ERROR, COL_MEAN, COL_LONGEST, COL_LENGTHS,
       COL_TEXT };

static void put_columns(struct table *t, const char *heading, bool errors)
{
	static const struct column columns[] = {
		[COL_TIME] = { .kind = CELL_TIME, .title = { "Time", "", "sec." }, .sorted = true },
		[COL_PERCENT] = { .kind = CELL_PERCENT, .title = { "Time", "", "%" } },
		[COL_TIME_ERROR] = { .kind = CELL_TIME, .title = { "Time Std.", "Error", "sec." },
				     .full = { "Time Standard", "Error" } },
		[COL_COUNT] = { .kind = CELL_COUNT, .title = { "Waits" } },
		[COL_ERROR] = { .kind = CELL_COUNT, .title = { "Waits", "Std.", "Error" },
				.full = { "Waits Standard", "Error" } },
		[COL_MEAN] = { .kind = CELL_MSEC, .title = { "Mean", NULL, "ms" }, .spare = 1 },
		[COL_LONGEST] = { .kind = CELL_MSEC, .title = { "Longest", NULL, "ms" }, .spare = 2 },
		[COL_LENGTHS] = { .kind = CELL_HIST, .title = { "Lengths", NULL, "<u  m  s>" },
				  .spare = 3 },
		[COL_TEXT] = { .kind = CELL_TEXT, .wrap = true },
	};

	for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++)
		vec_push(&t->columns, columns[i]);
	t->columns.data[COL_TEXT].title[0] = heading;
	t->columns.data[COL_TIME_ERROR].hidden = t->columns.data[COL_ERROR].hidden = !errors;
}

/* The columns of each group when groups are compared. */
enum { GROUP_TIME, GROUP_COUNT, GROUP_MEAN, GROUP_COLUMNS };

static void put_group_columns(struct wait_report *w, const char *heading)
{
	static const struct column columns[] = {
		[GROUP_TIME] = { .kind = CELL_TIME, .title = { "Time", "", "sec." } },
		[GROUP_COUNT] = { .kind = CELL_COUNT, .title = { "Waits" } },
		[GROUP_MEAN] = { .kind = CELL_MSEC, .title = { "Mean", NULL, "ms" } },
	};

	for (unsigned g = 0; g < w->bag.ngroups; g++) {
		for (int i = 0; i < GROUP_COLUMNS; i++) {
			struct column c = columns[i];

			c.group = w->v->session->groups.data[g];
			c.sorted = i == GROUP_TIME && !g;
			if (g && w->compare > COMPARE_ON)
				c.title[2] = w->compare == COMPARE_DELTA ? "delta" : "ratio";
			if (g && w->compare == COMPARE_RATIO)
				c.kind = CELL_TIMES;
			vec_push(&w->t->columns, c);
		}
	}
	vec_push(&w->t->columns, (struct column){ .kind = CELL_TEXT, .title = { heading }, .wrap = true });
}

static void put_group(struct wait_report *w, struct cell *cells, const struct wait_stat *ws,
		      const struct wait_stat *first, bool counted)
{
	enum compare how = ws == first ? COMPARE_ON : w->compare;
	bool estimate = wait_stat_is_estimate(ws, counted) ||
			(how > COMPARE_ON && wait_stat_is_estimate(first, counted));

	w->estimates |= estimate;
	cells[GROUP_TIME] = compared_to(how, CELL_TIME, ws->time_ns, first->time_ns);
	cells[GROUP_COUNT] = compared_to(how, CELL_COUNT, llround(ws->count), llround(first->count));
	if (ws->count > 0 || how > COMPARE_ON)
		cells[GROUP_MEAN] = compared_to(how, CELL_MSEC, wait_stat_mean(ws), wait_stat_mean(first));
	cells[GROUP_COUNT].estimate = cells[GROUP_MEAN].estimate = estimate;
}

static void put_figures(struct wait_report *w, struct row *r, const struct wait_stat *ws, bool counted)
{
	bool estimate = wait_stat_is_estimate(ws, counted);
	struct buf b = { 0 };

	r->cells[COL_TIME] = (struct cell){ .kind = CELL_TIME, .i = ws->time_ns };
	r->cells[COL_PERCENT] = (struct cell){ .kind = CELL_PERCENT,
					       .d = percent_of(ws->time_ns, w->total.time_ns) };
	r->cells[COL_TIME_ERROR] = (struct cell){ .kind = CELL_TIME,
						  .i = llround(wait_stat_time_error(ws)) };
	/* A wait that counts in an earlier segment has a length here, too. */
	if (ws->longest_ns)
		r->cells[COL_LONGEST] = (struct cell){ .kind = CELL_MSEC, .i = ws->longest_ns };
	if (ws->count <= 0)
		return;
	w->estimates |= estimate;
	/* Show at least 1: the wait was recorded, whatever its share of the estimate. */
	r->cells[COL_COUNT] = (struct cell){ .kind = CELL_COUNT, .estimate = estimate,
					     .i = ws->count < 1 ? 1 : (int64_t)(ws->count + 0.5) };
	/* If all that were recorded are in this row, nothing tells how far the others may be off. */
	if (ws->marks || ws->unscaled || !estimate)
		r->cells[COL_ERROR] = (struct cell){ .kind = CELL_COUNT,
						     .i = (int64_t)(wait_stat_error(ws, &w->total) + 0.5) };
	r->cells[COL_MEAN] = (struct cell){ .kind = CELL_MSEC, .i = wait_stat_mean(ws),
					    .estimate = estimate };
	if (!ws->longest_ns)
		return;
	for (int i = 0; i < WAIT_DECADES; i++)
		buf_printf(&b, "%s%.0f", i ? " " : "", ws->decades[i] > 0 && ws->decades[i] < 1 ?
			   1 : ws->decades[i]);
	r->cells[COL_LENGTHS] = (struct cell){ .kind = CELL_HIST,
					       .s = arena_strdup(&w->t->arena, b.data) };
	buf_free(&b);
}

static void put_stat(struct wait_report *w, struct row *r, const struct wait_stat *ws)
{
	bool counted = w->counted || ws == &w->total;

	for (unsigned g = 0; g < ws->ngroups; g++)
		put_group(w, &r->cells[g * GROUP_COLUMNS], &ws->groups[g], &ws->groups[0], counted);
	if (!ws->ngroups)
		put_figures(w, r, ws, counted);
}

void wait_row(struct wait_report *w, const struct wait_stat *ws, const char *fmt, ...)
{
	struct row *r = table_row(w->t);
	char *text;
	va_list ap;

	r->group = w->group;
	put_stat(w, r, ws);
	va_start(ap, fmt);
	text = xvasprintf(fmt, ap);
	va_end(ap);
	put_text(r, w->t->columns.len - 1, arena_strdup(&w->t->arena, text));
	free(text);
}

/* Append functions of a path. A kernel function's object is shown only if it is a module. */
static void put_funcs(struct wait_report *w, struct buf *b, const uint32_t *funcs, size_t n)
{
	static const char kernel[] = "vmlinux`";

	for (size_t i = 0; i < n; i++) {
		bool folded = funcs[i] == WAIT_PATH_FOLDED;
		const char *name = folded ? ".." : func_name(w->v, w->v->session->funcs.data[funcs[i]]);
		const char *pid = name[0] == '<' ? strstr(name, "_PID_") : NULL;

		if (!strncmp(name, kernel, sizeof(kernel) - 1))
			name += sizeof(kernel) - 1;
		buf_puts(b, b->len ? " < " : "");
		if (pid)
			buf_printf(b, "%.*s>", (int)(pid - name), name);
		else
			buf_puts(b, name);
	}
}

static const char *keep_text(struct wait_report *w, struct buf *b)
{
	const char *text = arena_strdup(&w->t->arena, b->data ? b->data : "");

	buf_free(b);
	return text;
}

/* A stack of Java or Python may have a hundred functions. Of more than DEEP the middle is left out. */
enum { DEEP = 24, LEAF_PART = 16, ROOT_PART = 4 };

const char *wait_path_text(struct wait_report *w, uint32_t path)
{
	const uint32_t *funcs;
	size_t n = wait_path_funcs(&w->paths, path, &funcs);
	bool whole = n <= DEEP || w->v->all_frames;
	struct buf b = { 0 };

	put_funcs(w, &b, funcs, whole ? n : LEAF_PART);
	if (!whole) {
		buf_printf(&b, " < .. %zu more ..", n - LEAF_PART - ROOT_PART);
		put_funcs(w, &b, funcs + n - ROOT_PART, ROOT_PART);
	}
	return keep_text(w, &b);
}

enum { BRIEF = 3 };

const char *wait_path_brief(struct wait_report *w, uint32_t path)
{
	const uint32_t *funcs;
	size_t n = wait_path_funcs(&w->paths, path, &funcs), user = 0, shown;
	struct buf b = { 0 };

	while (user < n && (funcs[user] == WAIT_PATH_FOLDED ||
			    w->v->session->funcs.data[funcs[user]]->obj->kernel))
		user++;
	if (user && user < n) {
		put_funcs(w, &b, funcs, 1);
		buf_puts(&b, user > 1 ? " < .." : "");
	} else {
		user = 0;
	}
	shown = n - user < BRIEF ? n - user : BRIEF;
	put_funcs(w, &b, funcs + user, shown);
	buf_puts(&b, user + shown < n ? " < .." : "");
	return keep_text(w, &b);
}

void wait_rows(struct wait_report *w, const sum_vec *sums, const char *more,
	       const char *(*text)(struct wait_report *w, const struct wait_sum *s))
{
	size_t shown = wait_rows_shown(w, sums->len);
	struct wait_stat rest;

	wait_stat_init(&rest, w->bag.ngroups);
	for (size_t i = 0; i < sums->len; i++) {
		if (i < shown)
			wait_row(w, &sums->data[i]->stat, "  %s", text(w, sums->data[i]));
		else
			wait_stat_merge(&rest, &sums->data[i]->stat);
	}
	if (shown < sums->len)
		wait_row(w, &rest, "  (%zu more %s%s)", sums->len - shown, more,
			 sums->len - shown == 1 ? "" : "s");
	wait_stat_fini(&rest);
}

void wait_nothing(struct wait_report *w, const char *what)
{
	const char *why = w->v->filter ? "the filter excludes all of them" :
					 "er_kernel records them, unless -p off or --states off is given";

	w->t->columns.len = 0;
	put_note(w->t, "No %s in these experiments: %s.", what, why);
}

void wait_report_run(struct wait_report *w, const struct wait_view *view, struct view_state *v,
		     struct table *t)
{
	t->name = view->name;
	t->title = view->title;
	wait_report_init(w, v, t);
	if (w->compare)
		put_group_columns(w, view->heading);
	else
		put_columns(t, view->heading, v->errors);
	w->counts = wait_counts_new(v->session);
	pass_run(v->session, NULL, v->filter, view->add, NULL, w);
	w->total = wait_bag_total(&w->bag);
	if (w->bag.sums.len || (view->any && view->any(w)))
		view->put(w);
	else
		wait_nothing(w, view->what);
	wait_report_end(w);
}

size_t wait_rows_shown(const struct wait_report *w, size_t n)
{
	size_t most = view_most(w->v, ROWS_SHOWN);

	/* One row for the remainder would take as much room as the single row that it sums up. */
	return n <= most || (!w->v->limit && n == most + 1) ? n : most;
}

uint32_t wait_text_key(struct wait_report *w, const char *text)
{
	return strtab_id(&w->texts, text);
}

const char *wait_key_text(const struct wait_report *w, uint32_t key)
{
	return w->texts.strings[key];
}

uint32_t wait_kind_key(struct wait_report *w, const struct thread_kind *k)
{
	uint64_t names = hash64((uintptr_t)k->comm ^ hash64((uintptr_t)k->process));
	uint64_t *known = map_put(&w->kinds, k->comm || k->process ? names : (uint64_t)k->tid,
				  NULL);
	struct buf b = { 0 };

	if (*known)
		return *known - 1;
	names_put_kind(k, &b);
	*known = (uint64_t)wait_text_key(w, b.data) + 1;
	buf_free(&b);
	return *known - 1;
}

uint32_t wait_thread_key_at(struct wait_report *w, const struct experiment *e, int64_t pid, int64_t tid,
			    int64_t time_ns)
{
	uint64_t *at = map_put(&w->by_thread, hash64((uint64_t)pid << 32 ^ (uint64_t)tid) ^ (uintptr_t)e, NULL);
	struct known_thread *t;

	if (!*at) {
		vec_push(&w->threads, (struct known_thread){ 0 });
		*at = w->threads.len;
	}
	t = &w->threads.data[*at - 1];
	if (!kind_memo_holds(&t->memo, e, pid, tid, time_ns)) {
		kind_memo_ask(&t->memo, w->names, e, pid, tid, time_ns);
		t->key = wait_kind_key(w, &t->memo.kind);
	}
	return t->key;
}

uint32_t wait_thread_key(struct wait_report *w, const struct hit *h, int64_t pid, int64_t tid)
{
	return wait_thread_key_at(w, h->e, pid, tid, hit_time(h));
}

const char *wait_interrupt_name(const struct hit *h)
{
	if (hit_wait_flags(h) & WFLAG_WAKER_TIMER)
		return hit_state(h) == MS_USER_LOCK && !reason_is_rest(hit_reason(h)) ? WAIT_TIMEOUT : "<timer>";
	switch (hit_reason(h)) {
	case REASON_USER_LOCK: return WAIT_TIMEOUT;
	case REASON_TIMER: return "<timer>";
	case REASON_DISK:
	case REASON_FAULT:
	case REASON_WRITEBACK: return "<disk>";
	case REASON_NETWORK: return "<network>";
	default: return hit_state(h) == MS_USER_LOCK ? WAIT_TIMEOUT : "<interrupt>";
	}
}

int64_t wait_holder(const struct hit *h)
{
	const struct experiment *founder = experiment_founder(h->e);
	int64_t tid = hit_holder(h);

	if (tid && founder->threads.len && !names_thread(session_names(h->session), h->e, tid))
		return 0;
	return tid;
}

bool wait_has_waker(const struct hit *h)
{
	return hit_waker(h) &&
	       !(hit_wait_flags(h) & (WFLAG_OPEN_END | WFLAG_REST | WFLAG_WAKER_IRQ));
}

uint32_t wait_waker_key(struct wait_report *w, const struct hit *h)
{
	uint32_t flags = hit_wait_flags(h);

	if (flags & WFLAG_OPEN_END)
		return wait_text_key(w, WAIT_OPEN);
	if (flags & WFLAG_REST)
		return wait_text_key(w, WAIT_REST);
	if (flags & WFLAG_WAKER_IRQ)
		return wait_text_key(w, wait_interrupt_name(h));
	if (!hit_waker(h))
		return wait_text_key(w, "<unknown>");
	return wait_thread_key(w, h, hit_waker_pid(h), hit_waker(h));
}

const char *wait_reason_name(const struct hit *h)
{
	int64_t reason = hit_reason(h);

	if (reason > REASON_NONE && reason < REASON_COUNT)
		return reason_descs[reason].uname;
	if (hit_wait_flags(h) & WFLAG_REST)
		return mstate_descs[hit_state(h)].rest;
	if (hit_state(h) == MS_SLEEP)
		return reason_descs[REASON_NONE].uname;
	return mstate_descs[hit_state(h)].uname;
}
