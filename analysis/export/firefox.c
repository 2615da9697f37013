/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A processed profile for the Firefox Profiler (profiler.firefox.com), version 60; newer versions
 * of the program upgrade it. A thread has its CPU samples, weighted by the CPU time that they
 * represent. Its recorded waits are markers with stacks,
 * and the recorded calls of spans are markers, too. The weights of waits are samples on a
 * separate track, so that the tree of CPU time contains no waits.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/diag.h"
#include "analysis/base/json.h"
#include "analysis/experiment/mstate.h"
#include "analysis/experiment/packet.h"
#include "analysis/export/about.h"
#include "analysis/export/export.h"
#include "analysis/export/firefox_impl.h"
#include "analysis/export/gather.h"
#include "analysis/export/outfile.h"
#include "analysis/export/rootname.h"
#include "analysis/metrics/spanstat.h"
#include "analysis/metrics/timeline.h"
#include "analysis/model/names.h"
#include "analysis/views/table.h"
#include "analysis/views/view.h"
#include "analysis/views/view_state.h"

enum { VERSION = 60, GECKO_VERSION = 31 };

static const char head[] =
	"\"categories\":["
	"{\"name\":\"Other\",\"color\":\"grey\",\"subcategories\":[\"Other\"]},"
	"{\"name\":\"User\",\"color\":\"yellow\",\"subcategories\":[\"Other\"]},"
	"{\"name\":\"Kernel\",\"color\":\"orange\",\"subcategories\":[\"Other\"]},"
	"{\"name\":\"Wait\",\"color\":\"blue\",\"subcategories\":[\"Other\"]}],\n"
	"\"markerSchema\":[{\"name\":\"wait\",\"tooltipLabel\":\"{marker.name}\","
	"\"tableLabel\":\"{marker.data.state}\",\"chartLabel\":\"{marker.name}\","
	"\"display\":[\"marker-chart\",\"marker-table\",\"timeline-overview\"],"
	"\"colorField\":\"color\",\"fields\":["
	"{\"key\":\"state\",\"label\":\"State\",\"format\":\"string\"},"
	"{\"key\":\"represents\",\"label\":\"Represents\",\"format\":\"duration\"},"
	"{\"key\":\"holder\",\"label\":\"Holder\",\"format\":\"string\"},"
	"{\"key\":\"waker\",\"label\":\"Waker\",\"format\":\"string\"},"
	"{\"key\":\"color\",\"format\":\"string\",\"hidden\":true}]},\n"
	"{\"name\":\"span\",\"tooltipLabel\":\"{marker.name}\","
	"\"tableLabel\":\"{marker.data.states}\",\"chartLabel\":\"{marker.name}\","
	"\"display\":[\"marker-chart\",\"marker-table\"],\"fields\":["
	"{\"key\":\"states\",\"label\":\"Times by state\",\"format\":\"string\"},"
	"{\"key\":\"rank\",\"label\":\"Slowest of its name, number\",\"format\":\"integer\"},"
	"{\"key\":\"facts\",\"label\":\"Facts\",\"format\":\"string\"}]}],\n";

/* The colours of waits by state, chosen from the program's own. */
static const char *const colours[MS_COUNT] = {
	[MS_TFAULT] = "purple", [MS_DFAULT] = "purple", [MS_KFAULT] = "purple",
	[MS_USER_LOCK] = "orange", [MS_SLEEP] = "blue", [MS_WAIT_CPU] = "red",
	[MS_STOPPED] = "grey",
};

/* The samples of one track, those on a CPU or waits; or markers: single waits, so no remainders. */
enum which { ON_CPU, WAITS, MARKERS };

void firefox_put_ms(struct buf *b, int64_t ns)
{
	uint64_t n = ns < 0 ? -(uint64_t)ns : (uint64_t)ns;

	buf_printf(b, "%s%" PRIu64 ".%06" PRIu64, ns < 0 ? "-" : "", n / 1000000, n % 1000000);
}

static bool is_of(const struct activity *a, enum which which)
{
	if (which == MARKERS && a->flags & WFLAG_REST)
		return false;
	return mstate_descs[a->state].on_cpu == (which == ON_CPU);
}

/* --- samples --- */

/* Append the value of an activity, without a comma. */
typedef void (*put_value)(struct firefox *f, const struct activity *a);

static void put_values(struct firefox *f, const struct timeline *t, enum which which, put_value put,
		       const char **before)
{
	vec_for_each(a, &t->acts) {
		if (!is_of(a, which))
			continue;
		buf_puts(&f->out->buf, *before);
		put(f, a);
		outfile_flush(f->out, 1 << 16);
		*before = ",";
	}
}

static void put_column(struct firefox *f, const struct timeline *t, enum which which,
		       const char *name, put_value put)
{
	const char *before = "";

	buf_printf(&f->out->buf, "\"%s\":[", name);
	put_values(f, t, which, put, &before);
	buf_puts(&f->out->buf, "],");
}

static void put_stack(struct firefox *f, const struct activity *a)
{
	int64_t node = firefox_stack(f, a->stack);

	if (node < 0)
		buf_puts(&f->out->buf, "null");
	else
		buf_printf(&f->out->buf, "%" PRId64, node);
}

static void put_end(struct firefox *f, const struct activity *a)
{
	firefox_put_ms(&f->out->buf, a->end);
}

static void put_begin(struct firefox *f, const struct activity *a)
{
	firefox_put_ms(&f->out->buf, a->begin);
}

static void put_weight(struct firefox *f, const struct activity *a)
{
	firefox_put_ms(&f->out->buf, a->weight);
}

static void put_cpu_delta(struct firefox *f, const struct activity *a)
{
	buf_printf(&f->out->buf, "%" PRId64, mstate_descs[a->state].on_cpu ? a->weight : 0);
}

static size_t count(const struct timeline *t, enum which which)
{
	size_t n = 0;

	vec_for_each(a, &t->acts)
		n += is_of(a, which);
	return n;
}

static void put_samples(struct firefox *f, const struct timeline *t, enum which which)
{
	buf_puts(&f->out->buf, "\n\"samples\":{");
	put_column(f, t, which, "stack", put_stack);
	put_column(f, t, which, "time", put_end);
	put_column(f, t, which, "weight", put_weight);
	put_column(f, t, which, "threadCPUDelta", put_cpu_delta);
	buf_printf(&f->out->buf, "\"weightType\":\"tracing-ms\",\"length\":%zu},", count(t, which));
}

/* --- markers --- */

static void put_name(struct firefox *f, const struct activity *a)
{
	buf_printf(&f->out->buf, "%u",
		   firefox_string(f, a->reason ? reason_uname(a->reason) : state_uname(a->state)));
}

static void put_phase(struct firefox *f, const struct activity *a)
{
	buf_printf(&f->out->buf, "%d", FIREFOX_INTERVAL);
}

static void put_category(struct firefox *f, const struct activity *a)
{
	buf_printf(&f->out->buf, "%d", FIREFOX_WAIT);
}

/* `,"key":"name (TID 12)"`; nothing if there is no thread. */
static void put_thread(struct firefox *f, const char *key, const struct experiment *e, int64_t tid)
{
	const char *name = names_thread(session_names(f->session), e, tid);
	char text[96];

	if (!tid)
		return;
	snprintf(text, sizeof(text), "%.64s (TID %" PRId64 ")", name ? name : "(unknown)", tid);
	buf_printf(&f->out->buf, ",\"%s\":", key);
	json_put_string(&f->out->buf, text);
}

static void put_data(struct firefox *f, const struct experiment *e, const struct activity *a)
{
	struct buf *b = &f->out->buf;
	int64_t node = firefox_stack(f, a->stack);

	buf_puts(b, "{\"type\":\"wait\",\"state\":");
	json_put_string(b, state_uname(a->state));
	buf_puts(b, ",\"represents\":");
	firefox_put_ms(b, a->weight);
	put_thread(f, "holder", e, a->holder);
	put_thread(f, "waker", e, a->flags & WFLAG_WAKER_IRQ ? 0 : a->waker);
	if (a->flags & WFLAG_WAKER_IRQ)
		buf_puts(b, ",\"waker\":\"an interrupt\"");
	buf_printf(b, ",\"color\":\"%s\"", colours[a->state]);
	if (node >= 0)
		buf_printf(b, ",\"cause\":{\"stack\":%" PRId64 "}", node);
	buf_puts(b, "}");
}

static void put_marker_column(struct firefox *f, const struct timeline *t, const char *name, put_value put,
			      enum firefox_column column)
{
	const char *before = "";

	buf_printf(&f->out->buf, "\"%s\":[", name);
	put_values(f, t, MARKERS, put, &before);
	firefox_put_spans(f, t, column, &before);
	buf_puts(&f->out->buf, "],");
}

static void put_markers(struct firefox *f, const struct timeline *t)
{
	const char *before = "";

	buf_puts(&f->out->buf, "\n\"markers\":{\"data\":[");
	vec_for_each(a, &t->acts) {
		if (!is_of(a, MARKERS))
			continue;
		buf_puts(&f->out->buf, before);
		put_data(f, t->origin, a);
		outfile_flush(f->out, 1 << 16);
		before = ",\n";
	}
	firefox_put_spans(f, t, FIREFOX_DATA, &before);
	buf_puts(&f->out->buf, "],");
	put_marker_column(f, t, "name", put_name, FIREFOX_NAME);
	put_marker_column(f, t, "startTime", put_begin, FIREFOX_BEGIN);
	put_marker_column(f, t, "endTime", put_end, FIREFOX_END);
	put_marker_column(f, t, "phase", put_phase, FIREFOX_PHASE);
	put_marker_column(f, t, "category", put_category, FIREFOX_CATEGORY);
	buf_printf(&f->out->buf, "\"length\":%zu}", count(t, MARKERS) + firefox_count_spans(f, t));
}

static void put_no_markers(struct firefox *f)
{
	buf_puts(&f->out->buf, "\n\"markers\":{\"data\":[],\"name\":[],\"startTime\":[],\"endTime\":[],"
			       "\"phase\":[],\"category\":[],\"length\":0}");
}

/* --- threads --- */

/* A kernel thread counts as a process of its own. */
static int64_t process_of(const struct timeline *t)
{
	return t->pid ? t->pid : t->tid;
}

static void put_track(struct firefox *f, const struct timeline *t, enum which which)
{
	const struct names *names = session_names(f->session);
	const char *comm = names_thread(names, t->origin, t->tid);
	const char *process = t->pid ? names_process(names, t->origin, t->pid) : comm;
	const char *more = which == WAITS ? ": waits" : "";
	__cleanup(freep) char *name = xasprintf("%s%s", comm ? comm : "(unknown)", more);
	struct buf *b = &f->out->buf;

	buf_puts(b, "{\"processType\":\"default\",\"processStartupTime\":0,"
		    "\"processShutdownTime\":null,\"registerTime\":0,\"unregisterTime\":null,"
		    "\"pausedRanges\":[],\"showMarkersInTimeline\":true,\"name\":");
	json_put_string(b, name);
	buf_puts(b, ",\"processName\":");
	json_put_string(b, process ? process : "(unknown)");
	buf_printf(b, ",\"isMainThread\":%s,\"pid\":\"%" PRId64 "\",\"tid\":",
		   which == ON_CPU && t->tid == process_of(t) ? "true" : "false", process_of(t));
	buf_printf(b, which == WAITS ? "\"%" PRId64 " waits\"," : "%" PRId64 ",", t->tid);
	put_samples(f, t, which);
	if (which == ON_CPU)
		put_markers(f, t);
	else
		put_no_markers(f);
	buf_puts(b, "}");
}

static void put_threads(struct firefox *f, const struct timelines *tl)
{
	const char *before = "\"threads\":[\n";

	vec_for_each(t, &tl->threads) {
		for (enum which which = ON_CPU; which <= WAITS; which++) {
			if (which == WAITS && !count(t, WAITS))
				continue;
			buf_puts(&f->out->buf, before);
			put_track(f, t, which);
			before = ",\n";
		}
	}
	buf_puts(&f->out->buf, "],\n");
}

/* --- the whole profile --- */

/* The lines about the recording, shown under "Profile info". */
static void put_extra(struct firefox *f)
{
	const char *before = "";
	struct table t;

	buf_puts(&f->out->buf, "\"extra\":[{\"label\":\"Recording\",\"entries\":[");
	about(f->x, &t);
	vec_for_each(r, &t.rows) {
		const char *line = r->cells[0].s;

		if (!line || !*line)
			continue;
		buf_printf(&f->out->buf, "%s{\"label\":\"\",\"format\":\"string\",\"value\":", before);
		json_put_string(&f->out->buf, line);
		buf_puts(&f->out->buf, "}");
		before = ",\n";
	}
	buf_puts(&f->out->buf, "]}]},\n");
	table_free(&t);
}

static void put_meta(struct firefox *f)
{
	const struct experiment *e = f->session->experiments.data[0];
	struct buf *b = &f->out->buf;

	buf_printf(b, "{\"meta\":{\"interval\":1,\"startTime\":%" PRId64 ",\"processType\":0,"
		   "\"stackwalk\":1,\"version\":%d,\"preprocessedProfileVersion\":%d,"
		   "\"symbolicated\":true,\"usesOnlyOneStackType\":true,"
		   "\"sourceCodeIsNotOnSearchfox\":true,\"keepProfileThreadOrder\":false,"
		   "\"sampleUnits\":{\"time\":\"ms\",\"eventDelay\":\"ms\",\"threadCPUDelta\":\"ns\"},"
		   "\"importedFrom\":\"er_export " ER_VERSION "\",\"product\":",
		   e->start_epoch * 1000, GECKO_VERSION, VERSION);
	json_put_string(b, e->name);
	buf_puts(b, ",\"oscpu\":");
	json_put_string(b, e->os);
	buf_puts(b, ",\n");
	buf_puts(b, head);
	put_extra(f);
}

static int firefox_write(const struct export *x, struct outfile *out)
{
	struct firefox f = { .x = x, .session = x->view->session, .out = out };
	struct timelines tl;
	int rc = gather_timelines(x, true, &tl);

	if (!rc) {
		f.spans = session_spans(f.session);
		f.marks = span_marks(f.session, x->view->filter);
		firefox_add_threads(&f, &tl);
		put_meta(&f);
		put_threads(&f, &tl);
		firefox_put_tables(&f);
		buf_puts(&out->buf, "}\n");
	}
	timelines_free(&tl);
	free(f.marks);
	firefox_free(&f);
	return rc;
}

const struct exporter firefox_exporter = {
	.name = "firefox", .suffix = ".profile.json.gz", .gzip = true, .write = firefox_write,
	.help = "profile for profiler.firefox.com: samples; waits and spans as markers",
};
