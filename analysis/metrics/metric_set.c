/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * All metrics, and which of them the recorded data support.
 *
 * Names are gprofng's, so that a script works with both programs; aliases are those of
 * older releases.
 *
 * kcpu is CPU time in kernel mode: the states KERNEL_CPU, SYSTEM and TRAP. It is there when
 * a kernel experiment is open. It then counts in each open experiment, so that a program has its
 * kernel time whether er_kernel or collect recorded it. cpu is all time on a CPU: user plus kcpu.
 * In recordings of er_kernel system, totalcpu, total and wall include KERNEL_CPU, the kernel time of
 * processes that were not followed; gprofng leaves it out of all four. kthr is a thread's time in
 * the kernel, with or without a CPU: kcpu plus all waits.
 */
#include <stdlib.h>
#include <string.h>

#include "analysis/base/diag.h"
#include "analysis/experiment/exp_packets.h"
#include "analysis/experiment/exp_recorder.h"
#include "analysis/experiment/mstate.h"
#include "analysis/metrics/leaks.h"
#include "analysis/metrics/metric.h"
#include "analysis/model/session.h"

#define BIT(state) (1u << (state))

enum {
	ALL_TEN = BIT(MS_LINUX_CPU) - 1,
	ON_CPU = BIT(MS_USER) | BIT(MS_SYSTEM) | BIT(MS_TRAP) | BIT(MS_LINUX_CPU),
	IN_KERNEL = BIT(MS_SYSTEM) | BIT(MS_TRAP),
	OFF_CPU = ALL_TEN & ~ON_CPU,
	OTHER = BIT(MS_KFAULT) | BIT(MS_SLEEP) | BIT(MS_STOPPED),
};

/* The sets of states for which a clock metric makes sense; er_kernel's packets add another set. */
enum {
	IN_LINUX = 1, IN_USER = 2, IN_KERNEL_SET = 4, IN_ALL = 8, IN_SYSTEM_WIDE = 16,
	IN_SYSTEM_WIDE_ALL = 32,
	IN_LOCKS = 64,
	IN_ER = IN_USER | IN_KERNEL_SET,
};

/* A metric of one state takes its names from the state's row in mstate_descs. */
struct clock_row {
	unsigned sets, states;
	const char *name, *uname, *abbr;
};

#define STATE(in, state) { .sets = (in), .states = BIT(state) }

static const struct clock_row clock_rows[] = {
	{ IN_ALL, ALL_TEN, "total", "Total Thread Time", "Total Thread" },
	{ IN_ALL, ALL_TEN, "wall", "Wall Time", "Wall" },
	{ IN_SYSTEM_WIDE, ON_CPU | BIT(MS_KERNEL_CPU), "cpu", "CPU Time", "CPU" },
	STATE(IN_SYSTEM_WIDE, MS_KERNEL_CPU),
	{ IN_SYSTEM_WIDE_ALL, OFF_CPU | BIT(MS_KERNEL_CPU), "kthr", "Kthr Time", "Kthr" },
	{ IN_LINUX | IN_USER | IN_ALL | IN_SYSTEM_WIDE, ON_CPU, "totalcpu", "Total CPU Time",
	  "Total CPU" },
	STATE(IN_ER | IN_ALL, MS_USER),
	STATE(IN_USER | IN_ALL | IN_SYSTEM_WIDE, MS_SYSTEM),
	STATE(IN_ALL, MS_TRAP),
	STATE(IN_ALL, MS_DFAULT),
	STATE(IN_ALL, MS_TFAULT),
	STATE(IN_ALL, MS_KFAULT),
	STATE(IN_ALL, MS_STOPPED),
	STATE(IN_ALL, MS_WAIT_CPU),
	STATE(IN_ALL, MS_SLEEP),
	STATE(IN_ALL | IN_LOCKS, MS_USER_LOCK),
	{ IN_ALL, OTHER, "owait", "Other Wait Time", "Other Wait" },
};

enum { HEAP_ALLOCATES = 1 << HEAP_MALLOC | 1 << HEAP_REALLOC | 1 << HEAP_MMAP };
enum { IO_ERRORS = 0x1f << 5 };

/*
 * Metrics of other kinds, listed before and after those of counters. All fields of struct metric
 * may be set here.
 */
static const struct metric rows_before_counters[] = {
	{ .kind = ER_PKT_SYNC, .name = "sync", .uname = "Sync Wait Time", .abbr = "Sync Wait",
	  .unit = UNIT_TIME, .value = "TSTAMP", .minus = "SRQST" },
	{ .kind = ER_PKT_SYNC, .name = "syncn", .uname = "Sync Wait Count", .abbr = "Sync Wait Count",
	  .unit = UNIT_COUNT, .value = "1" },
	{ .kind = ER_PKT_LOCKS, .name = "lockcnt", .uname = "Lock Count", .abbr = "Lock Count",
	  .unit = UNIT_COUNT, .value = "NLOCKS" },
	{ .kind = ER_PKT_HEAP, .name = "heapallocbytes", .alias = "balloc",
	  .uname = "Bytes Allocated", .abbr = "Bytes Allocated", .unit = UNIT_BYTES,
	  .select = "HTYPE", .states = HEAP_ALLOCATES, .value = "HSIZE" },
	{ .kind = ER_PKT_HEAP, .name = "heapalloccnt", .alias = "alloc", .uname = "Allocations",
	  .abbr = "Allocations", .unit = UNIT_COUNT, .select = "HTYPE", .states = HEAP_ALLOCATES,
	  .value = "1" },
	{ .kind = ER_PKT_HEAP, .name = "heapleakbytes", .alias = "bleak", .uname = "Bytes Leaked",
	  .abbr = "Bytes Leaked", .unit = UNIT_BYTES, .select = "HTYPE",
	  .states = HEAP_ALLOCATES, .leaked = true, .value = "HSIZE" },
	{ .kind = ER_PKT_HEAP, .name = "heapleakcnt", .alias = "leak", .uname = "Leaks",
	  .abbr = "Leaks", .unit = UNIT_COUNT, .select = "HTYPE", .states = HEAP_ALLOCATES,
	  .leaked = true, .value = "1" },
	{ .kind = ER_PKT_HEAP, .name = "heaptempcnt", .uname = "Temporary Allocations",
	  .abbr = "Temporary", .unit = UNIT_COUNT, .select = "HTYPE", .states = HEAP_ALLOCATES,
	  .temporary = true, .value = "1" },
};

static const struct metric rows_after_counters[] = {
	{ .kind = ER_PKT_IO, .name = "ioreadtime", .uname = "Read Time", .abbr = "Read",
	  .unit = UNIT_TIME, .select = "IOTYPE", .states = 1 << 0, .value = "TSTAMP",
	  .minus = "IORQST" },
	{ .kind = ER_PKT_IO, .name = "ioreadbytes", .uname = "Read Bytes", .abbr = "Read Bytes",
	  .unit = UNIT_BYTES, .select = "IOTYPE", .states = 1 << 0, .value = "IONBYTE" },
	{ .kind = ER_PKT_IO, .name = "ioreadcnt", .uname = "Read Count", .abbr = "Read Count",
	  .unit = UNIT_COUNT, .select = "IOTYPE", .states = 1 << 0, .value = "1" },
	{ .kind = ER_PKT_IO, .name = "iowritetime", .uname = "Write Time", .abbr = "Write",
	  .unit = UNIT_TIME, .select = "IOTYPE", .states = 1 << 1, .value = "TSTAMP",
	  .minus = "IORQST" },
	{ .kind = ER_PKT_IO, .name = "iowritebytes", .uname = "Write Bytes", .abbr = "Write Bytes",
	  .unit = UNIT_BYTES, .select = "IOTYPE", .states = 1 << 1, .value = "IONBYTE" },
	{ .kind = ER_PKT_IO, .name = "iowritecnt", .uname = "Write Count", .abbr = "Write Count",
	  .unit = UNIT_COUNT, .select = "IOTYPE", .states = 1 << 1, .value = "1" },
	{ .kind = ER_PKT_IO, .name = "ioothertime", .uname = "Other I/O Time", .abbr = "Other I/O",
	  .unit = UNIT_TIME, .select = "IOTYPE", .states = 7 << 2, .value = "TSTAMP",
	  .minus = "IORQST" },
	{ .kind = ER_PKT_IO, .name = "ioothercnt", .uname = "Other I/O Count",
	  .abbr = "Other I/O Count", .unit = UNIT_COUNT, .select = "IOTYPE", .states = 7 << 2,
	  .value = "1" },
	{ .kind = ER_PKT_IO, .name = "ioerrortime", .uname = "I/O Error Time", .abbr = "I/O Error",
	  .unit = UNIT_TIME, .select = "IOTYPE", .states = IO_ERRORS, .value = "TSTAMP",
	  .minus = "IORQST" },
	{ .kind = ER_PKT_IO, .name = "ioerrorcnt", .uname = "I/O Error Count",
	  .abbr = "I/O Error Count", .unit = UNIT_COUNT, .select = "IOTYPE", .states = IO_ERRORS,
	  .value = "1" },
};

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* A limit, because hostile logs may name any number of counters. */
enum { METRICS_MAX = 128 };

static void add(struct metric_set *ms, struct metric m)
{
	if (ms->all.len == METRICS_MAX)
		return;
	m.id = ms->all.len;
	vec_push(&ms->all, m);
}

static unsigned set_bit(int numstates)
{
	switch (numstates) {
	case STATES_LINUX: return IN_LINUX;
	case STATES_USER: return IN_USER;
	case STATES_KERNEL: return IN_KERNEL_SET;
	case STATES_ALL: return IN_ALL;
	default: return IN_LINUX;
	}
}

static unsigned clock_sets(const struct experiment *e, int numstates)
{
	unsigned sets = set_bit(numstates);

	if (!e->system_wide)
		return sets;
	return sets | IN_SYSTEM_WIDE | (sets & IN_ALL ? IN_SYSTEM_WIDE_ALL : 0);
}

static bool is_kernel_time(unsigned states)
{
	return states & BIT(MS_KERNEL_CPU) && !(states & BIT(MS_USER));
}

/*
 * In recordings of er_kernel kernel mode is KERNEL_CPU; where a process is followed it is SYSTEM
 * and TRAP, as in recordings of collect. Returns the states to add to a metric of kernel time, and
 * for recordings of er_kernel those to add to a metric with SYSTEM.
 */
static unsigned user_states(unsigned states)
{
	return is_kernel_time(states) ? IN_KERNEL : 0;
}

static unsigned kernel_states(unsigned states)
{
	return user_states(states) | (states & BIT(MS_SYSTEM) ? BIT(MS_KERNEL_CPU) : 0);
}

static void name_after(struct metric *m, const struct mstate_desc *state)
{
	m->name = state->metric;
	m->alias = state->metric_alias;
	m->uname = state->metric_uname;
	m->abbr = state->uname;
}

static void add_clock(struct metric_set *ms, unsigned sets)
{
	for (size_t i = 0; i < COUNT(clock_rows); i++) {
		const struct clock_row *r = &clock_rows[i];
		struct metric m = {
			.name = r->name, .uname = r->uname, .abbr = r->abbr, .unit = UNIT_TIME,
			.kind = ER_PKT_CLOCK, .select = "MSTATE",
			.states = r->states | user_states(r->states),
			.kstates = r->states | kernel_states(r->states), .value = "NTICK",
			.scale = 1000, .tag = -1,
		};

		if (!(r->sets & sets))
			continue;
		if (!r->name)
			name_after(&m, &mstate_descs[__builtin_ctz(r->states)]);
		m.main_thread = !strcmp(m.name, "wall");
		add(ms, m);
	}
}

static bool has_kind(const struct session *s, enum er_packet kind)
{
	vec_for_each(e, &s->experiments) {
		vec_for_each(st, &(*e)->streams) {
			if (st->kind == kind)
				return true;
		}
	}
	return false;
}

/* Of a recording of another collector there are the metrics that its own reader has. */
static bool has_own_heap(const struct session *s)
{
	vec_for_each(e, &s->experiments) {
		if (experiment_founder(*e)->recorder.len)
			return !leaks_sampled(s);
	}
	return false;
}

static void add_events(struct metric_set *ms, const struct session *s, const struct metric *rows,
		       size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct metric m = rows[i];

		if (!has_kind(s, m.kind) || (m.temporary && !has_own_heap(s)))
			continue;
		m.kstates = m.states;
		m.scale = 1;
		m.tag = -1;
		add(ms, m);
	}
}

static void add_counter(struct metric_set *ms, const struct experiment *e,
			const struct exp_stream *st, const struct exp_counter *c)
{
	const char *label = c->metric && *c->metric ? c->metric : c->name;
	bool probe = st->kind == ER_PKT_PROBE;

	if (!c->name || !*c->name || c->tag < 0 || c->tag > 63)
		return;
	vec_for_each(m, &ms->all) {
		if (m->tag >= 0 && !strcmp(m->name, c->name))
			return;
	}
	add(ms, (struct metric){
		.name = c->name, .alias = c->int_name && *c->int_name ? c->int_name : NULL,
		.uname = label, .abbr = label,
		.unit = UNIT_COUNT, .kind = st->kind, .select = probe ? "PROBE" : "HWCTAG",
		.value = probe ? "1" : "HWCINT",
		.scale = 1, .tag = c->tag, .states = 1ULL << c->tag, .kstates = 1ULL << c->tag,
		.mhz = c->timecvt > 0 ? e->mhz : 0, .ps = c->timecvt < 0 ? -(int64_t)c->timecvt : 0 });
}

/* Instructions per cycle and its inverse, if both counters were recorded. */
static const struct ratio_row {
	const char *name, *uname, *abbr, *num, *den;
} ratio_rows[] = {
	{ "IPC", "Instructions Per Cycle", "IPC", "insts", "cycles" },
	{ "CPI", "Cycles Per Instruction", "CPI", "cycles", "insts" },
	{ "K_IPC", "Kernel Instructions Per Cycle", "Kernel IPC", "K_insts", "K_cycles" },
	{ "K_CPI", "Kernel Cycles Per Instruction", "Kernel CPI", "K_cycles", "K_insts" },
};

static void add_ratios(struct metric_set *ms)
{
	for (size_t i = 0; i < COUNT(ratio_rows); i++) {
		const struct ratio_row *r = &ratio_rows[i];
		const struct metric *num = metric_find(ms, r->num), *den = metric_find(ms, r->den);

		if (!num || !den || num->tag < 0 || den->tag < 0)
			continue;
		add(ms, (struct metric){ .name = r->name, .uname = r->uname, .abbr = r->abbr,
					 .unit = UNIT_RATIO, .kind = num->kind, .value = "1",
					 .tag = -1, .num = num->id, .den = den->id });
	}
}

static bool has_targets(const struct session *s)
{
	vec_for_each(e, &s->experiments) {
		vec_for_each(el, &(*e)->recorder) {
			if (!strcmp(el->name, "target"))
				return true;
		}
	}
	return false;
}

void metric_set_init(struct metric_set *ms, const struct session *s)
{
	unsigned sets = 0;

	*ms = (struct metric_set){ 0 };
	vec_for_each(e, &s->experiments) {
		vec_for_each(st, &(*e)->streams) {
			if (st->kind == ER_PKT_CLOCK && recorder_only_locks(*e))
				sets |= IN_LOCKS;
			else if (st->kind == ER_PKT_CLOCK)
				sets |= clock_sets(*e, st->numstates);
			else if (st->kind == ER_PKT_PROF)
				sets |= clock_sets(*e, STATES_ALL);
		}
	}
	ms->targets = has_targets(s);
	add_clock(ms, sets);
	add_events(ms, s, rows_before_counters, COUNT(rows_before_counters));
	ms->leaks = leaks_new(s);
	vec_for_each(e, &s->experiments) {
		vec_for_each(st, &(*e)->streams) {
			vec_for_each(c, &st->counters)
				add_counter(ms, *e, st, c);
		}
	}
	add_ratios(ms);
	add_events(ms, s, rows_after_counters, COUNT(rows_after_counters));
}

void metric_set_free(struct metric_set *ms)
{
	vec_free(&ms->all);
	vec_free(&ms->compared);
	leaks_free(ms->leaks);
	free(ms->dmetrics);
	free(ms->dsort);
	*ms = (struct metric_set){ 0 };
}

static void append(char **to, const char *text)
{
	char *both;

	if (!text || !*text)
		return;
	both = xasprintf("%s%s%s", *to ? *to : "", *to ? ":" : "", text);
	free(*to);
	*to = both;
}

void metric_set_defaults(struct metric_set *ms, const char *dmetrics, const char *dsort)
{
	append(&ms->dmetrics, dmetrics);
	append(&ms->dsort, dsort);
}

const struct metric *metric_find(const struct metric_set *ms, const char *name)
{
	vec_for_each(m, &ms->all) {
		if (!strcmp(m->name, name))
			return m;
	}
	vec_for_each(m, &ms->all) {
		if (m->alias && !strcmp(m->alias, name))
			return m;
	}
	return NULL;
}

int64_t metric_ratio(const struct metric *m, const int64_t *values)
{
	return values[m->den] ? (__int128)values[m->num] * RATIO_UNIT / values[m->den] : 0;
}

bool metric_has_time(const struct metric *m)
{
	return m->unit == UNIT_TIME || m->mhz > 0 || m->ps > 0;
}

int64_t metric_time_ns(const struct metric *m, int64_t value)
{
	if (m->unit == UNIT_TIME)
		return value;
	if (m->mhz > 0)
		return (__int128)value * 1000 / m->mhz;
	return (__int128)value * m->ps / 1000;
}
