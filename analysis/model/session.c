/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/model/session.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/model/model.h"

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
	s->unknown = pseudo_func(s, "<Unknown>");
	s->total = pseudo_func(s, "<Total>");
	total = s->total->obj;
	s->truncated = func_get(s, total, 0, 0, "<Truncated-stack>", FUNC_PSEUDO);
	s->unwind_failed = func_get(s, total, 0, 0, "<Stack-unwind-failed>", FUNC_PSEUDO);
	frame = frame_get(s, s->unknown, 0);
	s->impl->unknown_stack = stack_get(s, &frame, 1);
	return s;
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
	free(s->impl);
	vec_for_each(o, &s->objects)
		object_free(*o);
	/* Subs before the founders that they refer to. */
	for (size_t i = s->experiments.len; i > 0; i--)
		experiment_close(s->experiments.data[i - 1]);
	vec_free(&s->experiments);
	vec_free(&s->objects);
	vec_free(&s->funcs);
	vec_free(&s->frames);
	vec_free(&s->stacks);
	vec_free(&s->stack_frames);
	strtab_free(&s->names);
	arena_free(&s->arena);
	free(s);
}

static void add_experiment(struct session *s, struct experiment *e)
{
	vec_push(&s->experiments, e);
	vec_push(&s->impl->resolvers, (struct resolver){ 0 });
	e->id = s->experiments.len;
}

static int add_founder(struct session *s, const char *path)
{
	struct experiment *e = experiment_open(path, s->diag);
	str_vec subs = { 0 };

	if (!e)
		return -1;
	add_experiment(s, e);
	experiment_subs(e, &subs);
	vec_for_each(name, &subs) {
		struct experiment *sub = experiment_open_sub(e, *name);

		if (sub)
			add_experiment(s, sub);
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
		if (add_founder(s, *name) < 0)
			ret = -1;
		free(*name);
	}
	vec_free(&names);
	return ret;
}

int session_add(struct session *s, const char *path)
{
	size_t n = strlen(path);

	if (n > 4 && !strcmp(path + n - 4, ".erg"))
		return add_group(s, path);
	return add_founder(s, path);
}

/* A kernel function goes by "vmlinux`vfs_read", and by "vfs_read". */
static bool is_named(const struct func *f, const char *name)
{
	const char *tick = f->obj->kernel ? strchr(f->name, '`') : NULL;

	return !strcmp(f->name, name) || !strcmp(f->long_name, name) ||
	       !strcmp(f->mangled, name) || (tick && !strcmp(tick + 1, name));
}

void session_find_funcs(struct session *s, const char *name, func_vec *ret)
{
	vec_for_each(ep, &s->experiments) {
		for (size_t i = 0; i < (*ep)->stacks.len; i++)
			session_resolve(s, *ep, i, (*ep)->end_ns);
	}
	vec_for_each(f, &s->funcs) {
		if (is_named(*f, name))
			vec_push(ret, *f);
	}
}

void session_load_objects(struct session *s)
{
	vec_for_each(e, &s->experiments)
		resolver_of(s, *e);
}
