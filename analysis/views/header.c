/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * header: how an experiment was recorded and what it lacks. It tells a reader whether the numbers
 * can be believed. The recorder's own counts (recorder.xml) are checked against the packets: for
 * each CPU the packet numbers (field SEQ) and the losses must add up to the records produced.
 */
#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "analysis/base/buf.h"
#include "analysis/experiment/exp_packets.h"
#include "analysis/experiment/exp_recorder.h"
#include "analysis/experiment/expwriter.h"
#include "analysis/experiment/exp_spans.h"
#include "analysis/views/loss_report.h"
#include "analysis/views/columns.h"
#include "analysis/views/table.h"
#include "analysis/views/view_state.h"

#define RULE "----------------------------------------------------------------"

static void put_messages(struct table *t, const struct experiment *e)
{
	if (!e->diag.nmsgs) {
		put_line(t, "No errors");
		return;
	}
	for (size_t i = 0; i < e->diag.nmsgs; i++)
		put_line(t, "*** %s: %s",
			 e->diag.msgs[i].level == DIAG_ERROR ? "Error" :
			 e->diag.msgs[i].level == DIAG_WARNING ? "Warning" : "Note",
			 e->diag.msgs[i].text);
	if (e->diag.dropped)
		put_line(t, "*** and %zu messages more", e->diag.dropped);
}

static void put_notes(struct table *t, const struct experiment *e)
{
	char *copy = xstrdup(e->notes), *rest = copy, *text;

	while (*copy && (text = strsep(&rest, "\n"))) {
		if (*text || rest)
			put_line(t, "%s", text);
	}
	free(copy);
}

static void put_event(struct table *t, const char *label, const struct exp_event *ev)
{
	const char *text = *ev->text ? ev->text : ev->label;

	if (ev->id > 0 && ev->id < EXP_MSG_OURS)
		put_line(t, "*** %s %" PRId64 ": %s", label, ev->id, text);
	else
		put_line(t, "*** %s: %s", label, text);
}

static void put_events(struct table *t, const struct experiment *e)
{
	static const struct {
		const char *kind, *label;
	} kinds[] = { { "cerror", "Collector Error" }, { "cwarn", "Collector Warning" },
		      { "comment", "Note" } };

	vec_for_each(ev, &e->events) {
		for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
			if (!strcmp(ev->kind, kinds[i].kind) && (*ev->text || *ev->label))
				put_event(t, kinds[i].label, ev);
		}
	}
}

static void put_system(struct table *t, const struct experiment *e)
{
	put_line(t, "Process pid %" PRId64 ", ppid %" PRId64, e->pid, e->ppid);
	put_line(t, "Current working directory: %s", e->cwd);
	put_line(t, "Collector version: `%s'; experiment version %s", e->collector, e->version);
	if (*e->dversion)
		put_line(t, "Kernel driver version: %s", e->dversion);
	put_line(t, "Host `%s', OS `%s', page size %" PRId64 ", architecture `%s'", e->hostname,
		 e->os, e->pagesize, e->arch);
	put_line(t, "  %" PRId64 " CPU%s, clock speed %" PRId64 " MHz.", e->ncpus,
		 e->ncpus == 1 ? "" : "s", e->mhz);
	put_line(t, "  Memory: %" PRId64 " pages @ %" PRId64 " = %.0f MB.", e->npages, e->pagesize,
		 (double)e->npages * (double)e->pagesize / 1048576);
}

static const char *state_set_name(int numstates)
{
	switch (numstates) {
	case STATES_LINUX: return "CPU time";
	case STATES_USER: return "user, system and kernel CPU time";
	case STATES_KERNEL: return "kernel CPU time";
	case STATES_ALL: return "all microstates";
	default: return "unknown states";
	}
}

static void put_shed(struct table *t, const struct exp_element *el)
{
	const char *what = element_get(el, "what");
	int64_t second = element_int(el, "second");

	if (!what || !strcmp(what, "nothing"))
		put_line(t, "  From second %" PRId64 " on, all was recorded again", second);
	else
		put_line(t, "  *** From second %" PRId64 " on, to keep to the budget, left out: %s",
			 second, what);
}

/* A target as er_kernel -T took it: a process, a thread, or a kernel thread. */
static void put_target(struct table *t, int64_t pid, int64_t tid)
{
	if (!pid)
		put_line(t, "  Only kernel thread %" PRId64, tid);
	else if (!tid)
		put_line(t, "  Only PID %" PRId64, pid);
	else
		put_line(t, "  Only PID %" PRId64 ", TID %" PRId64, pid, tid);
}

/* How the recording was limited, by an option or to keep to a budget. */
static void put_target_lines(struct table *t, const struct experiment *e)
{
	vec_for_each(el, &e->recorder) {
		const char *percent = element_get(el, "percent");

		if (!strcmp(el->name, "target"))
			put_target(t, element_int(el, "pid"), element_int(el, "tid"));
		if (!strcmp(el->name, "budget") && percent)
			put_line(t, "  Budget: %s %% of all CPU time", percent);
		if (!strcmp(el->name, "shed"))
			put_shed(t, el);
	}
}

/* When the capture ran, and for how long without pauses. */
static void put_span(struct table *t, const struct experiment *e, const struct exp_element *capture)
{
	int64_t began = element_int(capture, "began_ns"), ended = element_int(capture, "ended_ns");
	int64_t paused = 0;

	if (!ended)
		return;
	vec_for_each(el, &e->recorder) {
		if (!strcmp(el->name, "paused"))
			paused = element_int(el, "ns");
	}
	put_line(t, "  Recorded for %.3f sec., from second %.3f to %.3f%s",
		 ((double)ended - (double)began - (double)paused) / 1e9, began / 1e9, ended / 1e9,
		 paused ? ", without the pauses" : "");
}

/* The distance of sample points changes with the number of waits. */
static void put_sampling(struct table *t, const struct exp_element *el)
{
	double last = element_int(el, "distance_ns") / 1e6, widest = element_int(el, "widest_ns") / 1e6;

	put_line(t, "  Waits of %.3f msec. or longer all recorded; shorter ones sampled, %sonce in %.3f msec. of each state%s",
		 widest > last ? widest : last, widest > last ? "at the end " : "", last,
		 element_int(el, "split") ? "; user and system time exact" : "");
}

/* How waits were recorded, and what was left out to keep to a budget. */
static void put_capture(struct table *t, const struct experiment *e)
{
	vec_for_each(el, &e->recorder) {
		const char *how = element_get(el, "how");

		if (!strcmp(el->name, "capture") && how)
			put_line(t, "  Captured by %s", how);
		if (!strcmp(el->name, "capture"))
			put_span(t, e, el);
		if (!strcmp(el->name, "capture") && element_int(el, "distance_ns"))
			put_sampling(t, el);
	}
	put_target_lines(t, e);
}

static void put_streams(struct table *t, const struct experiment *e)
{
	put_line(t, "Data collection parameters:");
	vec_for_each(st, &e->streams) {
		if (st->kind == ER_PKT_CLOCK && recorder_only_locks(e))
			put_line(t, "  No clock profiling: waits for locks only");
		else if (st->kind == ER_PKT_CLOCK)
			put_line(t, "  Clock-profiling, weights in units of %" PRId64
				 " microsec%s., %s", st->ptimer_us,
				 st->ptimer_us == 1 ? "" : "s", state_set_name(st->numstates));
		else
			put_line(t, "  %s", st->uname && *st->uname ? st->uname : st->fname);
		vec_for_each(c, &st->counters) {
			if (c->interval)
				put_line(t, "    counter %s, interval %" PRId64, c->name, c->interval);
			else
				put_line(t, "    %s: %s", c->name, c->int_name);
		}
	}
	put_capture(t, e);
	if (e->sample_period_s)
		put_line(t, "  Periodic sampling, %" PRId64 " secs.", e->sample_period_s);
}

/* The experiment of the program that the process executed next; NULL if it ended in another way. */
static const char *exec_of(const struct experiment *e)
{
	const char *program = NULL;

	vec_for_each(ev, &e->events) {
		if (!strcmp(ev->kind, "exec_start"))
			program = ev->text;
		else if (!strcmp(ev->kind, "exec_error") || !strcmp(ev->kind, "exit"))
			program = NULL;
	}
	return program;
}

static void time_text(const struct experiment *e, char *text, size_t size)
{
	time_t start = e->start_epoch;
	struct tm tm;

	if (localtime_r(&start, &tm))
		strftime(text, size, "%a %b %e %H:%M:%S %Y", &tm);
}

static void put_times(struct table *t, const struct experiment *e)
{
	char text[64] = "";

	time_text(e, text, sizeof(text));
	put_line(t, "Experiment started %s", text);
	if (e->closed && exec_of(e))
		put_line(t, "Experiment Ended: %.9f, by exec of '%s'", (double)e->end_ns / 1e9,
			 exec_of(e));
	else if (e->closed)
		put_line(t, "Experiment Ended: %.9f", (double)e->end_ns / 1e9);
	else
		put_line(t, "*** The experiment was not closed: it is still being recorded, or its "
			 "recorder was killed; the last time seen is %.3f", (double)e->end_ns / 1e9);
	put_line(t, "Data Collection Duration: %.9f", (double)e->end_ns / 1e9);
}

/* One of many sub-experiments: add only what its founder does not say. */
static void put_brief(struct table *t, const struct experiment *e)
{
	put_line(t, "Experiment: %s", e->path);
	put_notes(t, e);
	if (e->diag.nmsgs)
		put_messages(t, e);
	put_events(t, e);
	put_line(t, "Target command (%d-bit): '%s'", e->wordsize, e->command);
	put_line(t, "Process pid %" PRId64 ", ppid %" PRId64, e->pid, e->ppid);
	if (!e->closed)
		put_line(t, "*** The experiment was not closed");
	put_line(t, "Data Collection Duration: %.9f", (double)e->end_ns / 1e9);
}

static void put_one(struct table *t, const struct session *s, const struct experiment *e)
{
	struct loss_report *a = e->founder ? NULL : loss_report_new(s, e);

	put_line(t, "Experiment: %s", e->path);
	put_notes(t, e);
	put_messages(t, e);
	put_events(t, e);
	put_line(t, "%s", "");
	put_line(t, "Target command (%d-bit): '%s'", e->wordsize, e->command);
	put_times(t, e);
	loss_report_summary(t, a);
	put_line(t, "%s", "");
	put_system(t, e);
	put_streams(t, e);
	put_spans(t, "", e);
	loss_report_details(t, a);
	loss_report_free(a);
}

/* Add "Sun Nov 22 05:12:16 2026, for 10.016 sec., on vm: Linux 6.1.0, 2 CPUs". */
static void put_recorded(struct table *t, const struct experiment *e)
{
	char text[64] = "";

	time_text(e, text, sizeof(text));
	put_line(t, "Recorded: %s, for %.3f sec., on %s: %s, %" PRId64 " CPU%s", text,
		 (double)e->end_ns / 1e9, e->hostname, e->os, e->ncpus, e->ncpus == 1 ? "" : "s");
	if (e->closed && exec_of(e))
		put_line(t, "Ended by exec of '%s'", exec_of(e));
}

/* Add the kinds of data and how they were recorded: "Clock-profiling, microstates; I/O-tracing". */
static void put_data(struct table *t, const struct experiment *e)
{
	struct buf b = { 0 };

	vec_for_each(st, &e->streams) {
		if (st->kind == ER_PKT_CLOCK && recorder_only_locks(e))
			continue; /* the packets of synchronization data say the same */
		buf_printf(&b, "%s%s", b.len ? "; " : "", st->kind == ER_PKT_CLOCK ? "Clock-profiling" :
			   st->uname && *st->uname ? st->uname : st->fname);
	}
	vec_for_each(el, &e->recorder) {
		const char *how = element_get(el, "how");

		if (!strcmp(el->name, "capture") && how)
			buf_printf(&b, "%s%s", b.len ? ", " : "", how);
	}
	put_line(t, "Data: %s", b.len ? b.data : "none");
	buf_free(&b);
}

void put_spans(struct table *t, const char *indent, const struct experiment *e)
{
	uint64_t count = 0, lost = 0, noroom = 0, unended = 0;
	struct buf b = { 0 };

	vec_for_each(row, &e->spans) {
		buf_printf(&b, "%s%s", b.len ? ", " : "", row->name);
		count += row->count;
		lost += row->lost;
		noroom += row->noroom;
		unended += row->unended;
	}
	if (e->spans.len) {
		buf_printf(&b, ": %" PRIu64 " calls", count);
		if (unended)
			buf_printf(&b, ", %" PRIu64 " without end", unended);
		if (noroom)
			buf_printf(&b, ", %" PRIu64 " without room", noroom);
		if (lost)
			buf_printf(&b, ", %" PRIu64 " records lost", lost);
		put_line(t, "%sSpans: %s", indent, b.data);
	}
	buf_free(&b);
}

/* Number of messages about an experiment. */
static size_t count_messages(const struct experiment *e)
{
	size_t n = e->diag.nmsgs + e->diag.dropped;

	vec_for_each(ev, &e->events)
		n += !strcmp(ev->kind, "cerror") || !strcmp(ev->kind, "cwarn");
	return n;
}

/* Add one line for each followed process; describe in full only those that have messages. */
static void put_followed(struct table *t, const struct session *s, const struct experiment *founder)
{
	char pid[24];
	size_t n = 0;

	vec_for_each(ep, &s->experiments) {
		const struct experiment *e = *ep;

		if (e->founder != founder)
			continue;
		if (!n++) {
			put_line(t, "%s", "");
			put_line(t, "Followed processes; `header ID' shows one in full, `header all' each:");
			put_line(t, "    ID        PID    Seen until  Messages  Process");
		}
		snprintf(pid, sizeof(pid), "%" PRId64, e->pid);
		put_line(t, "%6u %10s %8.3f sec. %9zu  %s", e->id, e->pid ? pid : "all of it",
			 e->end_ns / 1e9, count_messages(e), *e->process ? e->process : "(unknown)");
	}
	vec_for_each(ep, &s->experiments) {
		if ((*ep)->founder != founder || !count_messages(*ep))
			continue;
		put_line(t, RULE);
		put_brief(t, *ep);
	}
}

/* Add the number of followed processes and how many of them have messages. */
static void put_processes(struct table *t, const struct session *s, const struct experiment *founder)
{
	size_t n = 0, told = 0;

	vec_for_each(ep, &s->experiments) {
		if ((*ep)->founder != founder)
			continue;
		n++;
		told += count_messages(*ep) != 0;
	}
	if (!n)
		return;
	/* Without a table of processes each has an experiment of its own. */
	put_line(t, "Processes: %zu followed%s",
		 founder->processes.len ? founder->processes.len : n, told ? "" : ", no messages");
	if (told)
		put_line(t, "*** %zu of their experiments ha%s messages", told, told == 1 ? "s" : "ve");
}

/* Add the most important lines. */
static void put_short(struct table *t, const struct session *s, const struct experiment *e)
{
	struct loss_report *a = e->founder ? NULL : loss_report_new(s, e);

	put_line(t, "Experiment: %s", e->path);
	put_notes(t, e);
	if (e->diag.nmsgs)
		put_messages(t, e);
	put_events(t, e);
	put_line(t, "Command: %s", e->command);
	put_recorded(t, e);
	put_data(t, e);
	put_spans(t, "", e);
	put_target_lines(t, e);
	put_processes(t, s, e);
	loss_report_brief(t, a);
	loss_report_free(a);
}

/* Begin the table. Packets that cannot be read are reported in the experiments' messages. */
static void begin(struct view_state *v, struct table *t)
{
	t->name = "header";
	text_column(t, NULL);
	t->columns.data[0].wrap = true;
	vec_for_each(ep, &v->session->experiments)
		experiment_check_packets(*ep);
}

int view_header_short(struct view_state *v, const struct experiment *e, struct table *t,
		      struct diag *d)
{
	begin(v, t);
	vec_for_each(ep, &v->session->experiments) {
		if ((*ep)->founder)
			continue;
		if (t->rows.len)
			put_line(t, RULE);
		put_short(t, v->session, *ep);
	}
	put_line(t, "`header full' shows everything else.");
	return 0;
}

void view_header_anonymous(struct view_state *v, struct table *t)
{
	begin(v, t);
	vec_for_each(ep, &v->session->experiments) {
		struct loss_report *a = (*ep)->founder ? NULL : loss_report_new(v->session, *ep);

		if (!a)
			continue;
		if (!(*ep)->closed)
			put_line(t, "*** The experiment was not closed");
		put_data(t, *ep);
		put_target_lines(t, *ep);
		put_processes(t, v->session, *ep);
		loss_report_brief(t, a);
		loss_report_free(a);
	}
}

int view_header(struct view_state *v, const struct experiment *e, struct table *t, struct diag *d)
{
	begin(v, t);
	vec_for_each(ep, &v->session->experiments) {
		if (e ? e != *ep : (*ep)->founder != NULL)
			continue;
		if (t->rows.len)
			put_line(t, RULE);
		put_one(t, v->session, *ep);
		if (!e)
			put_followed(t, v->session, *ep);
	}
	return 0;
}

int view_header_all(struct view_state *v, const struct experiment *e, struct table *t,
		    struct diag *d)
{
	begin(v, t);
	vec_for_each(ep, &v->session->experiments) {
		if (t->rows.len)
			put_line(t, RULE);
		put_one(t, v->session, *ep);
	}
	return 0;
}
