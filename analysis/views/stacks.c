/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Events by common call stack: leaks, allocations, I/O. The tally has the sums of each stack. A
 * stack is shown as its numbers with its frames below.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "analysis/base/alloc.h"
#include "analysis/base/diag.h"
#include "analysis/metrics/hit.h"
#include "analysis/metrics/leaks.h"
#include "analysis/metrics/pass.h"
#include "analysis/metrics/tally.h"
#include "analysis/views/columns.h"
#include "analysis/views/stacks.h"
#include "analysis/views/table.h"
#include "analysis/views/view_state.h"

enum { METRICS_MOST = 12 };

struct stack_list {
	const char *name, *title;
	const char *label;                  /* "Leak": the label that is numbered 1, 2, … */
	const char *metrics[METRICS_MOST];  /* the columns, ended by NULL */
	/* sort metrics, ended by NULL: the next one breaks ties */
	const char *order[METRICS_MOST];
	/* the data that is missing if the metrics were not recorded, and what records it */
	const char *missing;
};

static const struct stack_list lists[] = {
	[STACKS_LEAKS] = { "leaks", "Leaks sorted by metric: Bytes Leaked", "Leak",
		{ "heapleakcnt", "heapleakbytes" }, { "heapleakbytes", "heapleakcnt" },
		"heap tracing (collect -H on)" },
	[STACKS_ALLOCS] = { "allocs", "Allocations sorted by metric: Bytes Allocated", "Allocation",
		{ "heapalloccnt", "heapallocbytes" }, { "heapallocbytes", "heapalloccnt" },
		"heap tracing (collect -H on)" },
	[STACKS_HEAP] = { "heap", "Heap use sorted by metric: Bytes Leaked", "Stack",
		{ "heapalloccnt", "heapallocbytes", "heapleakcnt", "heapleakbytes" },
		{ "heapleakbytes", "heapallocbytes", "heapalloccnt" },
		"heap tracing (collect -H on)" },
	[STACKS_IO] = { "iocallstack", "I/O by call stack, sorted by metric: Write Time", "Stack",
		{ "iowritetime", "iowritebytes", "iowritecnt", "ioreadtime", "ioreadbytes",
		  "ioreadcnt", "ioothertime", "ioothercnt", "ioerrortime", "ioerrorcnt" },
		{ "iowritetime", "ioreadtime", "ioothertime", "ioerrortime" },
		"I/O tracing (collect -i on)" },
};

struct entry {
	uint32_t stack;
	const int64_t *values;
	const struct metric *const *order;
};

typedef VEC(struct entry) entry_vec;

static int entry_cmp(const void *pa, const void *pb)
{
	const struct entry *a = pa, *b = pb;

	for (const struct metric *const *m = a->order; *m; m++) {
		int64_t va = a->values[(*m)->id], vb = b->values[(*m)->id];

		if (va != vb)
			return va < vb ? 1 : -1;
	}
	return (a->stack > b->stack) - (a->stack < b->stack);
}

/* Find the metrics of these names, ended by NULL; false if one was not recorded. */
static bool find(const struct view_state *v, const char *const *names, const struct metric **ret)
{
	size_t n = 0;

	for (; names[n]; n++) {
		ret[n] = metric_find(v->metric_set, names[n]);
		if (!ret[n])
			return false;
	}
	ret[n] = NULL;
	return true;
}

static bool has_any(const struct metric *const *m, const int64_t *values)
{
	for (; *m; m++) {
		if (values[(*m)->id])
			return true;
	}
	return false;
}

/*
 * Of a sampled heap sums of bytes are estimates. Variances are added up by stack; the last element is that of
 * all stacks.
 */
struct errors {
	bool sampled;
	const struct leaks *leaks;
	struct field_ref type, size;
	const struct exp_stream *stream; /* that has the fields */
	struct heap_variance {
		double allocated, leaked;
	} *by_stack;
	size_t nstacks;
};

static void add_variance(void *ctx, const struct hit *h, const struct amount *amounts, size_t n)
{
	struct errors *e = ctx;
	double variance;

	if (h->stream->kind != ER_PKT_HEAP)
		return;
	if (e->stream != h->stream) {
		e->stream = h->stream;
		e->type = stream_field(h->stream, "HTYPE");
		e->size = stream_field(h->stream, "HSIZE");
	}
	variance = leaks_variance(h->stream, packet_int(h->packet, e->type), packet_int(h->packet, e->size));
	for (int i = 0; i < 2; i++) {
		struct heap_variance *v = &e->by_stack[i ? e->nstacks : h->stack];

		v->allocated += variance;
		v->leaked += leaks_of(e->leaks, h->packet) ? variance : 0;
	}
}

static void errors_init(struct errors *e, const struct view_state *v, size_t nstacks)
{
	*e = (struct errors){ .leaks = v->metric_set->leaks, .nstacks = nstacks };
	e->sampled = leaks_sampled(v->session);
	if (!e->sampled)
		return;
	e->by_stack = xcalloc(nstacks + 1, sizeof(*e->by_stack));
	pass_run(v->session, NULL, v->filter, add_variance, NULL, e);
}

static bool is_estimate(const struct errors *e, const struct metric *m)
{
	return e->sampled && m->kind == ER_PKT_HEAP && m->unit == UNIT_BYTES;
}

/* A metric of a sampled heap has a second column. */
static void put_numbers(struct row *r, const struct metric *const *m, const int64_t *values, const struct errors *e,
			size_t stack)
{
	for (size_t i = 0; *m; m++) {
		r->cells[i] = metric_plain_cell(*m, values[(*m)->id]);
		if (is_estimate(e, *m)) {
			const struct heap_variance *v = &e->by_stack[stack];

			r->cells[i++].estimate = true;
			r->cells[i] = (struct cell){ .kind = CELL_COUNT,
						     .i = llround(sqrt((*m)->leaked ? v->leaked : v->allocated)) };
		}
		i++;
	}
}

void put_stack_frames(struct view_state *v, struct table *t, uint32_t stack, int group)
{
	const struct session *s = v->session;
	const struct stack *st = &s->stacks.data[stack];

	for (uint32_t i = 0; i < st->n; i++) {
		struct frame f = frame_at(s, s->stack_frames.data[st->first + i]);
		const char *name = func_label(v, f.func, t);
		struct row *r = table_row(t);

		r->group = group;
		if (f.func->flags & FUNC_PSEUDO || f.offset == FRAME_OUTLINED || f.depth)
			put_textf(t, r, t->columns.len - 1, "  %s", name);
		else
			put_textf(t, r, t->columns.len - 1, "  %s + 0x%08" PRIX64, name, f.offset);
	}
}

/* On a narrow terminal the last metrics are left out first. The sort metric is never left out. */
static void put_columns(struct table *t, const struct metric *const *m, const struct metric *sort,
			const struct errors *e, bool with_errors)
{
	for (int spare = 1; *m; m++, spare++) {
		vec_push(&t->columns, (struct column){
			.kind = metric_has_time(*m) ? CELL_TIME : CELL_COUNT,
			.title = { (*m)->abbr, NULL, metric_has_time(*m) ? "sec." : NULL },
			.full = { (*m)->uname }, .spare = *m == sort ? 0 : spare });
		if (is_estimate(e, *m))
			vec_push(&t->columns, (struct column){
				.kind = CELL_COUNT, .title = { (*m)->abbr, "Std. Error" },
				.full = { (*m)->uname, "Standard Error" }, .hidden = !with_errors });
	}
	text_column(t, "Name");
	t->columns.data[t->columns.len - 1].wrap = true;
}

static void put_entries(struct view_state *v, struct table *t, const struct stack_list *l,
			const struct metric *const *metrics, const entry_vec *entries, const struct errors *e)
{
	struct row *r = table_row(t);

	put_numbers(r, metrics, view_tally(v)->total, e, e->nstacks);
	put_text(r, t->columns.len - 1, "<Total>");
	for (size_t i = 0; i < entries->len && (!v->limit || i < v->limit); i++) {
		r = table_row(t);
		r->group = i + 1;
		put_numbers(r, metrics, entries->data[i].values, e, entries->data[i].stack);
		put_textf(t, r, t->columns.len - 1, "%s #%zu", l->label, i + 1);
		put_stack_frames(v, t, entries->data[i].stack, i + 1);
	}
}

int view_stacks(struct view_state *v, enum stacks_kind kind, struct table *t, struct diag *d)
{
	const struct stack_list *l = &lists[kind];
	const struct metric *metrics[METRICS_MOST], *order[METRICS_MOST];
	const struct tally *tally;
	entry_vec entries = { 0 };
	struct errors errors;

	if (!find(v, l->metrics, metrics) || !find(v, l->order, order))
		return diag_error(d, "%s: the experiments were recorded without %s", l->name,
				  l->missing);
	t->name = l->name;
	t->title = l->title;
	tally = view_tally(v);
	errors_init(&errors, v, tally->nstacks);
	put_columns(t, metrics, order[0], &errors, v->errors);
	for (uint32_t id = 0; id < tally->nstacks; id++) {
		int64_t *values;

		if (!tally->seen[id])
			continue;
		values = arena_alloc(&t->arena, tally->nmetrics * sizeof(*values));
		tally_add(tally, values, tally_stack(tally, id));
		if (has_any(metrics, values))
			vec_push(&entries, (struct entry){ id, values, order });
	}
	vec_sort(&entries, entry_cmp);
	put_entries(v, t, l, metrics, &entries, &errors);
	if (errors.sampled && metrics[0]->kind == ER_PKT_HEAP)
		put_note(t, "~ marks an estimate: only a sample of the allocations was recorded%s. Counts are those of "
			 "the sample.", v->errors ? "" : "; `errors on' shows standard errors");
	free(errors.by_stack);
	vec_free(&entries);
	return 0;
}
