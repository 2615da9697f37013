/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Folded stacks, as read by flamegraph.pl, inferno, speedscope and others. Each stack is one line,
 * "root;child;leaf COUNT". Times are counted in microseconds, anything else in the metric's unit.
 * The counts add up to er_print's <Total>.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/buf.h"
#include "analysis/base/map.h"
#include "analysis/base/wrap.h"
#include "analysis/export/export.h"
#include "analysis/export/gather.h"
#include "analysis/export/outfile.h"
#include "analysis/export/rootname.h"
#include "analysis/metrics/tally.h"
#include "analysis/views/columns.h"

/* Stacks that differ only in addresses become one line. */
struct lines {
	struct strtab texts;
	VEC(int64_t) values; /* by id of the text */
};

/* `;` separates frames, so in a name it becomes ':', as flamegraph.pl's own scripts write it. */
static void put_frame(struct buf *b, const char *name)
{
	size_t first = b->len;

	buf_put_printable(b, name);
	for (size_t i = first; i < b->len; i++) {
		if (b->data[i] == ';')
			b->data[i] = ':';
	}
}

static void put_stack(struct buf *b, const struct export *x, const struct bucket *k)
{
	struct session *s = x->view->session;
	VEC(uint32_t) funcs = { 0 };
	struct buf root = { 0 };
	uint32_t n;

	vec_reserve(&funcs, s->stacks.data[k->key.stack].n);
	n = shown_path(s, k->key.stack, funcs.data, NULL);
	root_put(x, &k->key, &root);
	if (root.len)
		put_frame(b, root.data);
	while (n-- > 0) {
		buf_puts(b, b->len ? ";" : "");
		put_frame(b, func_name(x->view, s->funcs.data[funcs.data[n]]));
	}
	vec_free(&funcs);
	buf_free(&root);
}

static void add_line(struct lines *l, const char *text, int64_t value)
{
	uint32_t id = strtab_id(&l->texts, text);

	if (id == l->values.len)
		vec_push(&l->values, 0);
	add_to(&l->values.data[id], value);
}

static int by_text(const void *pa, const void *pb, void *ctx)
{
	const struct lines *l = ctx;

	return strcmp(l->texts.strings[*(const uint32_t *)pa], l->texts.strings[*(const uint32_t *)pb]);
}

/*
 * Round times to microseconds so that the sum stays exact: what rounding takes from one line is
 * added to the next. Recorders count in whole microseconds, so only traced times are rounded.
 */
static void write_lines(const struct lines *l, int64_t unit, struct outfile *out)
{
	size_t n = l->values.len;
	uint32_t *order = xcalloc(n, sizeof(*order));
	int64_t carry = 0;

	for (uint32_t i = 0; i < n; i++)
		order[i] = i;
	qsort_r(order, n, sizeof(*order), by_text, (void *)l);
	for (size_t i = 0; i < n; i++) {
		int64_t value = wrap_plus(l->values.data[order[i]], carry);

		carry = value % unit;
		if (!(value / unit))
			continue;
		buf_printf(&out->buf, "%s %" PRId64 "\n", l->texts.strings[order[i]], value / unit);
		if (!outfile_flush(out, 1 << 16))
			break;
	}
	free(order);
}

static int folded_write(const struct export *x, struct outfile *out)
{
	struct lines lines = { 0 };
	struct buf text = { 0 };
	struct gathered g;

	if (gather(x, root_by(x->root), &g))
		return -1;
	vec_for_each(b, &g.buckets) {
		if (!b->value)
			continue;
		buf_clear(&text);
		put_stack(&text, x, b);
		add_line(&lines, text.data ? text.data : "", b->value);
	}
	write_lines(&lines, x->metric->unit == UNIT_TIME ? 1000 : 1, out);
	buf_free(&text);
	strtab_free(&lines.texts);
	vec_free(&lines.values);
	gathered_free(&g);
	return 0;
}

const struct exporter folded_exporter = {
	.name = "folded", .suffix = ".folded", .weighted = true, .write = folded_write,
	.help = "stacks for flamegraph.pl and the like, in microseconds",
};
