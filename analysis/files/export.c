/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * er_export prints everything in an experiment as text, one record per line. It resolves no
 * addresses and sums up nothing: it shows what is on disk.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/buf.h"
#include "analysis/experiment/exp_map.h"
#include "analysis/experiment/exp_packets.h"
#include "analysis/experiment/exp_recorder.h"
#include "analysis/experiment/exp_stacks.h"
#include "analysis/experiment/exp_threads.h"
#include "analysis/experiment/experiment.h"
#include "analysis/experiment/usage.h"
#include "analysis/experiment/xml.h"
#include "analysis/files/cmdline.h"
#include "analysis/files/operand.h"
#include "analysis/files/tool.h"

/*
 * The line being built. Texts may be hostile: they are made printable and quoted, with a \
 * before each " and \.
 */
struct line {
	FILE *file;
	struct buf text;
};

static void put_text(struct line *l, const char *name, const char *value)
{
	const char *at = value ? value : "";

	buf_puts(&l->text, " ");
	buf_put_printable(&l->text, name);
	buf_puts(&l->text, "=\"");
	while (*at) {
		size_t n = strcspn(at, "\"\\");
		char *plain = xstrndup(at, n);

		buf_put_printable(&l->text, plain);
		free(plain);
		at += n;
		if (*at)
			buf_printf(&l->text, "\\%c", *at++);
	}
	buf_puts(&l->text, "\"");
}

static void put_int(struct line *l, const char *name, int64_t value)
{
	buf_printf(&l->text, " %s=%" PRId64, name, value);
}

static void put_hex(struct line *l, const char *name, uint64_t value)
{
	buf_printf(&l->text, " %s=0x%" PRIx64, name, value);
}

/* Append nanoseconds as seconds. */
static void put_time(struct line *l, int64_t ns)
{
	uint64_t abs = ns < 0 ? -(uint64_t)ns : (uint64_t)ns;

	buf_printf(&l->text, " %s%" PRIu64 ".%09" PRIu64, ns < 0 ? "-" : "", abs / 1000000000,
		   abs % 1000000000);
}

static void end_line(struct line *l)
{
	buf_puts(&l->text, "\n");
	fwrite(l->text.data, 1, l->text.len, l->file);
	buf_clear(&l->text);
}

static void export_head(struct line *l, const struct experiment *e)
{
	buf_puts(&l->text, "experiment");
	put_text(l, "path", e->path);
	put_text(l, "version", e->version);
	put_text(l, "collector", e->collector);
	put_text(l, "hostname", e->hostname);
	put_text(l, "arch", e->arch);
	put_text(l, "os", e->os);
	put_text(l, "cwd", e->cwd);
	put_text(l, "command", e->command);
	put_int(l, "pid", e->pid);
	put_int(l, "ppid", e->ppid);
	put_int(l, "wordsize", e->wordsize);
	put_int(l, "start_ns", e->start_ns);
	put_int(l, "start_epoch", e->start_epoch);
	put_int(l, "end_ns", e->end_ns);
	put_int(l, "closed", e->closed);
	end_line(l);
}

static void export_events(struct line *l, const struct experiment *e)
{
	vec_for_each(ev, &e->events) {
		buf_puts(&l->text, "event");
		put_time(l, ev->time_ns);
		put_text(l, "kind", ev->kind);
		put_int(l, "id", ev->id);
		put_text(l, "label", ev->label);
		put_text(l, "text", ev->text);
		end_line(l);
	}
}

static void export_maps(struct line *l, const struct experiment *e)
{
	static const char *const words[] = { [EXP_MAP_SEGMENT] = "segment",
					     [EXP_MAP_FUNCTION] = "function",
					     [EXP_MAP_DYNFUNC] = "dynfunc",
					     [EXP_MAP_UNMAP] = "unmap" };

	vec_for_each(m, &e->maps) {
		buf_puts(&l->text, "map");
		put_time(l, m->time_ns);
		buf_printf(&l->text, " %s", words[m->what]);
		put_hex(l, "vaddr", m->vaddr);
		put_hex(l, "size", m->size);
		put_hex(l, "foffset", m->foffset);
		put_hex(l, "modes", m->modes);
		put_text(l, "name", m->name);
		end_line(l);
	}
}

static void export_ksyms(struct line *l, const struct experiment *e)
{
	vec_for_each(k, &e->ksyms) {
		buf_puts(&l->text, "ksym");
		put_hex(l, "addr", k->addr);
		put_hex(l, "size", k->size);
		put_text(l, "name", k->name);
		put_text(l, "module", k->module);
		end_line(l);
	}
}

static void export_stacks(struct line *l, struct experiment *e)
{
	vec_for_each(s, &e->stacks) {
		buf_puts(&l->text, "stack");
		put_hex(l, "uid", s->uid);
		for (uint32_t i = 0; i < s->npcs; i++)
			buf_printf(&l->text, " %" PRIx64, experiment_pc(e, s, i));
		end_line(l);
	}
}

static void put_field(struct line *l, const struct packet *p, const struct exp_field *f, size_t number)
{
	struct field_ref ref = { f->offset, f->type, number }, at = packet_place(p, ref);
	char *copy;
	const char *text;
	size_t n;

	if (f->type != ER_STRING) {
		/* A shorter packet of this kind lacks its last fields. One without a state has state 0. */
		if (at.offset ? at.offset + er_type_size(at.type) <= p->size : !strcmp(f->name, "MSTATE")) {
			buf_puts(&l->text, " ");
			buf_put_printable(&l->text, f->name);
			buf_printf(&l->text, "=%" PRId64, packet_int(p, ref));
		}
		return;
	}
	n = packet_text(p, ref, &text);
	copy = n ? xstrndup(text, n) : xstrdup("");
	put_text(l, f->name, copy);
	free(copy);
}

static void export_stream(struct line *l, const struct experiment *e, const struct exp_stream *s)
{
	struct packet_iter it;
	struct packet p;

	packet_iter_init(&it, e, s);
	while (packet_next(&it, &p)) {
		buf_puts(&l->text, "packet ");
		buf_put_printable(&l->text, s->fname);
		put_int(l, "kind", s->kind);
		vec_for_each(f, &s->fields)
			put_field(l, &p, f, f - s->fields.data);
		end_line(l);
	}
}

static void export_usages(struct line *l, const struct experiment *e)
{
	for (size_t i = 0; i < experiment_nusages(e); i++) {
		struct exp_usage u;

		experiment_usage(e, i, &u);
		buf_printf(&l->text, "usage %zu", i);
		put_int(l, "time_ns", u.time_ns);
		put_int(l, "user_ns", u.user_ns);
		put_int(l, "system_ns", u.system_ns);
		put_int(l, "wait_ns", u.wait_ns);
		put_int(l, "sleep_ns", u.sleep_ns);
		put_int(l, "minflt", u.minflt);
		put_int(l, "majflt", u.majflt);
		put_int(l, "vctx", u.vctx);
		put_int(l, "ictx", u.ictx);
		end_line(l);
	}
}

static void put_life(struct line *l, const struct exp_thread *th)
{
	put_text(l, "comm", th->comm);
	put_int(l, "begin_ns", th->begin_ns);
	put_int(l, "end_ns", th->end_ns);
}

static void put_times(struct line *l, const struct exp_thread *th)
{
	put_int(l, "run_ns", th->run_ns);
	put_int(l, "user_ns", th->user_ns);
	put_int(l, "system_ns", th->system_ns);
	for (int i = 0; i < MS_COUNT; i++) {
		if (th->off_ns[i])
			put_int(l, mstate_descs[i].name, th->off_ns[i]);
	}
}

static void export_threads(struct line *l, const struct experiment *e)
{
	vec_for_each(th, &e->threads) {
		buf_puts(&l->text, "thread");
		put_int(l, "pid", th->pid);
		put_int(l, "tid", th->tid);
		put_life(l, th);
		if (th->fold)
			put_int(l, "fold", th->fold);
		else
			put_times(l, th);
		end_line(l);
	}
	vec_for_each(f, &e->folds) {
		buf_printf(&l->text, "fold %zu", f - e->folds.data + 1);
		put_int(l, "threads", f->nthreads);
		put_life(l, &f->sum);
		put_int(l, "lived_ns", f->lived_ns);
		put_times(l, &f->sum);
		end_line(l);
	}
}

static void export_names(struct line *l, const struct experiment *e)
{
	vec_for_each(n, &e->names) {
		buf_puts(&l->text, "name");
		put_int(l, "pid", n->pid);
		put_int(l, "tid", n->tid);
		put_int(l, "at_ns", n->at_ns);
		put_text(l, "comm", n->comm);
		end_line(l);
	}
}

static void export_recorder(struct line *l, const struct experiment *e)
{
	vec_for_each(el, &e->recorder) {
		buf_puts(&l->text, "recorder ");
		buf_put_printable(&l->text, el->name);
		for (size_t i = 0; i < el->nattrs; i++)
			put_text(l, el->attrs[i].name, el->attrs[i].value);
		end_line(l);
	}
}

static void export_messages(struct line *l, const struct experiment *e)
{
	for (size_t i = 0; i < e->diag.nmsgs; i++) {
		buf_puts(&l->text, "warning");
		put_text(l, "text", e->diag.msgs[i].text);
		end_line(l);
	}
}

static void export_experiment(struct line *l, struct experiment *e)
{
	export_head(l, e);
	export_messages(l, e);
	export_recorder(l, e);
	export_threads(l, e);
	export_names(l, e);
	export_events(l, e);
	export_maps(l, e);
	export_ksyms(l, e);
	export_stacks(l, e);
	export_usages(l, e);
	vec_for_each(s, &e->streams)
		export_stream(l, e, s);
}

static int export_with_subs(void *line, const char *path, struct diag *d)
{
	struct experiment *e = experiment_open(path, d);
	struct line *l = line;
	str_vec subs = { 0 };

	if (!e)
		return -1;
	experiment_subs(e, &subs);
	export_experiment(l, e);
	vec_for_each(name, &subs) {
		struct experiment *sub = experiment_open_sub(e, *name);

		if (sub)
			export_experiment(l, sub);
		else
			diag_warn(d, "experiment '%s/%s': cannot be read", path, *name);
		experiment_close(sub);
		free(*name);
	}
	vec_free(&subs);
	experiment_close(e);
	return 0;
}

int export_main(int argc, char **argv)
{
	static const char *const synopses[] = { "experiment.er|group.erg...", NULL };
	const struct tool t = { .name = "er_export", .synopses = synopses, .min_operands = 1 };
	struct diag d = { .prefix = t.name };
	struct line l = { .file = stdout };
	struct operands o;
	int status = tool_parse(&t, argc, argv, NULL, &o, &d), err = 0;

	if (status != TOOL_RUN)
		return status;
	for (size_t i = 0; i < o.n; i++)
		err |= operand_each(o.v[i], export_with_subs, &l, &d);
	buf_free(&l.text);
	return err ? 1 : 0;
}
