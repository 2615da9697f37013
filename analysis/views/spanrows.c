/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/views/spanrows.h"

#include <inttypes.h>
#include <string.h>

#include "analysis/base/buf.h"
#include "analysis/base/diag.h"
#include "analysis/model/names.h"
#include "analysis/views/columns.h"

const char *span_state_name(enum er_mstate state)
{
	return state == MS_LINUX_CPU ? "CPU" : mstate_descs[state].uname;
}

const char *span_keep(struct table *t, struct buf *b)
{
	const char *text = arena_strdup(&t->arena, b->data ? b->data : "");

	buf_free(b);
	return text;
}

void span_nothing(const struct view_state *v, struct table *t)
{
	put_note(t, "No spans in these experiments: %s.", v->filter && session_has_spans(v->session) ?
		 "the filter excludes all of them" : "er_kernel --span records them");
}

const struct span_name *span_named(const struct spans *sp, const char *name)
{
	vec_for_each(n, &sp->names) {
		if (!strcmp(n->sum.name, name))
			return n;
	}
	return NULL;
}

int span_unknown(const struct spans *sp, const char *name, struct diag *d)
{
	struct buf b = { 0 };

	if (!sp->names.len)
		return diag_error(d, "span '%s': no spans were recorded: er_kernel --span records them",
				  name);
	vec_for_each(n, &sp->names)
		buf_printf(&b, " %s", n->sum.name);
	diag_error(d, "span '%s': no such span; there are:%s", name, b.data);
	buf_free(&b);
	return -1;
}

int64_t span_pid(const struct spans *sp, const struct span_call *c)
{
	const struct experiment *e = sp->sources.data[c->source].e;

	return e->many_processes ? span_int(sp, c, "LWPID") : e->pid;
}

const char *span_thread_text(struct view_state *v, struct table *t, const struct span_call *c)
{
	const struct spans *sp = session_spans(v->session);
	struct buf b = { 0 };

	names_put_thread(session_names(v->session), sp->sources.data[c->source].e, span_pid(sp, c), 0,
			 span_int(sp, c, "THRID"), &b);
	return span_keep(t, &b);
}

static const struct {
	enum er_span_flag flag;
	const char *text;
} ends[] = {
	{ SPAN_THREAD_END, "ended with its thread" },
	{ SPAN_EXEC, "ended by exec" },
	{ SPAN_LEFT, "left without return" },
	{ SPAN_OPEN_START, "began before the recording" },
	{ SPAN_OPEN_END, "still open at the end" },
};

/* The arguments that a span's SPEC asks for. */
struct asked {
	int n;
	bool is_text[SPAN_ARGS];
};

/* The list of arguments at the end of a SPEC, "(1:int,2:str)" with or without a filter behind it; NULL: none. */
static const char *argument_list(const char *spec)
{
	const char *end = NULL, *open = NULL;

	for (const char *at = spec; (at = strstr(at, " if ")); at++)
		end = at;
	end = end ? end : spec + strlen(spec);
	while (end > spec && end[-1] == ' ')
		end--;
	if (end == spec || end[-1] != ')')
		return NULL;
	for (const char *at = spec; at < end; at++)
		open = *at == '(' ? at : open;
	/* Those of a C++ function have no numbers. */
	return open && (open[1] == 'r' || (open[1] >= '0' && open[1] <= '9')) ? open + 1 : NULL;
}

static bool is_mark(const char *spec)
{
	const char *target = strchr(spec, '=');

	return target && !strncmp(target, "=mark", 5) && (!target[5] || target[5] == ':');
}

/* The recorder has checked the SPEC. NULL: unknown. A mark has its id. */
static struct asked asked(const char *spec)
{
	struct asked ret = { .n = spec && is_mark(spec) };
	const char *at = spec && !ret.n ? argument_list(spec) : NULL;

	while (at && ret.n < SPAN_ARGS) {
		size_t len = strcspn(at, ",)"), type = strcspn(at, ":");

		ret.is_text[ret.n++] = type < len && !strncmp(at + type, ":str", 4);
		at = at[len] == ',' ? at + len + 1 : NULL;
	}
	return ret;
}

/* The numbers that were asked for, or up to the last that is not 0 if the SPEC is not known or does not say it. */
static void put_args(const struct spans *sp, const struct span_call *c, struct buf *b)
{
	static const char *const fields[SPAN_ARGS] = { "SPANA1", "SPANA2", "SPANA3", "SPANA4" };
	struct asked a = asked(sp->names.data[c->name].sum.spec);
	int n = SPAN_ARGS;

	while (n && !span_int(sp, c, fields[n - 1]) && (n > a.n || a.is_text[n - 1]))
		n--;
	for (int i = 0; i < n; i++) {
		int64_t number = span_int(sp, c, fields[i]);

		buf_puts(b, i ? ", " : b->len ? "; arguments " : "arguments ");
		if (a.is_text[i] && !number)
			buf_puts(b, "(text)");
		else
			buf_printf(b, "%" PRId64, number);
	}
}

void span_put_numbers(const struct spans *sp, const struct span_call *c, struct buf *b)
{
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		if (c->flags & ends[i].flag)
			buf_printf(b, "%s%s", b->len ? "; " : "", ends[i].text);
	}
	put_args(sp, c, b);
}

void span_put_facts(const struct spans *sp, const struct span_call *c, struct buf *b)
{
	const char *text = span_text(sp, c);

	span_put_numbers(sp, c, b);
	if (!text)
		return;
	buf_puts(b, b->len ? "; text '" : "text '");
	buf_put_printable(b, text);
	buf_puts(b, "'");
}

int64_t span_state_ns(const struct spans *sp, const struct span_call *c, enum er_mstate state)
{
	return span_int(sp, c, state == MS_LINUX_CPU ? "SPANRUN" : mstate_descs[state].span);
}
