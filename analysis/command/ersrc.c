/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/command/ersrc.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "analysis/command/choose.h"
#include "analysis/command/command.h"
#include "analysis/command/rc.h"
#include "analysis/command/shell.h"
#include "analysis/model/source.h"
#include "analysis/views/columns.h"
#include "analysis/views/table.h"
#include "analysis/views/view_state.h"

struct ersrc {
	struct shell sh;
	struct loadobj *object;
};

typedef int (*annotated_view)(struct view_state *v, const struct func *f, const char *file,
			      struct table *t, struct diag *d);

static const char usage[] =
	"usage: er_src [option]... object\n"
	"  -func                 list the functions of the object\n"
	"  -source item [tag]    show the source of a function or file; also -src\n"
	"  -disasm item [tag]    show the instructions of a function or file\n"
	"  -scc classes          the remarks in source, as in er_print\n"
	"  -dcc classes          what disassembly shows\n"
	"  -cc classes           both\n"
	"  -outfile file         write what follows to this file; - is standard output\n"
	"  -V, --version         print the version\n"
	"  -h, --help            print this\n"
	"item: function, file, function'file', or all; tag: the number of one among several\n"
	"of that name, or -1 for all of them. Without options: -source all -1.\n";

static int name_cmp(const void *pa, const void *pb)
{
	const struct func *a = *(struct func *const *)pa, *b = *(struct func *const *)pb;
	int by = strcmp(a->name, b->name);

	return by ? by : (a->addr > b->addr) - (a->addr < b->addr);
}

static bool is_ours(const struct ersrc *x, const struct func *f)
{
	return f->obj == x->object && !(f->flags & FUNC_PSEUDO);
}

static void our_funcs(struct ersrc *x, func_vec *ret)
{
	vec_for_each (f, &x->sh.session->funcs) {
		if (is_ours(x, *f))
			vec_push(ret, *f);
	}
	vec_sort(ret, name_cmp);
}

static int show_funcs(struct ersrc *x)
{
	struct table t = { .name = "functions" };
	func_vec funcs = { 0 };
	char *title = xasprintf("Functions sorted by name\nLoad Object: %s", x->object->path);

	t.title = arena_strdup(&t.arena, title);
	free(title);
	vec_push(&t.columns, (struct column){ .kind = CELL_ADDRESS, .title = { "Address" } });
	vec_push(&t.columns, (struct column){ .kind = CELL_COUNT, .title = { "Size" } });
	text_column(&t, "Name");
	our_funcs(x, &funcs);
	vec_for_each (f, &funcs) {
		struct row *r = table_row(&t);

		r->cells[0] =
			(struct cell){ .kind = CELL_ADDRESS, .n = x->object->id, .i = (*f)->addr };
		r->cells[1] = (struct cell){ .kind = CELL_COUNT, .i = (*f)->size };
		put_text(r, 2, func_label(&x->sh.view, *f, &t));
	}
	vec_free(&funcs);
	return shell_print(&x->sh, &t, 0);
}

static int show(struct ersrc *x, annotated_view view, const struct func *f, const char *file)
{
	struct table t = { 0 };

	return shell_print(&x->sh, &t, view(&x->sh.view, f, file, &t, &x->sh.diag));
}

/* Show all files; for disassembly then the functions that belong to no file. */
static int show_all(struct ersrc *x, annotated_view view)
{
	VEC(const char *) files = { 0 };
	func_vec funcs = { 0 };
	int rc = 0;

	our_funcs(x, &funcs);
	for (size_t i = 0; i < funcs.len; i++) {
		const char *file = func_source(x->sh.session, funcs.data[i]);
		bool known = !file;

		for (size_t k = 0; !known && k < files.len; k++)
			known = files.data[k] == file;
		if (!known)
			vec_push(&files, file);
	}
	for (size_t i = 0; i < files.len; i++)
		rc |= show(x, view, NULL, files.data[i]);
	for (size_t i = 0; i < funcs.len; i++) {
		if (view == view_disasm && !func_source(x->sh.session, funcs.data[i]))
			rc |= show(x, view, funcs.data[i], NULL);
	}
	if (!files.len && view == view_source)
		rc = diag_error(&x->sh.diag,
				"%s: has no line numbers: compile with -g, or install its "
				"debug package",
				x->object->path);
	vec_free(&funcs);
	vec_free(&files);
	return rc;
}

/* Show the matches of a name; tag -1 means every function of that name, or every file. */
static int show_each(struct ersrc *x, annotated_view view, char *option, char *item)
{
	func_vec found = { 0 };
	struct code_choice what;
	char number[16];
	char *argv[] = { option, item, number };
	int rc = 0;

	session_find_funcs(x->sh.session, item, &found);
	for (size_t i = 0; i < found.len; i++)
		rc |= show(x, view, found.data[i], NULL);
	if (found.len) {
		vec_free(&found);
		return rc;
	}
	snprintf(number, sizeof(number), "1");
	rc = choose_code(&x->sh, 3, argv, &what);
	if (!rc)
		rc = show(x, view, what.func, what.file);
	free(what.name);
	return rc;
}

static int show_item(struct ersrc *x, annotated_view view, char *option, char *item, char *tag)
{
	char *argv[] = { option, item, tag };
	struct code_choice what;
	int rc;

	if (!strcmp(item, "all"))
		return show_all(x, view);
	if (tag && !strcmp(tag, "-1"))
		return show_each(x, view, option, item);
	rc = choose_code(&x->sh, tag ? 3 : 2, argv, &what);
	if (!rc)
		rc = show(x, view, what.func, what.file);
	free(what.name);
	return rc;
}

struct option {
	const char *name;
	int args;
	bool tag;	     /* a number, -1 or all may follow */
	const char *command; /* the er_print command that implements it; NULL: implemented here */
};

static const struct option options[] = {
	{ "func", 0, false, NULL }, { "source", 1, true, NULL },
	{ "src", 1, true, NULL },   { "disasm", 1, true, NULL },
	{ "scc", 1, false, "scc" }, { "dcc", 1, false, "dcc" },
	{ "cc", 1, false, "cc" },   { "outfile", 1, false, "outfile" },
	{ "V", 0, false, NULL },    { "-version", 0, false, NULL },
	{ "h", 0, false, NULL },    { "-help", 0, false, NULL },
};

struct action {
	const struct option *option;
	char **argv;
	char *tag;
};

struct ersrc_line {
	VEC(struct action) actions;
	char *object;
};

static bool is_tag(const char *s)
{
	return !strcmp(s, "-1") || (*s && !s[strspn(s, "0123456789")]);
}

static const struct option *find_option(const char *word)
{
	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
		if (!strcmp(word + 1, options[i].name))
			return &options[i];
	}
	return NULL;
}

/* Take the option at argv. Returns its number of words, or -1 after reporting. */
static int take_option(struct ersrc_line *line, int argc, char **argv, struct diag *d)
{
	const struct option *o = find_option(argv[0]);
	struct action a = { .option = o, .argv = argv };
	int n = 1;

	if (!o)
		return diag_error(d, "option '%s': unknown; er_src -h lists them", argv[0]);
	n += o->args;
	if (n > argc)
		return diag_error(d, "option '%s': needs an argument; er_src -h tells which",
				  argv[0]);
	if (o->tag && n < argc && is_tag(argv[n]))
		a.tag = argv[n++];
	vec_push(&line->actions, a);
	return n;
}

static int parse(struct ersrc_line *line, int argc, char **argv, struct diag *d)
{
	for (int i = 1; i < argc;) {
		int n = 1;

		if (argv[i][0] == '-' && argv[i][1])
			n = take_option(line, argc - i, argv + i, d);
		else if (line->object)
			n = diag_error(d, "'%s': one object at a time, and '%s' was named already",
				       argv[i], line->object);
		else
			line->object = argv[i];
		if (n < 0)
			return -1;
		i += n;
	}
	return 0;
}

static bool asks(const struct ersrc_line *line, const char *one, const char *other)
{
	vec_for_each (a, &line->actions) {
		if (!strcmp(a->option->name, one) || !strcmp(a->option->name, other))
			return true;
	}
	return false;
}

static int run_action(struct ersrc *x, const struct action *a)
{
	const struct option *o = a->option;

	if (o->command) {
		int rc;

		x->sh.in_rc = true; /* print no replies between the listings */
		rc = command_find(o->command, &x->sh.diag)->run(&x->sh, 2, a->argv);
		x->sh.in_rc = false;
		return rc;
	}
	if (!strcmp(o->name, "func"))
		return show_funcs(x);
	return show_item(x, !strcmp(o->name, "disasm") ? view_disasm : view_source, a->argv[0],
			 a->argv[1], a->tag);
}

static int run_all(struct ersrc *x, const struct ersrc_line *line)
{
	int rc = 0;
	bool shown = false;

	vec_for_each (a, &line->actions) {
		rc |= run_action(x, a) != 0;
		rc |= shell_messages(&x->sh) != 0;
		shown |= !a->option->command;
	}
	if (!shown) {
		rc |= show_all(x, view_source) != 0;
		rc |= shell_messages(&x->sh) != 0;
	}
	return rc;
}

static int open_object(struct ersrc *x, const char *path)
{
	char *full = realpath(path, NULL);
	struct stat st;

	if (!full || stat(full, &st) < 0) {
		free(full);
		return diag_errno(&x->sh.diag, errno, "'%s': cannot be shown", path);
	}
	x->object = session_add_object(x->sh.session, full);
	free(full);
	if (!S_ISREG(st.st_mode))
		return diag_error(&x->sh.diag, "'%s': cannot be shown: it is no regular file", path);
	if (x->object->symtab) {
		for (size_t i = 0; i < x->object->diag.nmsgs; i++)
			diag_warn(&x->sh.diag, "%s", x->object->diag.msgs[i].text);
		return 0;
	}
	return diag_error(&x->sh.diag, "'%s': cannot be shown: %s", path,
			  x->object->diag.nmsgs ? x->object->diag.msgs[0].text
						: "it is no executable, library or object file");
}

int ersrc_main(int argc, char **argv)
{
	struct diag d = { .prefix = "er_src" };
	struct ersrc_line line = { 0 };
	struct ersrc x = { 0 };
	int status = 0;

	if (parse(&line, argc, argv, &d)) {
		status = 2;
	} else if (asks(&line, "h", "-help")) {
		fputs(usage, stdout);
	} else if (asks(&line, "V", "-version")) {
		printf("er_src %s\n", ER_VERSION);
	} else if (!line.object) {
		fputs(usage, stderr);
		status = 2;
	} else {
		shell_init(&x.sh, "er_src", NULL);
		shell_open_bare(&x.sh);
		status = open_object(&x, line.object) ? 1 : 0;
		shell_messages(&x.sh);
		if (!status)
			status = run_all(&x, &line);
		shell_fini(&x.sh);
	}
	vec_free(&line.actions);
	return status;
}
