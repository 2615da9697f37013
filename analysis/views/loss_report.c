/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/views/loss_report.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/buf.h"
#include "analysis/experiment/exp_packets.h"
#include "analysis/experiment/exp_recorder.h"
#include "analysis/experiment/exp_threads.h"
#include "analysis/views/columns.h"
#include "analysis/views/table.h"
#include "analysis/views/unwinding.h"

enum { CPUS_MAX = 65536 };

/* The packet numbers of one CPU, from the founder and all its sub-experiments. */
struct ring {
	VEC(uint32_t) seqs[ER_RINGS];
};

struct loss_report {
	const struct session *session;
	const struct experiment *e; /* the founder */
	VEC(struct ring) by_cpu;
};

/* What packets of the stream are counted as; ER_RINGS: nothing. */
static enum er_ring ring_of(const struct exp_stream *st)
{
	enum er_packet kind = st->kind == ER_PKT_MHWC ? ER_PKT_HWC : st->kind;
	int ring = 0;

	while (ring < ER_RINGS && ring_descs[ring].packet != kind)
		ring++;
	return ring;
}

/* Clock packets are samples, waits, or (ER_RINGS) the rest of a total, which had no record. */
static enum er_ring ring_of_packet(enum er_ring ring, const struct packet *p,
				   struct field_ref state, struct field_ref flags)
{
	int64_t ms = packet_int(p, state);

	if (ring != ER_RING_CLOCK || ms < 0 || ms >= MS_COUNT || mstate_descs[ms].on_cpu)
		return ring;
	return packet_int(p, flags) & WFLAG_REST ? ER_RINGS : ER_RING_WAIT;
}

static void rings_read(struct loss_report *a, const struct experiment *e, const struct exp_stream *st)
{
	struct field_ref seq = stream_field(st, "SEQ"), cpu = stream_field(st, "CPUID");
	struct field_ref state = stream_field(st, "MSTATE"), flags = stream_field(st, "WFLAGS");
	enum er_ring of_stream = ring_of(st);
	struct packet_iter it;
	struct packet p;

	packet_iter_init(&it, e, st);
	while (packet_next(&it, &p)) {
		uint64_t c = packet_int(&p, cpu);
		enum er_ring kind = ring_of_packet(of_stream, &p, state, flags);

		if (!seq.offset || c >= CPUS_MAX || kind == ER_RINGS || (uint32_t)packet_int(&p, seq) == SEQ_NONE)
			continue;
		while (a->by_cpu.len <= c)
			vec_push(&a->by_cpu, (struct ring){ 0 });
		vec_push(&a->by_cpu.data[c].seqs[kind], (uint32_t)packet_int(&p, seq));
	}
}

static int seq_cmp(const void *pa, const void *pb)
{
	uint32_t a = *(const uint32_t *)pa, b = *(const uint32_t *)pb;

	return (a > b) - (a < b);
}

/* One record may have become several packets of the same number: count numbers. */
static uint64_t ring_distinct(struct ring *r, enum er_ring kind)
{
	uint64_t n = 0;

	vec_sort(&r->seqs[kind], seq_cmp);
	for (size_t i = 0; i < r->seqs[kind].len; i++)
		n += i == 0 || r->seqs[kind].data[i] != r->seqs[kind].data[i - 1];
	return n;
}

/* Sum of an attribute over all elements of this name. */
static uint64_t sum_of(const struct experiment *e, const char *element, const char *attr)
{
	uint64_t sum = 0;

	vec_for_each(el, &e->recorder) {
		if (!strcmp(el->name, element))
			sum += element_int(el, attr);
	}
	return sum;
}

static const char *wrong_text(uint64_t produced, uint64_t recorded, uint64_t lost, uint64_t found)
{
	if (recorded + lost != produced)
		return "  *** recorded and lost do not add up to produced";
	return found == recorded ? "" : "  *** not as many as were recorded";
}

/* The counts of an experiment that was not closed belong to different moments: they need not agree. */
static void put_ring(struct table *t, struct loss_report *a, enum er_ring kind, bool wrong_only)
{
	const struct ring_desc *ring = &ring_descs[kind];

	vec_for_each(el, &a->e->recorder) {
		int64_t cpu = element_int(el, "cpu");
		uint64_t produced = element_int(el, "produced");
		uint64_t recorded = element_int(el, "recorded"), lost = element_int(el, "lost");
		const char *wrong;
		uint64_t found = 0;

		if (strcmp(el->name, ring->element))
			continue;
		if (cpu >= 0 && (size_t)cpu < a->by_cpu.len)
			found = ring_distinct(&a->by_cpu.data[cpu], kind);
		found += element_int(el, "folded");
		wrong = a->e->closed ? wrong_text(produced, recorded, lost, found) : "";
		if (wrong_only && !*wrong)
			continue;
		put_line(t, "  CPU %" PRId64 ": %" PRIu64 " %s produced, %" PRIu64 " recorded, %" PRIu64
			 " lost; %" PRIu64 " in the packets%s", cpu, produced,
			 produced == 1 ? ring->one : ring->many, recorded, lost, found, wrong);
	}
}

static void put_rings(struct table *t, struct loss_report *a, bool wrong_only)
{
	for (int kind = 0; kind < ER_RINGS; kind++) {
		if (ring_descs[kind].one)
			put_ring(t, a, kind, wrong_only);
	}
}

static const char *plural(uint64_t n)
{
	return n == 1 ? "" : "s";
}

struct record_loss loss_report_records(struct loss_report *a)
{
	struct record_loss r = { 0 };

	for (int kind = 0; a && kind < ER_RINGS; kind++) {
		const struct ring_desc *ring = &ring_descs[kind];

		if (!ring->one)
			continue;
		r.produced[kind] = sum_of(a->e, ring->element, "produced");
		r.lost[kind] = sum_of(a->e, ring->element, "lost");
		vec_for_each(el, &a->e->recorder) {
			uint64_t cpu = element_int(el, "cpu"), found = 0;
			uint64_t recorded = element_int(el, "recorded");

			if (strcmp(el->name, ring->element))
				continue;
			if (cpu < a->by_cpu.len)
				found = ring_distinct(&a->by_cpu.data[cpu], kind);
			found += element_int(el, "folded");
			*(a->e->closed ? &r.missing[kind] : &r.unwritten[kind]) +=
				recorded > found ? recorded - found : 0;
		}
	}
	return r;
}

/* List the threads that lost records and the seconds in which they did. */
static void put_losers(struct table *t, const struct experiment *e)
{
	vec_for_each(el, &e->recorder) {
		int64_t count = element_int(el, "count");
		const char *kind = element_get(el, "kind");

		if (!strcmp(el->name, "loss"))
			put_line(t, "  in second %" PRId64 ": %" PRId64 " %s record%s of PID %" PRId64
				 ", TID %" PRId64, element_int(el, "second"), count, kind ? kind : "",
				 plural(count), element_int(el, "pid"), element_int(el, "tid"));
	}
	if (sum_of(e, "stacks", "loss_unattributed"))
		put_line(t, "  %" PRIu64 " further records were lost, of which only the number is known",
			 sum_of(e, "stacks", "loss_unattributed"));
}

/*
 * Compare each counter's own total with its overflows. The total may exceed them by one interval
 * on each CPU. Any further excess was not recorded: the kernel held overflows back, or they
 * occurred while a BPF program ran.
 */
static void put_counters(struct table *t, const struct experiment *e)
{
	vec_for_each(el, &e->recorder) {
		const char *name = element_get(el, "name");
		uint64_t events = element_int(el, "events"), seen = element_int(el, "seen");
		uint64_t under_way = (uint64_t)element_int(el, "interval") * (e->ncpus ? e->ncpus : 1);
		double enabled = element_int(el, "enabled_ns"), running = element_int(el, "running_ns");

		if (strcmp(el->name, "counter") || !name)
			continue;
		if (events > seen && events - seen > under_way)
			put_line(t, "*** Counter %s: %" PRIu64 " of %" PRIu64 " events (%.2f %%) overflowed "
				 "unseen; a larger interval makes them fewer", name, events - seen, events,
				 percent_of(events - seen, events));
		if (running < 0.999 * enabled)
			put_line(t, "*** Counter %s: counted %.1f %% of the time, because it shared the unit "
				 "with others; record fewer at once", name, 100 * running / enabled);
	}
}

static void put_counted(struct table *t, const struct experiment *e)
{
	vec_for_each(el, &e->recorder) {
		const char *name = element_get(el, "name");

		if (!strcmp(el->name, "counter") && name && element_get(el, "events"))
			put_line(t, "  Counter %s: %" PRId64 " events, %" PRId64 " of them in overflows that "
				 "were seen", name, element_int(el, "events"), element_int(el, "seen"));
	}
}

/* Add how often each probe was hit, recorded or only counted. These counts are exact. */
static void put_probes(struct table *t, const struct experiment *e)
{
	vec_for_each(el, &e->recorder) {
		const char *name = element_get(el, "name"), *spec = element_get(el, "spec");
		int64_t hits = element_int(el, "hits"), sites = element_int(el, "sites");

		if (strcmp(el->name, "probe") || !name)
			continue;
		put_line(t, "Probe %s: %" PRId64 " hit%s%s, at %" PRId64 " place%s of %s", name, hits,
			 plural(hits), element_int(el, "counts_only") ? ", only counted" : "", sites,
			 plural(sites), spec ? spec : name);
		if (element_int(el, "unread"))
			put_line(t, "*** Probe %s: %" PRId64 " arguments could not be read, because their pages "
				 "were not in memory: they are 0 in packets, and fail comparisons", name,
				 element_int(el, "unread"));
		if (element_int(el, "missed"))
			put_line(t, "*** Probes: the kernel left out %" PRId64 " hits, because a BPF program "
				 "was running on the CPU already", element_int(el, "missed"));
	}
}

/* What is not in the sums of any span. */
static void put_span_losses(struct table *t, const struct experiment *e)
{
	uint64_t missed = sum_of(e, "spanloss", "missed"), vanished = sum_of(e, "spanloss", "vanished");

	if (missed)
		put_line(t, "*** Spans: the kernel left out %" PRIu64 " begins or ends, because a BPF program "
			 "was running on the CPU already", missed);
	if (vanished)
		put_line(t, "*** Spans: %" PRIu64 " call%s began, and %s end was not seen", vanished,
			 plural(vanished), vanished == 1 ? "its" : "their");
}

/*
 * Shortages that any experiment may have; each line is shown only if its count is not zero. Stacks
 * are those of samples, waits, wakers and counters. How many were walked in all is not recorded, so
 * no share is shown; `unwinding` has the share of time.
 */
static const struct {
	const char *attr, *one, *many;
	const char *remedy; /* NULL: none */
} stack_rows[] = {
	{ "kernel_truncated", "kernel stack was deeper than was recorded",
	  "kernel stacks were deeper than was recorded",
	  "raise kernel.perf_event_max_stack; 255 frames are recorded at most" },
	{ "user_truncated", "user stack was deeper than was recorded",
	  "user stacks were deeper than was recorded", NULL },
	{ "kernel_failed", "kernel stack could not be walked",
	  "kernel stacks could not be walked", NULL },
	{ "user_failed", "user stack could not be walked", "user stacks could not be walked", NULL },
	{ "python_lost", "stack lacks Python functions, which could not be read",
	  "stacks lack Python functions, which could not be read", NULL },
	{ "python_unnamed", "frame of a Python function whose name could not be read",
	  "frames of Python functions whose names could not be read", NULL },
	{ "no_storage", "sample of a thread that was not known yet: its time before it is missing",
	  "samples of threads that were not known yet: their time before it is missing", NULL },
};

static void put_incomplete(struct table *t, const struct experiment *e)
{
	for (size_t i = 0; i < sizeof(stack_rows) / sizeof(stack_rows[0]); i++) {
		uint64_t n = sum_of(e, "stacks", stack_rows[i].attr);

		if (n)
			put_line(t, "  %" PRIu64 " %s%s%s", n,
				 n == 1 ? stack_rows[i].one : stack_rows[i].many,
				 stack_rows[i].remedy ? ": " : "",
				 stack_rows[i].remedy ? stack_rows[i].remedy : "");
	}
}

/* Interpreters of a release that the recorder does not know. */
static void put_pythons(struct table *t, const struct experiment *e)
{
	vec_for_each(el, &e->recorder) {
		if (strcmp(el->name, "python"))
			continue;
		if (element_int(el, "minor"))
			put_line(t, "  %sPython %" PRId64 ".%" PRId64 " is not known: its functions are not in "
				 "stacks, those of 3.11 to 3.13 are", element_int(el, "build") ? "This build of " : "",
				 element_int(el, "major"), element_int(el, "minor"));
		else
			put_line(t, "  A Python older than 3.11 is not known: its functions are not in stacks");
	}
}

/* Go programs whose goroutines have no numbers. */
static void put_gos(struct table *t, const struct experiment *e)
{
	vec_for_each(el, &e->recorder) {
		if (strcmp(el->name, "go"))
			continue;
		if (element_int(el, "major"))
			put_line(t, "  Programs of Go %" PRId64 ".%" PRId64 ": the numbers of their goroutines are "
				 "not known", element_int(el, "major"), element_int(el, "minor"));
		else
			put_line(t, "  Programs of an unknown version of Go: the numbers of their goroutines are "
				 "not known");
	}
}

/* With -y, or a -t that begins later; the element `paused` counts only what came after that. */
static void put_first_pause(struct table *t, const struct experiment *e, const struct exp_element *capture)
{
	const struct exp_pause *first = e->pauses.len ? e->pauses.data : NULL;
	int64_t began_ns = element_int(capture, "began_ns"); /* 0: never, or at once */

	if (first && !first->begin_ns && (!began_ns || began_ns >= first->end_ns))
		put_line(t, "Began paused: the first %.3f sec. are in no thread's time", first->end_ns / 1e9);
}

static void put_pauses(struct table *t, const struct experiment *e)
{
	vec_for_each(el, &e->recorder) {
		if (!strcmp(el->name, "capture"))
			put_first_pause(t, e, el);
		if (!strcmp(el->name, "paused"))
			put_line(t, "Paused %" PRId64 " time%s, %.3f sec. in all, which are in no "
				 "thread's time", element_int(el, "count"),
				 plural(element_int(el, "count")), element_int(el, "ns") / 1e9);
	}
}

/* Add what happened to the machine during the recording. */
static void put_machine(struct table *t, const struct experiment *e)
{
	vec_for_each(el, &e->recorder) {
		if (!strcmp(el->name, "suspended"))
			put_line(t, "  The machine was suspended for %.3f sec., which are in no time "
				 "here", element_int(el, "ns") / 1e9);
		else if (!strcmp(el->name, "hotplug"))
			put_line(t, "  CPU %" PRId64 " went offline or came online: %" PRId64 " time%s",
				 element_int(el, "cpu"), element_int(el, "count"),
				 plural(element_int(el, "count")));
	}
}

/* Add where our figures differ from the kernel's by design, and by how much. */
static void put_differences(struct table *t, const struct experiment *e)
{
	uint64_t moves = 0, ns = 0, threads = 0;

	vec_for_each(th, &e->threads) {
		moves += th->nmoved;
		ns += th->moved_ns;
		threads += th->nmoved != 0;
	}
	vec_for_each(f, &e->folds) {
		moves += f->sum.nmoved;
		ns += f->sum.moved_ns;
		threads += f->nmovers;
	}
	if (moves)
		put_line(t, "  The scheduler moved %" PRIu64 " sleeping thread%s, %" PRIu64
			 " time%s: %.3f sec. that schedstat counts as waiting for a CPU are "
			 "sleep here", threads, plural(threads), moves, plural(moves), ns / 1e9);
}

static const char *recorder_of(const struct experiment *e)
{
	return e->system_wide ? "er_kernel" : "collect";
}

/* Add the recorder's CPU time. It includes startup and shutdown, so the share is an upper bound. */
static void put_cost(struct table *t, const struct experiment *e)
{
	double self = (sum_of(e, "self", "user_ns") + sum_of(e, "self", "system_ns")) / 1e9;
	uint64_t bpf_ns = sum_of(e, "cost", "ns");
	double bpf = bpf_ns / 1e9, seconds = e->end_ns / 1e9;
	const char *recorder = recorder_of(e);

	put_line(t, "Recording cost %.2f %% of one CPU: %s %.3f sec., start and end included; BPF %.3f%s",
		 seconds > 0 ? 100 * (self + bpf) / seconds : 0, recorder, self, bpf,
		 bpf_ns ? "" : " (not counted)");
}

static void put_programs(struct table *t, const struct experiment *e)
{
	uint64_t user = sum_of(e, "self", "user_ns"), system = sum_of(e, "self", "system_ns");
	const char *recorder = recorder_of(e);

	vec_for_each(el, &e->recorder) {
		uint64_t runs = element_int(el, "runs"), ns = element_int(el, "ns");
		const char *program = element_get(el, "program");

		if (strcmp(el->name, "cost"))
			continue;
		if (ns && runs)
			put_line(t, "  BPF program %s: %" PRIu64 " run%s, %.3f sec., %" PRIu64
				 " ns each", program ? program : "", runs, plural(runs),
				 (double)ns / 1e9, ns / runs);
		else
			put_line(t, "  BPF program %s: %" PRIu64 " run%s, time not counted by the kernel",
				 program ? program : "", runs, plural(runs));
	}
	put_line(t, "  %s itself: %.3f sec. user, %.3f sec. system, %" PRIu64 " MB", recorder,
		 (double)user / 1e9, (double)system / 1e9, sum_of(e, "self", "maxrss_kb") / 1024);
}

struct loss_report *loss_report_new(const struct session *s, const struct experiment *founder)
{
	struct loss_report *a;

	if (!founder->recorder.len)
		return NULL;
	a = xcalloc(1, sizeof(*a));
	a->session = s;
	a->e = founder;
	vec_for_each(ep, &s->experiments) {
		if (*ep != founder && (*ep)->founder != founder)
			continue;
		vec_for_each(st, &(*ep)->streams) {
			if (ring_of(st) < ER_RINGS)
				rings_read(a, *ep, st);
		}
	}
	return a;
}

void loss_report_free(struct loss_report *a)
{
	if (!a)
		return;
	vec_for_each(r, &a->by_cpu) {
		for (int kind = 0; kind < ER_RINGS; kind++)
			vec_free(&r->seqs[kind]);
	}
	vec_free(&a->by_cpu);
	free(a);
}

void loss_report_brief(struct table *t, struct loss_report *a)
{
	struct record_loss records;

	if (!a)
		return;
	records = loss_report_records(a);
	put_pauses(t, a->e);
	put_probes(t, a->e);
	put_span_losses(t, a->e);
	losses_put(t, a->session, a->e, &records);
	put_counters(t, a->e);
	put_cost(t, a->e);
}

void loss_report_summary(struct table *t, struct loss_report *a)
{
	struct record_loss records;

	if (!a)
		return;
	put_line(t, "%s", "");
	records = loss_report_records(a);
	put_probes(t, a->e);
	put_span_losses(t, a->e);
	losses_put(t, a->session, a->e, &records);
	put_losers(t, a->e);
	put_rings(t, a, true);
	put_counters(t, a->e);
	put_incomplete(t, a->e);
	put_pythons(t, a->e);
	put_gos(t, a->e);
	unwinding_summary(t, a->e);
	put_pauses(t, a->e);
	put_machine(t, a->e);
	put_differences(t, a->e);
	put_cost(t, a->e);
}

void loss_report_details(struct table *t, struct loss_report *a)
{
	if (!a)
		return;
	put_line(t, "%s", "");
	put_line(t, "Samples by CPU, and the cost of recording:");
	put_rings(t, a, false);
	put_counted(t, a->e);
	put_programs(t, a->e);
}
