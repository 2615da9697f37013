/* SPDX-License-Identifier: GPL-2.0-or-later */
/* I/O by file name, and by each opening of a file. */
#include <inttypes.h>

#include "analysis/base/buf.h"
#include "analysis/base/diag.h"
#include "analysis/experiment/exp_io.h"
#include "analysis/metrics/hit.h"
#include "analysis/views/index.h"
#include "analysis/views/table.h"
#include "analysis/views/view.h"
#include "analysis/views/view_state.h"

static bool recorded(const struct session *s)
{
	vec_for_each(e, &s->experiments) {
		vec_for_each(st, &(*e)->streams) {
			if (st->kind == ER_PKT_IO)
				return true;
		}
	}
	return false;
}

static void add_column(struct metric_list *l, const struct metric *m, unsigned vis)
{
	vec_push(&l->cols, (struct metric_col){ .flavor = FLAVOR_EXCL, .metric = m, .vis = vis });
}

/* The I/O metrics of the index lists; if these have none, all I/O metrics. */
static void io_metrics(const struct view_state *v, struct metric_list *l, struct metric_sort *sort)
{
	*l = (struct metric_list){ 0 };
	vec_for_each(c, &v->imetrics.cols) {
		if (c->metric && c->metric->kind == ER_PKT_IO)
			add_column(l, c->metric, c->vis);
	}
	for (size_t i = 0, none = !l->cols.len; none && i < v->metric_set->all.len; i++) {
		const struct metric *m = &v->metric_set->all.data[i];

		if (m->kind == ER_PKT_IO)
			add_column(l, m, m->unit == UNIT_TIME ? VIS_TIME : VIS_VALUE);
	}
	*sort = v->isort;
	if (!sort->col.metric || sort->col.metric->kind != ER_PKT_IO)
		*sort = (struct metric_sort){ .col = l->cols.data[0] };
	vec_push(&l->cols, (struct metric_col){ .flavor = FLAVOR_STATIC, .stat = STATIC_NAME,
						.vis = VIS_VALUE });
}

static struct index_key file_key(const struct hit *h)
{
	return (struct index_key){ .e = h->e, .a = experiment_io_file(h->e, h->packet) };
}

void file_put_label(const struct experiment *e, int64_t file, struct buf *b)
{
	const struct exp_io_file *f = &e->io_files.data[file];

	buf_printf(b, "%s (experiment %u, IOVFD=%" PRId64, f->name, e->id, file);
	if (f->fd >= 0)
		buf_printf(b, ", FD=%" PRId64, f->fd);
	buf_puts(b, ")");
}

static void file_label(const struct names *n, const struct index_key *k, struct buf *b)
{
	file_put_label(k->e, k->a, b);
}

static const struct objtype by_name = { OBJ_INDEX, "ioactivity", "IOFNAME", true };
static const struct objtype by_file = { OBJ_INDEX, "iodetail", "IOVFD", true };
static const struct index_special files = { "iodetail", file_key, file_label, NULL };

static int io_list(struct view_state *v, const struct objtype *type,
		   const struct index_special *special, struct table *t, struct diag *d)
{
	struct metric_list metrics;
	struct metric_sort sort;
	struct index_spec spec = { .type = type, .special = special, .title = "Files",
				   .only = ER_PKT_IO, .metrics = &metrics, .sort = &sort };
	int rc;

	if (!recorded(v->session))
		return diag_error(d, "%s: no I/O was traced; record with collect -i on",
				  type->name);
	io_metrics(v, &metrics, &sort);
	rc = index_print(v, &spec, t, d);
	metric_list_free(&metrics);
	return rc;
}

int view_ioactivity(struct view_state *v, struct table *t, struct diag *d)
{
	return io_list(v, &by_name, NULL, t, d);
}

int view_iodetail(struct view_state *v, struct table *t, struct diag *d)
{
	return io_list(v, &by_file, &files, t, d);
}
