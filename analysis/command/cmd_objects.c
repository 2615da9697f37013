/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Commands that choose which load objects show their functions. */
#include <string.h>

#include "analysis/command/command.h"
#include "analysis/command/rc.h"
#include "analysis/command/shell.h"
#include "analysis/views/view.h"
#include "analysis/views/view_state.h"

typedef VEC(struct loadobj *) object_vec;

/*
 * The next object of a list a,b,"c,d". Names may contain commas, quoted or not, so the shortest
 * text before a comma that names an object is taken. NULL after reporting that no object has the
 * name. For .er.rc files nothing is reported, because other experiments may have that object.
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
	*list = start + strcspn(start, quoted ? "\"" : ",");
	*list += quoted && **list;
	if (!sh->in_rc)
		diag_error(&sh->diag, "object '%.*s': not loaded; object_list shows the names",
			   (int)strcspn(start, quoted ? "\"" : ","), start);
	return NULL;
}

/*
 * Add the objects that an argument names. A path means one object. A name means all objects of
 * that name, such as two programs' libc.so.6.
 */
static void add_object(const struct session *s, struct loadobj *named, bool by_path,
		       object_vec *ret)
{
	vec_for_each(o, &s->objects) {
		if (*o == named || (!by_path && !strcmp((*o)->name, named->name)))
			vec_push(ret, *o);
	}
}

/* Find all named objects first, so that a wrong name changes nothing. 0, or -1 after reporting. */
static int find_objects(struct shell *sh, const char *list, object_vec *ret)
{
	session_load_objects(sh->session);
	if (!strcmp(list, "all")) {
		vec_for_each(o, &sh->session->objects)
			vec_push(ret, *o);
		return 0;
	}
	for (;;) {
		bool by_path = list[*list == '"'] == '/';
		struct loadobj *o = next_object(sh, &list);

		if (!o && !sh->in_rc)
			return -1;
		if (o)
			add_object(sh->session, o, by_path, ret);
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

static int cmd_object_show(struct shell *sh, int argc, char **argv)
{
	return set_named(sh, argv[1], SHOW_ALL, false);
}

static int cmd_object_hide(struct shell *sh, int argc, char **argv)
{
	return set_named(sh, argv[1], SHOW_HIDE, false);
}

static int cmd_object_api(struct shell *sh, int argc, char **argv)
{
	return set_named(sh, argv[1], SHOW_API, false);
}

static int cmd_object_select(struct shell *sh, int argc, char **argv)
{
	return set_named(sh, argv[1], SHOW_ALL, true);
}

static int cmd_objects_default(struct shell *sh, int argc, char **argv)
{
	session_load_objects(sh->session);
	set_all(sh, SHOW_ALL);
	rc_run_objects(sh);
	view_state_changed(&sh->view);
	return 0;
}

static const struct command rows[] = {
	{ SECTION_OBJECTS, "objects", .view = view_objects,
	  .help = "list the load objects and problems in reading them" },
	{ SECTION_OBJECTS, "object_list", .view = view_object_list,
	  .help = "list the load objects, shown or hidden" },
	{ SECTION_OBJECTS, "object_show", ARGS_OBJECTS, .run = cmd_object_show, .rc = RC_FROM_LAST,
	  .help = "show the functions of these load objects" },
	{ SECTION_OBJECTS, "object_hide", ARGS_OBJECTS, .run = cmd_object_hide, .rc = RC_FROM_LAST,
	  .help = "show each of these load objects as one line" },
	{ SECTION_OBJECTS, "object_api", ARGS_OBJECTS, .run = cmd_object_api, .rc = RC_FROM_LAST,
	  .help = "show only functions that other load objects called" },
	{ SECTION_OBJECTS, "object_select", ARGS_OBJECTS, .run = cmd_object_select,
	  .help = "show the functions of these objects only" },
	{ SECTION_OBJECTS, "objects_default", .run = cmd_objects_default,
	  .help = "show load objects by the defaults again" },
};

const struct command_rows object_commands = COMMAND_ROWS(rows);
