/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Lists the programs that processes ran: since when, how long, and how they ended. A program ends
 * when its process executes another one, or with the process. Segments of a recording are one recording.
 */
#include <inttypes.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>

#include "analysis/base/buf.h"
#include "analysis/base/map.h"
#include "analysis/base/vec.h"
#include "analysis/base/wrap.h"
#include "analysis/experiment/exp_recorder.h"
#include "analysis/experiment/exp_threads.h"
#include "analysis/experiment/experiment.h"
#include "analysis/model/session.h"
#include "analysis/views/columns.h"

enum { COL_PID, COL_PARENT, COL_BEGAN, COL_LIVED, COL_END, COL_CGROUP, COL_COMMAND };

/* A program's begin, or the end of a process (then `exit` is set). */
struct moment {
	int64_t pid, start, at_ns; /* at_ns: since the origin's start */
	const struct exp_process *program;
	bool continues; /* a segment begins in which the program runs on */
	const struct exp_exit *exit;
};

typedef VEC(struct moment) moment_vec;

/* By process and time; an end comes before the begin of the next process. */
static int by_process(const void *pa, const void *pb)
{
	const struct moment *a = pa, *b = pb;

	if (a->pid != b->pid)
		return a->pid < b->pid ? -1 : 1;
	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	if (a->at_ns != b->at_ns)
		return a->at_ns < b->at_ns ? -1 : 1;
	return (b->exit != NULL) - (a->exit != NULL);
}

struct life {
	const struct exp_process *program;
	int64_t begin_ns;
	const struct moment *end; /* NULL: it outlived the recording */
};

static int by_begin(const void *pa, const void *pb)
{
	const struct life *a = pa, *b = pb;

	if (a->begin_ns != b->begin_ns)
		return a->begin_ns < b->begin_ns ? -1 : 1;
	return a->program->pid < b->program->pid ? -1 : a->program->pid > b->program->pid;
}

static void gather(const struct experiment *e, moment_vec *ret)
{
	int64_t offset = experiment_offset_ns(e);

	vec_for_each(p, &e->processes)
		vec_push(ret, (struct moment){ .pid = p->pid, .start = p->start,
					       .at_ns = wrap_plus(p->begin_ns, offset), .program = p,
					       .continues = e != e->origin && p->begin_ns <= 0 });
	vec_for_each(x, &e->exits)
		vec_push(ret, (struct moment){ .pid = x->pid, .start = x->start,
					       .at_ns = wrap_plus(x->at_ns, offset), .exit = x });
}

static bool same_process(const struct moment *a, const struct moment *b)
{
	return a->pid == b->pid && a->start == b->start;
}

/* A process that gets an experiment of its own is listed again. */
static bool is_twice(const struct moment *a, const struct moment *b)
{
	return a->program && b->program && a->at_ns == b->at_ns && same_process(a, b);
}

/* Sort, and leave out begins of segments in which a program runs on, and programs that are listed twice. */
static void put_in_order(moment_vec *moments)
{
	size_t kept = 0;

	vec_sort(moments, by_process);
	for (size_t i = 0; i < moments->len; i++) {
		const struct moment *m = &moments->data[i], *last = kept ? &moments->data[kept - 1] : NULL;

		if (!last || !(is_twice(last, m) || (m->continues && same_process(m, last))))
			moments->data[kept++] = *m;
	}
	moments->len = kept;
}

/* "exit 1", "SIGSEGV", "exec"; nothing if no end was recorded. */
static void put_end(struct table *t, struct row *r, const struct life *l)
{
	int64_t status = l->end && l->end->exit ? l->end->exit->status : 0;
	const char *signal;

	if (!l->end)
		return;
	if (!l->end->exit) {
		put_text(r, COL_END, "exec");
		return;
	}
	if (!WIFSIGNALED((int)status)) {
		put_textf(t, r, COL_END, "exit %d", WEXITSTATUS((int)status));
		return;
	}
	signal = sigabbrev_np(WTERMSIG((int)status));
	if (signal)
		put_textf(t, r, COL_END, "SIG%s", signal);
	else
		put_textf(t, r, COL_END, "signal %d", WTERMSIG((int)status));
}

/* last_ns: the end of the recording. */
static void put_life(int64_t last_ns, struct table *t, const struct life *l)
{
	const struct exp_process *p = l->program;
	int64_t end_ns = l->end ? l->end->at_ns : last_ns;
	struct row *r = table_row(t);

	r->cells[COL_PID] = (struct cell){ .kind = CELL_COUNT, .i = p->pid };
	if (p->ppid)
		r->cells[COL_PARENT] = (struct cell){ .kind = CELL_COUNT, .i = p->ppid };
	r->cells[COL_BEGAN] = (struct cell){ .kind = CELL_TIME, .i = l->begin_ns };
	r->cells[COL_LIVED] = (struct cell){ .kind = CELL_TIME, .i = wrap_minus(end_ns, l->begin_ns) };
	put_end(t, r, l);
	if (l->end && l->end->exit)
		put_text(r, COL_CGROUP, l->end->exit->cgroup);
	put_text(r, COL_COMMAND, p->command);
}

/*
 * The main thread may end before the others, and another one may then execute a program. So the
 * process ends with the last of its ends, and an end before another program is none. Older
 * recorders do not say when the process started: there, that program may be of another process.
 */
static const struct moment *end_of(const moment_vec *moments, size_t i)
{
	const struct moment *end = NULL, *m = &moments->data[i];

	for (size_t k = i + 1; k < moments->len && same_process(&moments->data[k], m); k++) {
		if (end && !moments->data[k].exit && !m->start)
			break;
		end = &moments->data[k];
		if (!end->exit)
			break;
	}
	return end;
}

static void put_lives(const struct view_state *v, const struct experiment *origin, struct table *t)
{
	VEC(struct life) lives = { 0 };
	moment_vec moments = { 0 };
	int64_t last_ns = INT64_MIN;

	vec_for_each(ep, &v->session->experiments) {
		int64_t end_ns = wrap_plus((*ep)->end_ns, experiment_offset_ns(*ep));

		if ((*ep)->founder || (*ep)->origin != origin)
			continue;
		gather(*ep, &moments);
		last_ns = end_ns > last_ns ? end_ns : last_ns;
	}
	put_in_order(&moments);
	for (size_t i = 0; i < moments.len; i++) {
		if (moments.data[i].program)
			vec_push(&lives, (struct life){ moments.data[i].program, moments.data[i].at_ns,
							end_of(&moments, i) });
	}
	vec_sort(&lives, by_begin);
	for (size_t i = 0; i < lives.len && (!v->limit || t->rows.len < v->limit); i++)
		put_life(last_ns, t, &lives.data[i]);
	vec_free(&lives);
	vec_free(&moments);
}

static void put_columns(struct table *t)
{
	static const struct column columns[] = {
		[COL_PID] = { .kind = CELL_COUNT, .title = { "PID" } },
		[COL_PARENT] = { .kind = CELL_COUNT, .title = { "Parent" } },
		[COL_BEGAN] = { .kind = CELL_TIME, .title = { "Began", "sec." } },
		[COL_LIVED] = { .kind = CELL_TIME, .title = { "Lived", "sec." } },
	};

	for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++)
		vec_push(&t->columns, columns[i]);
	text_column(t, "End");
	text_column(t, "Cgroup");
	t->columns.data[COL_CGROUP].optional = true;
	text_column(t, "Command");
}

static const struct exp_element *recorder_of(const struct experiment *e)
{
	vec_for_each(el, &e->recorder) {
		if (!strcmp(el->name, "recorder"))
			return el;
	}
	return NULL;
}

/* Whether the recorder lists processes of all programs. */
static bool follows_all(const struct experiment *e)
{
	const struct exp_element *el = recorder_of(e);
	const char *follow = el ? element_get(el, "follow") : NULL;

	return follow && (!strcmp(follow, "on") || !strcmp(follow, "all"));
}

static uint64_t end_key(int64_t pid, int64_t at_ns)
{
	return hash64((uint64_t)pid ^ hash64((uint64_t)at_ns));
}

/* Main threads that ended, of processes that no line tells of. */
static uint64_t count_unlisted(const struct experiment *e)
{
	struct map listed = { 0 };
	uint64_t n = 0;

	vec_for_each(x, &e->exits)
		map_put(&listed, end_key(x->pid, x->at_ns), NULL);
	vec_for_each(th, &e->threads) {
		bool ended = th->ended || th->fold;

		n += ended && th->pid && th->pid == th->tid && strcmp(th->comm, "<Recording>") &&
		     !map_get(&listed, end_key(th->pid, th->end_ns));
	}
	map_free(&listed);
	return n;
}

static uint64_t count_failed(const struct experiment *e)
{
	uint64_t n = 0;

	vec_for_each(el, &e->recorder) {
		const char *kind = strcmp(el->name, "dropped") ? NULL : element_get(el, "kind");

		n += kind && !strcmp(kind, "failed") ? (uint64_t)element_int(el, "count") : 0;
	}
	return n;
}

static void put_unlisted(const struct view_state *v, struct table *t)
{
	uint64_t n = 0, nfailed = 0;

	vec_for_each(ep, &v->session->experiments) {
		if ((*ep)->founder || !follows_all(*ep))
			continue;
		n += count_unlisted(*ep);
		nfailed += count_failed(*ep);
	}
	if (!n)
		return;
	put_note(t, "%" PRIu64 " more short process%s ended, without a sample: er_kernel --each-thread lists them all.",
		 n, n == 1 ? "" : "es");
	if (nfailed)
		put_note(t, "Of these, %" PRIu64 " failed: there are too many to list each.", nfailed);
}

int view_lifetimes(struct view_state *v, struct table *t, struct diag *d)
{
	t->name = "lifetimes";
	put_columns(t);
	vec_for_each(e, &v->session->experiments) {
		if ((*e)->origin == *e)
			put_lives(v, *e, t);
	}
	put_unlisted(v, t);
	return 0;
}
