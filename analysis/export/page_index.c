/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/export/page_index.h"

#include <inttypes.h>
#include <string.h>

#include "analysis/base/json.h"
#include "analysis/base/wrap.h"
#include "analysis/experiment/packet.h"
#include "analysis/experiment/syscalls.h"
#include "analysis/export/about.h"
#include "analysis/export/export.h"
#include "analysis/export/page_compare.h"
#include "analysis/export/page_display.h"
#include "analysis/export/page_events.h"
#include "analysis/export/page_losses.h"
#include "analysis/export/page_mips.h"
#include "analysis/export/page_pack.h"
#include "analysis/export/page_samples.h"
#include "analysis/export/page_spans.h"
#include "analysis/findings/findings.h"
#include "analysis/metrics/filter.h"
#include "analysis/model/names.h"
#include "analysis/views/columns.h"
#include "analysis/views/microstates.h"
#include "analysis/views/table.h"
#include "analysis/views/view_state.h"

struct indexing {
	const struct export *x;
	const struct page_events *events;
	struct buf *b;
	struct buf name;
	int64_t begin, end; /* of all data, in microseconds */
};

/* Begin the nth element of an array or the nth member of an object. */
static void comma(struct buf *b, size_t n)
{
	buf_puts(b, n ? "," : "");
}

static void put_name_or_null(struct buf *b, const char *text)
{
	if (text)
		json_put_string(b, text);
	else
		buf_puts(b, "null");
}

static void put_member(struct buf *b, const char *name, const char *text)
{
	buf_printf(b, ",\"%s\":", name);
	put_name_or_null(b, text);
}

static bool has(const char *line, const char *word)
{
	return word && *word && strstr(line, word);
}

/* Whether a line names a path, a command or a host. */
static bool tells(const struct session *s, const char *line)
{
	bool ret = strchr(line, '/');

	vec_for_each(e, &s->experiments)
		ret |= has(line, (*e)->name) || has(line, (*e)->hostname) ||
		       has(line, (*e)->command);
	return ret;
}

static void put_about(struct indexing *in)
{
	struct view_state *v = in->x->view;
	const char *filter = v->filter && !in->x->redact ? filter_text(v->filter) : NULL;
	struct table t;
	size_t n = 0;

	about(in->x, &t);
	buf_puts(in->b, ",\"about\":[");
	for (size_t i = 0; i < t.rows.len; i++) {
		const char *line = t.rows.data[i].cells[0].s;

		if (in->x->redact && tells(v->session, line))
			continue;
		comma(in->b, n++);
		json_put_string(in->b, line);
	}
	buf_puts(in->b, "]");
	table_free(&t);
	put_member(in->b, "filter", filter && *filter ? filter : NULL);
	buf_printf(in->b, ",\"complete\":%s,\"redacted\":%s",
		   waits_are_complete(v->session) ? "true" : "false",
		   in->x->redact ? "true" : "false");
}

void put_findings(const struct export *x, struct buf *b)
{
	struct view_state *v = x->view;
	struct arena arena = { 0 };
	finding_vec found;
	size_t n = 0;

	findings_make(v, &arena, &found);
	buf_puts(b, "[");
	vec_for_each(f, &found) {
		if (x->redact && tells(v->session, f->text))
			continue;
		comma(b, n++);
		buf_printf(b, "{\"us\":%" PRId64 ",\"error\":", f->figure_ns / 1000);
		if (f->exact)
			buf_puts(b, "null");
		else
			buf_printf(b, "%" PRId64, f->error_ns / 1000);
		put_member(b, "rule", f->rule);
		put_member(b, "text", f->text);
		put_member(b, "command", f->command);
		put_member(b, "filter", f->filter);
		buf_puts(b, "}");
	}
	buf_puts(b, "]");
	vec_free(&found);
	arena_free(&arena);
}

static void put_experiments(struct indexing *in)
{
	size_t n = 0;

	buf_puts(in->b, ",\"experiments\":[");
	vec_for_each(e, &in->x->view->session->experiments) {
		int64_t offset = experiment_offset_ns(*e);

		if ((*e)->founder)
			continue;
		comma(in->b, n++);
		buf_printf(in->b, "{\"id\":%" PRIu32 ",\"group\":%u", (*e)->id, (*e)->origin->group);
		put_member(in->b, "name", in->x->redact ? "Recording" : (*e)->name);
		put_member(in->b, "host", in->x->redact ? "" : (*e)->hostname);
		put_member(in->b, "command", in->x->redact ? "" : (*e)->command);
		buf_printf(in->b, ",\"begin\":%" PRId64 ",\"end\":%" PRId64 "}", offset / 1000,
			   wrap_plus((*e)->end_ns, offset) / 1000);
	}
	buf_puts(in->b, "]");
}

/* The states in the order of reports; those that reports draw as another state come last. */
static void put_states(struct indexing *in)
{
	buf_puts(in->b, ",\"states\":[");
	for (int i = 0; i < MS_COUNT; i++) {
		const struct mstate_desc *d = &mstate_descs[i];

		comma(in->b, i);
		buf_printf(in->b, "{\"cpu\":%s", d->on_cpu ? "true" : "false");
		put_member(in->b, "name", d->name);
		put_member(in->b, "uname", d->uname);
		put_member(in->b, "rest", d->rest);
		buf_puts(in->b, "}");
	}
	buf_puts(in->b, "],\"state_order\":[");
	for (size_t i = 0; i < nmicrostate_columns; i++) {
		comma(in->b, i);
		buf_printf(in->b, "%d", microstate_columns[i]);
	}
	buf_puts(in->b, "],\"reasons\":[");
	for (int i = 0; i < REASON_COUNT; i++) {
		comma(in->b, i);
		buf_puts(in->b, "{\"id\":");
		buf_printf(in->b, "%d", i);
		put_member(in->b, "name", reason_descs[i].name);
		put_member(in->b, "uname", reason_descs[i].uname);
		buf_puts(in->b, "}");
	}
	buf_puts(in->b, "]");
}

static void put_classes(struct indexing *in)
{
	const char *arch = in->x->view->session->experiments.data[0]->arch;

	buf_puts(in->b, ",\"classes\":[");
	for (size_t i = 0; i < in->events->classes.len; i++) {
		const struct event_class *c = &in->events->classes.data[i];
		const char *name = c->syscall >= 0 ? syscall_name(arch, c->syscall) : NULL;

		comma(in->b, i);
		buf_printf(in->b, "{\"state\":%d,\"reason\":%d,\"flags\":%d,\"syscall\":%" PRId32,
			   c->state, c->reason, c->flags, c->syscall);
		put_member(in->b, "call", name);
		buf_puts(in->b, "}");
	}
	buf_puts(in->b, "]");
}

/*
 * Names of generated functions may contain paths of scripts: "tick /home/me/app.js:10". Leave only
 * the file's name. Other slashes stay: those of packages in Go's names.
 */
static const char *without_paths(struct indexing *in, const char *name)
{
	static const char before[] = " \"'(<[=:,@*~";
	bool begins = true;

	buf_clear(&in->name);
	for (const char *p = name; *p; p++) {
		size_t n = strcspn(p, " \"')>],");
		const char *last = *p == '/' && begins ? memrchr(p, '/', n) : NULL;

		p = last && last[1] ? last + 1 : p;
		buf_add(&in->name, p, 1);
		begins = strchr(before, *p);
	}
	return in->name.len ? in->name.data : "";
}

static void put_func_name(struct indexing *in, const char *name)
{
	json_put_string(in->b, in->x->redact ? without_paths(in, name) : name);
}

/* The names of a function that reports can also show: filters compare these, too. */
static void put_other_names(struct indexing *in, size_t i, const struct func *f, size_t *n)
{
	const char *shown = func_name(in->x->view, f), *last = shown;
	const char *const names[] = { f->name, f->long_name, f->mangled };
	size_t found = 0;

	for (size_t k = 0; k < sizeof(names) / sizeof(names[0]); k++) {
		if (!names[k] || !strcmp(names[k], shown) || !strcmp(names[k], last))
			continue;
		if (!found)
			buf_printf(in->b, "%s\"%zu\":[", *n ? "," : "", i);
		comma(in->b, found++);
		put_func_name(in, last = names[k]);
	}
	buf_puts(in->b, found ? "]" : "");
	*n += found > 0;
}

static void put_func_names(struct indexing *in)
{
	const struct page_tree *tree = &in->events->tree;
	size_t n = 0;

	buf_puts(in->b, ",\"func_names\":{");
	for (size_t i = 0; i < tree->funcs.len; i++)
		put_other_names(in, i, in->x->view->session->funcs.data[tree->funcs.data[i]], &n);
	buf_puts(in->b, "}");
}

static void put_funcs(struct indexing *in)
{
	struct session *s = in->x->view->session;
	const struct page_tree *tree = &in->events->tree;

	buf_puts(in->b, ",\"funcs\":[");
	for (size_t i = 0; i < tree->funcs.len; i++) {
		comma(in->b, i);
		put_func_name(in, func_name(in->x->view, s->funcs.data[tree->funcs.data[i]]));
	}
	buf_puts(in->b, "],\"func_objects\":[");
	for (size_t i = 0; i < tree->funcs.len; i++) {
		comma(in->b, i);
		buf_printf(in->b, "%" PRIu32, s->funcs.data[tree->funcs.data[i]]->obj->id);
	}
	buf_puts(in->b, "],\"objects\":[");
	for (size_t i = 0; i < s->objects.len; i++) {
		comma(in->b, i);
		buf_puts(in->b, "[");
		json_put_string(in->b, s->objects.data[i]->name);
		buf_puts(in->b, ",");
		json_put_string(in->b, in->x->redact ? "" : s->objects.data[i]->path);
		buf_printf(in->b, ",%d]", s->objects.data[i]->kernel);
	}
	buf_puts(in->b, "]");
}

static bool same_name(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

static void put_kind(struct buf *b, int64_t us, const struct thread_kind *k, size_t n)
{
	buf_printf(b, n ? ",[%" PRId64 "," : "[%" PRId64 ",", us);
	put_name_or_null(b, k->comm);
	if (!same_name(k->comm, k->process)) {
		buf_puts(b, ",");
		put_name_or_null(b, k->process);
	}
	buf_puts(b, "]");
}

/*
 * The names of a thread and of its process, each with the time from which on it is valid, if there are several.
 * A name begins at its first packet. Times of events are rounded down, so its time is, too.
 */
static void put_kinds(struct indexing *in, const struct page_thread *t)
{
	const struct names *names = session_names(in->x->view->session);
	int64_t at = INT64_MIN / 2, next;
	struct thread_kind last = names_kind(names, t->origin, t->pid, t->tid, at);
	size_t n = 0, from = in->b->len;

	if (t->sums)
		return;
	buf_puts(in->b, ",\"kinds\":[");
	put_kind(in->b, 0, &last, n++);
	while ((next = names_next_change(names, t->origin, t->pid, t->tid, at)) < INT64_MAX) {
		struct thread_kind k = names_kind(names, t->origin, t->pid, t->tid, next);

		at = next;
		if (same_name(k.comm, last.comm) && same_name(k.process, last.process))
			continue;
		put_kind(in->b, at / 1000, &k, n++);
		last = k;
	}
	buf_puts(in->b, "]");
	if (n == 1)
		in->b->len = from;
}

static void put_thread(struct indexing *in, const struct page_thread *t)
{
	const struct names *names = session_names(in->x->view->session);
	size_t n = 0;

	buf_printf(in->b, "{\"exp\":%" PRIu32 ",\"pid\":%" PRId64 ",\"tid\":%" PRId64
		   ",\"n\":%zu,\"begin\":%" PRId64 ",\"end\":%" PRId64,
		   t->origin->origin->id, t->pid, t->tid, t->n, t->begin, t->end);
	buf_clear(&in->name);
	if (t->sums)
		fold_put_name(t->sums, &in->name);
	else
		names_put_thread(names, t->origin, t->pid, 0, t->tid, &in->name);
	put_member(in->b, "name", in->name.data);
	buf_clear(&in->name);
	if (t->sums)
		fold_put_name(t->sums, &in->name);
	else
		names_put_process(names, t->origin, t->pid, 0, t->tid, &in->name);
	put_member(in->b, "process", in->name.data);
	put_member(in->b, "comm", names_thread(names, t->origin, t->tid));
	put_member(in->b, "cgroup", in->x->redact ? NULL :
		   names_cgroup_at(names, t->origin, t->tid, t->end * 1000));
	buf_printf(in->b, ",\"renamed\":%s",
		   names_renamed(names, t->origin, t->tid) ? "true" : "false");
	put_kinds(in, t);
	buf_puts(in->b, ",\"us\":{");
	for (int i = 0; i < MS_COUNT; i++) {
		if (!t->us[i])
			continue;
		comma(in->b, n++);
		buf_printf(in->b, "\"%d\":%" PRId64, i, t->us[i]);
	}
	buf_puts(in->b, "}}");
}

static void put_threads(struct indexing *in)
{
	buf_puts(in->b, ",\"threads\":[");
	for (size_t i = 0; i < in->events->threads.len; i++) {
		comma(in->b, i);
		put_thread(in, &in->events->threads.data[i]);
	}
	buf_puts(in->b, "]");
}

static void put_json(struct indexing *in, const struct buf *findings)
{
	buf_puts(in->b, "{\"format\":1,\"version\":\"" ER_VERSION "\"");
	buf_printf(in->b, ",\"begin\":%" PRId64 ",\"end\":%" PRId64 ",\"nevents\":%zu", in->begin,
		   in->end, in->events->all.len);
	put_about(in);
	buf_puts(in->b, ",\"findings\":");
	buf_add(in->b, findings->data, findings->len);
	put_experiments(in);
	put_states(in);
	put_classes(in);
	put_funcs(in);
	put_func_names(in);
	put_threads(in);
	put_comparison(in->x, in->b);
	put_losses(in->x, in->events, in->b);
	put_sample_points(in->x->view->session, !in->x->redact, in->b);
	put_span_names(in->x, in->events, in->b);
	put_object_types(&in->events->objects, in->b);
	put_counts(&in->events->counts, in->x->view, in->b);
	put_display(&in->x->view->display, in->b);
	buf_puts(in->b, "}");
}

static void put_tree(struct pack *p, const struct page_tree *tree)
{
	pack_begin(p, "tree");
	for (size_t i = 1; i < tree->nodes.len; i++) {
		pack_uint(p, i - tree->nodes.data[i].parent);
		pack_uint(p, tree->nodes.data[i].func);
	}
	pack_end(p);
}

static void put_paths(struct pack *p, const struct page_events *events)
{
	pack_begin(p, "pths");
	vec_for_each(path, &events->paths) {
		pack_uint(p, path->node);
		pack_int(p, path->cpu_us);
		pack_int(p, path->wait_us);
	}
	pack_end(p);
}

static void extend(int64_t *begin, int64_t *end, const struct page_event *first, const struct page_event *last)
{
	*begin = first->end < *begin ? first->end : *begin;
	*end = last->end + 1 > *end ? last->end + 1 : *end;
}

void page_range(const struct export *x, const struct page_events *events, int64_t *begin,
		int64_t *end)
{
	*begin = *end = 0;
	if (events->all.len)
		extend(begin, end, &events->all.data[0], &events->all.data[events->all.len - 1]);
	if (events->counts.all.len)
		extend(begin, end, &events->counts.all.data[0], &events->counts.all.data[events->counts.all.len - 1]);
	vec_for_each(e, &x->view->session->experiments) {
		int64_t last = wrap_plus((*e)->end_ns, experiment_offset_ns(*e)) / 1000;

		if (!(*e)->founder && last > *end)
			*end = last;
	}
}

void make_index(const struct export *x, const struct page_events *events, const struct buf *findings, struct pack *ret)
{
	struct indexing in = { .x = x, .events = events, .b = &ret->bytes };

	page_range(x, events, &in.begin, &in.end);
	pack_begin(ret, "json");
	put_json(&in, findings);
	pack_end(ret);
	put_tree(ret, &events->tree);
	put_paths(ret, events);
	put_mips(ret, events, in.begin, in.end);
	put_span_calls(x, events, ret);
	buf_free(&in.name);
}
