/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Commands that choose what of the data is reported: filters and load objects. */
#include <string.h>

#include "analysis/command/command.h"
#include "analysis/command/shell.h"

int cmd_filters(struct shell *sh, int argc, char **argv)
{
	struct view_state *v = &sh->view;

	if (argc > 1) {
		struct filter *f = filter_parse(sh->session, argv[1], &sh->diag);

		if (!f)
			return -1;
		filter_free(v->filter);
		v->filter = f;
		view_state_changed(v);
	}
	shell_reply(sh, v->filter ? filter_text(v->filter) : "none");
	return 0;
}

typedef VEC(struct loadobj *) object_vec;

/*
 * The next object of a list a,b,"c,d". A name may itself hold commas, quoted or
 * not: the shortest run up to a comma that names an object is taken. NULL
 * after reporting.
 */
static struct loadobj *next_object(struct shell *sh, const char **list)
{
	bool quoted = **list == '"';
	const char *start = *list + quoted;
	struct loadobj *o = NULL;

	for (const char *end = start; !o; end++) {
		__cleanup(freep) char *name = NULL;

		end += strcspn(end, quoted ? "\"" : ",");
		name = xstrndup(start, end - start);
		o = session_find_object(sh->session, name);
		*list = *end && quoted ? end + 1 : end;
		if (quoted || !*end)
			break;
	}
	if (o)
		return o;
	diag_error(&sh->diag, "object '%.*s': not loaded; object_list shows the names",
		   (int)strcspn(start, quoted ? "\"" : ","), start);
	return NULL;
}

/* All named objects, so that a wrong name changes nothing. 0, or -1 after reporting. */
static int find_objects(struct shell *sh, const char *list, object_vec *ret)
{
	session_load_objects(sh->session);
	if (!strcmp(list, "all")) {
		vec_for_each(o, &sh->session->objects)
			vec_push(ret, *o);
		return 0;
	}
	for (;;) {
		struct loadobj *o = next_object(sh, &list);

		if (!o)
			return -1;
		vec_push(ret, o);
		if (*list != ',')
			return 0;
		list++;
	}
}

static void set_all(struct shell *sh, enum show show)
{
	vec_for_each(o, &sh->session->objects)
		(*o)->show = show;
}

static int set_named(struct shell *sh, const char *list, enum show show, bool others_hidden)
{
	object_vec named = { 0 };
	int rc = find_objects(sh, list, &named);

	if (!rc) {
		if (others_hidden)
			set_all(sh, SHOW_HIDE);
		vec_for_each(o, &named)
			(*o)->show = show;
		view_state_changed(&sh->view);
	}
	vec_free(&named);
	return rc;
}

int cmd_object_show(struct shell *sh, int argc, char **argv)
{
	return set_named(sh, argv[1], SHOW_ALL, false);
}

int cmd_object_hide(struct shell *sh, int argc, char **argv)
{
	return set_named(sh, argv[1], SHOW_HIDE, false);
}

int cmd_object_select(struct shell *sh, int argc, char **argv)
{
	return set_named(sh, argv[1], SHOW_ALL, true);
}

int cmd_objects_default(struct shell *sh, int argc, char **argv)
{
	session_load_objects(sh->session);
	set_all(sh, SHOW_ALL);
	view_state_changed(&sh->view);
	return 0;
}
