/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/experiment/exp_recorder.h"

#include <string.h>

#include "analysis/experiment/experiment_impl.h"

static void keep_element(void *ctx, const struct xml_element *el)
{
	struct experiment *e = ctx;
	struct xml_attr *attrs = arena_alloc(&e->arena, el->nattrs * sizeof(*attrs));

	for (size_t i = 0; i < el->nattrs; i++) {
		attrs[i].name = arena_strdup(&e->arena, el->attrs[i].name);
		attrs[i].value = arena_strdup(&e->arena, el->attrs[i].value);
	}
	vec_push(&e->recorder, (struct exp_element){
		.name = arena_strdup(&e->arena, el->name), .attrs = attrs, .nattrs = el->nattrs });
}

void recorder_read(struct experiment *e, int dirfd)
{
	static const struct xml_handler handler = { .start = keep_element };
	struct file f;

	if (!exp_file(e, dirfd, "recorder.xml", &f))
		return;
	exp_parse(e, "recorder.xml", &f, &handler, e);
	file_close(&f);
}

const char *element_get(const struct exp_element *el, const char *name)
{
	for (size_t i = 0; i < el->nattrs; i++) {
		if (!strcmp(el->attrs[i].name, name))
			return el->attrs[i].value;
	}
	return NULL;
}

int64_t element_int(const struct exp_element *el, const char *name)
{
	struct xml_element one = { .nattrs = 1, .attrs = { { name, element_get(el, name) } } };

	return one.attrs[0].value ? xml_get_int(&one, name, 0) : 0;
}

/* Recorders that do not write a scope record the whole system. */
bool recorder_system_wide(const struct experiment *e)
{
	vec_for_each(el, &e->recorder) {
		const char *scope = element_get(el, "scope");

		if (!strcmp(el->name, "recorder"))
			return !scope || !strcmp(scope, "system");
	}
	return false;
}

static const struct exp_element *capture_of(const struct experiment *e)
{
	const struct experiment *founder = experiment_founder(e);

	vec_for_each(el, &founder->recorder) {
		if (!strcmp(el->name, "capture"))
			return el;
	}
	return NULL;
}

bool recorder_only_locks(const struct experiment *e)
{
	const struct exp_element *el = capture_of(e);

	return el && element_int(el, "only_locks");
}

int64_t recorder_all_waits_from(const struct experiment *e)
{
	const struct exp_element *el = capture_of(e);
	int64_t traced = el ? element_int(el, "trace_ns") : 0;

	return traced ? traced : el ? element_int(el, "widest_ns") : 0;
}
