/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A trace for Perfetto. Each recorded CPU sample is a sample with its stack. Each recorded wait is
 * a slice, and so is each recorded call of a span. If all waits of a thread were recorded, the trace
 * also has the scheduler's events of that thread, from which Perfetto draws thread states and CPUs.
 * Times without recorded data are left empty. Times are CLOCK_MONOTONIC.
 */
#include <stdlib.h>
#include <string.h>

#include "analysis/base/diag.h"
#include "analysis/base/wrap.h"
#include "analysis/experiment/exp_recorder.h"
#include "analysis/experiment/mstate.h"
#include "analysis/export/about.h"
#include "analysis/export/export.h"
#include "analysis/export/gather.h"
#include "analysis/export/outfile.h"
#include "analysis/export/perfetto_impl.h"
#include "analysis/export/protobuf.h"
#include "analysis/metrics/timeline.h"
#include "analysis/model/names.h"
#include "analysis/views/table.h"
#include "analysis/views/view.h"
#include "analysis/views/view_state.h"

enum {
	SEQUENCE = 1, SEQUENCE_BEGINS = 1, SEQUENCE_CONTINUES = 2,
	CLOCKS_CLOCK = 1, CLOCK_ID = 1, CLOCK_TIME = 2, CLOCK_REALTIME_ID = 1, CLOCK_BOOTTIME_ID = 6,
	INFO_UTSNAME = 1, UTSNAME_SYSNAME = 1, UTSNAME_RELEASE = 3, UTSNAME_MACHINE = 4,
	TREE_PROCESS = 1, TREE_THREAD = 2, PROCESS_PID = 1, PROCESS_CMDLINE = 3, PROCESS_KTHREAD = 8,
	THREAD_TID = 1, THREAD_NAME = 2, THREAD_PID = 3,
	DEFAULTS_PERF = 12, PERF_TIMEBASE = 1, TIMEBASE_PERIOD = 1, TIMEBASE_NAME = 10,
	TIMEBASE_COUNTER = 4, COUNTER_CPU_CLOCK = 1,
	SAMPLE_CPU = 1, SAMPLE_PID = 2, SAMPLE_TID = 3, SAMPLE_STACK = 4, SAMPLE_MODE = 5,
	SAMPLE_TIMEBASE = 6, SAMPLE_LOST = 17, MODE_KERNEL = 1, MODE_USER = 2,
	ABOUT_TRACK = 1,
};

const char *perfetto_text(struct perfetto *p, const char *s)
{
	buf_clear(&p->text);
	buf_put_printable(&p->text, s ? s : "");
	return p->text.data ? p->text.data : "";
}

void perfetto_put(struct perfetto *p, int64_t time)
{
	if (time > 0)
		pb_uint(&p->packet, PACKET_TIMESTAMP, time);
	if (p->interned.len)
		pb_message(&p->packet, PACKET_INTERNED, &p->interned);
	pb_uint(&p->packet, PACKET_SEQUENCE, SEQUENCE);
	pb_uint(&p->packet, PACKET_SEQUENCE_FLAGS, p->begun ? SEQUENCE_CONTINUES : SEQUENCE_BEGINS);
	pb_message(&p->out->buf, TRACE_PACKET, &p->packet);
	p->begun = true;
	outfile_flush(p->out, 1 << 16);
}

const char *perfetto_thread_name(struct perfetto *p, const struct experiment *origin, int64_t tid)
{
	const char *name = names_thread(session_names(p->session), origin, tid);

	return name ? name : "(unknown)";
}

const char *perfetto_process_name(struct perfetto *p, const struct experiment *origin,
				  int64_t pid, int64_t tid)
{
	const char *name = pid ? names_process(session_names(p->session), origin, pid) : NULL;

	return name ? name : perfetto_thread_name(p, origin, pid ? pid : tid);
}

/* --- the machine, processes and threads --- */

static void put_clock(struct perfetto *p, unsigned clock, int64_t ns)
{
	pb_uint(&p->inner, CLOCK_ID, clock);
	pb_uint(&p->inner, CLOCK_TIME, ns);
	pb_message(&p->message, CLOCKS_CLOCK, &p->inner);
}

/*
 * The trace's clock together with the time of day, and the kernel's version, from which Perfetto
 * knows the numbers of task states.
 */
static void put_machine(struct perfetto *p, const struct experiment *e)
{
	const char *os = strncmp(e->os, "Linux ", 6) ? e->os : e->os + 6;

	put_clock(p, CLOCK_BOOTTIME_ID, e->start_ns);
	put_clock(p, CLOCK_REALTIME_ID, e->start_epoch * 1000000000);
	pb_message(&p->packet, PACKET_CLOCKS, &p->message);
	perfetto_put(p, e->start_ns);
	pb_string(&p->inner, UTSNAME_SYSNAME, "Linux");
	pb_string(&p->inner, UTSNAME_RELEASE, perfetto_text(p, os));
	pb_string(&p->inner, UTSNAME_MACHINE, perfetto_text(p, e->arch));
	pb_message(&p->message, INFO_UTSNAME, &p->inner);
	pb_message(&p->packet, PACKET_SYSTEM_INFO, &p->message);
	perfetto_put(p, 0);
	pb_uint(&p->inner, TIMEBASE_PERIOD, 1);
	pb_uint(&p->inner, TIMEBASE_COUNTER, COUNTER_CPU_CLOCK);
	pb_string(&p->inner, TIMEBASE_NAME, "CPU time of samples");
	pb_message(&p->message, PERF_TIMEBASE, &p->inner);
	pb_message(&p->inner, DEFAULTS_PERF, &p->message);
	pb_message(&p->packet, PACKET_DEFAULTS, &p->inner);
	perfetto_put(p, 0);
}

static void put_threads(struct perfetto *p, const struct timelines *tl)
{
	struct map seen = { 0 };
	bool fresh;

	vec_for_each(t, &tl->threads) {
		int64_t pid = perfetto_pid(t->pid, t->tid);

		map_put(&seen, (uint64_t)t->origin->id << 32 | (uint32_t)pid, &fresh);
		if (fresh) {
			pb_uint(&p->inner, PROCESS_PID, pid);
			pb_string(&p->inner, PROCESS_CMDLINE,
				  perfetto_text(p, perfetto_process_name(p, t->origin, t->pid, t->tid)));
			pb_uint(&p->inner, PROCESS_KTHREAD, !t->pid);
			pb_message(&p->message, TREE_PROCESS, &p->inner);
		}
		pb_uint(&p->inner, THREAD_TID, t->tid);
		pb_string(&p->inner, THREAD_NAME,
			  perfetto_text(p, perfetto_thread_name(p, t->origin, t->tid)));
		pb_uint(&p->inner, THREAD_PID, pid);
		pb_message(&p->message, TREE_THREAD, &p->inner);
	}
	pb_message(&p->packet, PACKET_PROCESS_TREE, &p->message);
	perfetto_put(p, p->session->experiments.data[0]->start_ns);
	map_free(&seen);
}

/* --- samples --- */

struct sample {
	const struct timeline *thread;
	const struct activity *at;
};

static int by_time(const void *pa, const void *pb)
{
	const struct sample *a = pa, *b = pb;
	int64_t ta = wrap_plus(a->thread->origin->start_ns, a->at->end);
	int64_t tb = wrap_plus(b->thread->origin->start_ns, b->at->end);

	if (ta != tb)
		return ta < tb ? -1 : 1;
	return (a->thread > b->thread) - (a->thread < b->thread);
}

/*
 * The timebase of a CPU is the CPU time of its samples so far. This preserves the samples' weights.
 */
static void put_sample(struct perfetto *p, const struct sample *s, uint64_t timebase)
{
	const struct timeline *t = s->thread;

	if (s->at->cpu >= 0)
		pb_uint(&p->message, SAMPLE_CPU, s->at->cpu);
	pb_uint(&p->message, SAMPLE_PID, perfetto_pid(t->pid, t->tid));
	pb_uint(&p->message, SAMPLE_TID, t->tid);
	pb_uint(&p->message, SAMPLE_STACK, perfetto_stack(p, s->at->stack));
	pb_uint(&p->message, SAMPLE_MODE, s->at->state == MS_USER ? MODE_USER : MODE_KERNEL);
	pb_uint(&p->message, SAMPLE_TIMEBASE, timebase);
	pb_message(&p->packet, PACKET_PERF_SAMPLE, &p->message);
	perfetto_put(p, wrap_plus(t->origin->start_ns, s->at->end));
}

static void put_samples(struct perfetto *p, const struct timelines *tl)
{
	VEC(struct sample) all = { 0 };
	struct map timebases = { 0 };

	vec_for_each(t, &tl->threads) {
		vec_for_each(a, &t->acts) {
			if (mstate_descs[a->state].on_cpu)
				vec_push(&all, (struct sample){ t, a });
		}
	}
	vec_sort(&all, by_time);
	vec_for_each(s, &all) {
		uint64_t *timebase = map_put(&timebases, (uint32_t)s->at->cpu, NULL);

		*timebase += s->at->weight;
		put_sample(p, s, *timebase);
	}
	vec_free(&all);
	map_free(&timebases);
}

/* --- what was lost --- */

static void put_losses(struct perfetto *p, const struct experiment *founder)
{
	vec_for_each(el, &founder->recorder) {
		int64_t lost = element_int(el, "lost");

		if (strcmp(el->name, "ring") || lost <= 0)
			continue;
		pb_uint(&p->message, SAMPLE_CPU, element_int(el, "cpu"));
		pb_uint(&p->message, SAMPLE_LOST, lost);
		pb_message(&p->packet, PACKET_PERF_SAMPLE, &p->message);
		perfetto_put(p, wrap_plus(founder->start_ns, founder->end_ns));
	}
}

/* The lines about the recording, as marks at its beginning on a separate track. */
static void put_about(struct perfetto *p)
{
	int64_t begin = p->session->experiments.data[0]->start_ns;
	struct table t;

	pb_uint(&p->message, TRACK_UUID, ABOUT_TRACK);
	pb_string(&p->message, TRACK_NAME, "About the recording");
	pb_message(&p->packet, PACKET_TRACK, &p->message);
	perfetto_put(p, 0);
	about(p->x, &t);
	vec_for_each(r, &t.rows) {
		const char *line = r->cells[0].s;

		if (!line || !*line)
			continue;
		pb_uint(&p->message, EVENT_TYPE, TYPE_INSTANT);
		pb_uint(&p->message, EVENT_TRACK, ABOUT_TRACK);
		pb_string(&p->message, EVENT_NAME, perfetto_text(p, line));
		pb_message(&p->packet, PACKET_TRACK_EVENT, &p->message);
		perfetto_put(p, begin);
	}
	table_free(&t);
}

static void perfetto_free(struct perfetto *p)
{
	struct buf *bufs[] = { &p->packet, &p->message, &p->inner, &p->interned, &p->text };
	struct map *maps[] = { &p->stacks, &p->frames, &p->funcs, &p->objects, &p->tracks };

	for (size_t i = 0; i < sizeof(bufs) / sizeof(bufs[0]); i++)
		buf_free(bufs[i]);
	for (size_t i = 0; i < sizeof(maps) / sizeof(maps[0]); i++)
		map_free(maps[i]);
	strtab_free(&p->sources);
	vec_free(&p->path);
	vec_free(&p->path_frames);
	vec_free(&p->ids);
}

static void put_all(struct perfetto *p, const struct timelines *tl)
{
	size_t gaps;

	put_machine(p, p->session->experiments.data[0]);
	put_threads(p, tl);
	put_about(p);
	vec_for_each(e, &p->session->experiments) {
		if (!(*e)->founder)
			put_losses(p, *e);
	}
	put_samples(p, tl);
	perfetto_waits(p, tl);
	perfetto_spans(p);
	gaps = perfetto_sched(p, tl);
	if (gaps)
		diag_note(p->x->diag, "%zu of %zu threads have waits without an event or were cut by the "
			  "filter: only their recorded waits are drawn%s", gaps, tl->threads.len,
			  waits_are_complete(p->session) ? "" : "; er_kernel -s all records all waits");
}

static int perfetto_write(const struct export *x, struct outfile *out)
{
	struct perfetto p = { .x = x, .session = x->view->session, .out = out };
	struct timelines tl;
	int rc = gather_timelines(x, false, &tl);

	if (!rc)
		put_all(&p, &tl);
	timelines_free(&tl);
	perfetto_free(&p);
	return rc;
}

const struct exporter perfetto_exporter = {
	.name = "perfetto", .suffix = ".pftrace.gz", .gzip = true, .write = perfetto_write,
	.help = "trace for ui.perfetto.dev: states, samples, waits, wakers, spans",
};
