/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/model/session.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/base/regex.h"
#include "analysis/experiment/exp_group.h"
#include "analysis/experiment/exp_stacks.h"
#include "analysis/model/divided.h"
#include "analysis/model/dynscopes.h"
#include "analysis/model/model.h"
#include "analysis/model/spans.h"
#include "analysis/symbols/aliases.h"

static struct func *pseudo_func(struct session *s, const char *name)
{
	return func_get(s, object_pseudo(s, name, name), 0, 0, name, FUNC_PSEUDO);
}

struct session *session_new(struct diag *d)
{
	struct session *s = xcalloc(1, sizeof(*s));
	struct loadobj *total;
	uint32_t frame;

	s->diag = d;
	s->impl = xcalloc(1, sizeof(*s->impl));
	search_init(&s->impl->search);
	s->unknown = pseudo_func(s, "<Unknown>");
	s->total = pseudo_func(s, "<Total>");
	total = s->total->obj;
	s->truncated = func_get(s, total, 0, 0, "<Truncated-stack>", FUNC_PSEUDO);
	s->unwind_failed = func_get(s, total, 0, 0, "<Stack-unwind-failed>", FUNC_PSEUDO);
	frame = frame_get(s, s->unknown, 0);
	s->impl->unknown_stack = stack_get(s, &frame, 1);
	return s;
}

static void drop_regex(struct session *s)
{
	if (s->impl->only_subs)
		regfree(s->impl->only_subs);
	free(s->impl->only_subs);
	s->impl->only_subs = NULL;
}

int session_descendants(struct session *s, const char *which, struct diag *d)
{
	regex_t *re;

	if (!strcmp(which, "on") || !strcmp(which, "off")) {
		s->impl->no_subs = which[1] == 'f';
		drop_regex(s);
		return 0;
	}
	if (which[0] != '=' || !which[1])
		return diag_error(d, "en_desc '%s': write on, off or =regex", which);
	re = xcalloc(1, sizeof(*re));
	if (regex_compile(re, which + 1)) {
		free(re);
		return diag_error(d, "en_desc '%s': not a regular expression", which);
	}
	drop_regex(s);
	s->impl->no_subs = false;
	s->impl->only_subs = re;
	return 0;
}

/* A sub-experiment's lineage is its name without ".er": "_f1_x1". */
static bool is_wanted(const struct session *s, const struct experiment *sub)
{
	__cleanup(freep) char *lineage = xstrndup(sub->name, strlen(sub->name) - 3);

	return !s->impl->only_subs || !regexec(s->impl->only_subs, lineage, 0, NULL, 0) ||
	       !regexec(s->impl->only_subs, sub->process, 0, NULL, 0);
}

void session_free(struct session *s)
{
	if (!s)
		return;
	vec_for_each(r, &s->impl->resolvers)
		resolver_free(r);
	vec_free(&s->impl->resolvers);
	intern_free(&s->impl->func_ids);
	intern_free(&s->impl->frame_ids);
	intern_free(&s->impl->stack_ids);
	intern_free(&s->impl->object_ids);
	vec_free(&s->impl->scratch);
	search_free(&s->impl->search);
	kernel_image_free(s->impl->kernel);
	drop_regex(s);
	names_free(&s->impl->names);
	spans_free(s->impl->spans);
	vec_free(&s->impl->at_rest);
	vec_free(&s->impl->may_rest);
	divided_free(s->impl->divided);
	data_objects_free(s->impl->data);
	dynscopes_free(s->impl->dynscopes);
	map_free(&s->impl->dyntext_sources);
	expansions_free(s->impl->expansions);
	map_free(&s->impl->by_process);
	map_free(&s->impl->builds);
	vec_free(&s->impl->same_process);
	free(s->impl);
	vec_for_each(o, &s->objects)
		object_free(*o);
	/* Close subs before the founders they refer to. */
	for (size_t i = s->experiments.len; i > 0; i--)
		experiment_close(s->experiments.data[i - 1]);
	vec_free(&s->experiments);
	vec_free(&s->groups);
	vec_free(&s->objects);
	vec_free(&s->funcs);
	vec_free(&s->frames);
	vec_free(&s->inlined);
	vec_free(&s->stacks);
	vec_free(&s->stack_frames);
	strtab_free(&s->names);
	arena_free(&s->arena);
	free(s);
}

static uint64_t process_key(const struct experiment *founder, int64_t pid)
{
	return (uint64_t)founder->id << 32 | (uint32_t)pid;
}

/* A process id may be reused: experiments with the same pid form a list, the last one first. */
static void add_experiment(struct session *s, struct experiment *e)
{
	uint64_t *last;

	s->impl->dyntext = DYNTEXT_UNKNOWN;
	dynscopes_free(s->impl->dynscopes);
	s->impl->dynscopes = NULL;
	map_free(&s->impl->dyntext_sources);
	vec_push(&s->experiments, e);
	vec_push(&s->impl->resolvers, (struct resolver){ 0 });
	e->id = s->experiments.len;
	e->group = s->groups.len;
	last = map_put(&s->impl->by_process, process_key(experiment_founder(e), e->pid), NULL);
	vec_push(&s->impl->same_process, (uint32_t)*last);
	*last = e->id;
}

uint32_t session_no_stack(const struct session *s)
{
	return s->impl->unknown_stack;
}

/* Find the experiment of a process that has the stack. Returns the stack's index, or -1. */
static int64_t stack_in_process(struct session *s, const struct experiment *founder, int64_t pid,
				uint64_t uid, struct experiment **ret)
{
	const uint64_t *last = map_get(&s->impl->by_process, process_key(founder, pid));

	for (uint32_t id = last ? *last : 0; id; id = s->impl->same_process.data[id - 1]) {
		int64_t index;

		*ret = s->experiments.data[id - 1];
		index = experiment_stack(*ret, uid);
		if (index >= 0)
			return index;
	}
	return -1;
}

uint32_t session_resolve_in_process(struct session *s, const struct experiment *founder, int64_t pid,
				    uint64_t uid, int64_t time_ns)
{
	struct experiment *e = NULL;
	int64_t index = -1;

	if (uid)
		index = stack_in_process(s, founder, pid, uid, &e);
	if (uid && index < 0 && pid)
		index = stack_in_process(s, founder, 0, uid, &e);
	if (uid && index < 0)
		index = stack_in_process(s, founder, founder->pid, uid, &e);
	if (index < 0)
		return s->impl->unknown_stack;
	return session_resolve(s, e, index, (int64_t)((uint64_t)time_ns - (uint64_t)e->start_ns));
}

/* A recording that was not closed ends at the latest time in any of its parts. */
static void extend_to(struct experiment *founder, const struct experiment *sub)
{
	int64_t later, end;

	if (founder->closed || __builtin_sub_overflow(sub->start_ns, founder->start_ns, &later) ||
	    __builtin_add_overflow(sub->end_ns, later, &end))
		return;
	founder->end_ns = end > founder->end_ns ? end : founder->end_ns;
}

static int add_founder(struct session *s, const char *path)
{
	struct experiment *e = experiment_open(path, s->diag);
	str_vec subs = { 0 };

	if (!e)
		return -1;
	add_experiment(s, e);
	if (!s->impl->no_subs)
		experiment_subs(e, &subs);
	vec_for_each(name, &subs) {
		struct experiment *sub = experiment_open_sub(e, *name);

		if (sub)
			extend_to(e, sub);
		if (sub && is_wanted(s, sub))
			add_experiment(s, sub);
		else if (sub)
			experiment_close(sub);
		free(*name);
	}
	vec_free(&subs);
	return 0;
}

static int add_group(struct session *s, const char *path)
{
	str_vec names = { 0 };
	int ret = group_read(path, &names, s->diag);

	vec_for_each(name, &names) {
		bool gone = access(*name, F_OK) && errno == ENOENT;

		if (gone ? group_lacks(path, *name, s->diag) : add_founder(s, *name))
			ret = -1;
		free(*name);
	}
	vec_free(&names);
	return ret;
}

int session_add(struct session *s, const char *path)
{
	size_t before = s->experiments.len;
	int ret;

	vec_push(&s->groups, arena_strdup(&s->arena, path));
	ret = is_group_name(path) ? add_group(s, path) : add_founder(s, path);
	if (s->experiments.len == before)
		s->groups.len--;
	session_join(s, s->impl->compared);
	return ret;
}

/* Compare the name after the module's. */
static bool is_named_in_module(const char *name, const char *want)
{
	const char *tick = strchr(name, '`');

	return tick && !strcmp(tick + 1, want);
}

/* A kernel function matches "vmlinux`vfs_read" and "vfs_read"; any function matches its aliases. */
static bool is_named(const struct func *f, const char *name)
{
	return !strcmp(f->name, name) || !strcmp(f->long_name, name) ||
	       !strcmp(f->mangled, name) || alias_listed(f->aliases, name) ||
	       (f->obj->kernel && (is_named_in_module(f->name, name) ||
				   is_named_in_module(f->mangled, name)));
}

/* A part also matches the name that lists show. */
static bool is_part_named(struct session *s, const struct func *f, const char *name)
{
	size_t n = strlen(name), symbol = strlen(f->mangled);

	return f->outline && n > symbol + 1 && !strncmp(name + n - 1 - symbol, f->mangled, symbol) &&
	       (!strcmp(name, func_outline_name(s, f, false)) ||
		!strcmp(name, func_outline_name(s, f, true)));
}

void session_find_funcs(struct session *s, const char *name, func_vec *ret)
{
	vec_for_each(ep, &s->experiments) {
		for (size_t i = 0; i < (*ep)->stacks.len; i++)
			session_resolve(s, *ep, i, (*ep)->end_ns);
	}
	vec_for_each(f, &s->funcs) {
		if ((*f)->flags & FUNC_INLINED && !s->impl->inlined)
			continue;
		if (is_named(*f, name) || is_part_named(s, *f, name))
			vec_push(ret, *f);
	}
}

void session_load_objects(struct session *s)
{
	vec_for_each(e, &s->experiments)
		resolver_of(s, *e);
}

static void show(struct session *s, bool *what, bool on)
{
	if (*what == on)
		return;
	*what = on;
	vec_for_each(r, &s->impl->resolvers)
		resolver_forget(r);
}

void session_show_outlined(struct session *s, bool on)
{
	show(s, &s->impl->as_recorded, !on);
}

bool session_shows_outlined(const struct session *s)
{
	return !s->impl->as_recorded;
}

void session_show_inlined(struct session *s, bool on)
{
	show(s, &s->impl->inlined, on);
}

bool session_shows_inlined(const struct session *s)
{
	return s->impl->inlined;
}

void session_show_interpreted(struct session *s, enum interpreted_shown shown)
{
	if (s->impl->interpreted == shown)
		return;
	s->impl->interpreted = shown;
	vec_for_each(r, &s->impl->resolvers)
		resolver_forget(r);
}

struct search_path *session_search(struct session *s)
{
	return &s->impl->search;
}
