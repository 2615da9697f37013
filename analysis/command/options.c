/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The command line of er_print. Any command may be given as an option, in any order and number,
 * or as a word. The other words are experiments. All of it is parsed before experiments are
 * opened, so that a mistake at the end is reported at once.
 */
#include <ctype.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/base/buf.h"
#include "analysis/base/interrupt.h"
#include "analysis/command/command.h"
#include "analysis/command/newest.h"
#include "analysis/command/shell.h"

struct action {
	const struct command *command; /* NULL: read from the keyboard */
	int argc;
	char **argv;
	char *type; /* argument of the command if the option was the name of an object type */
};

struct command_line {
	VEC(struct action) actions;
	VEC(char *) experiments;
	struct objtypes types; /* built-in types, and types that an earlier option defines */
	char *newest; /* the newest experiment, taken because none was named */
	const struct front *front; /* NULL: the program is er_print */
	bool version, keep_going;
};

/* Whether a word can only be an argument. */
static bool is_argument(const struct command *c, const char *s)
{
	for (size_t i = 0; c->words && c->words[i]; i++) {
		if (!strcmp(s, c->words[i]))
			return true;
	}
	if (c->takes_command && command_is_named(s))
		return true;
	return !strcmp(s, "all") || (*s && s[strspn(s, "0123456789")] == '\0');
}

/*
 * Note the name of a type that an option defines, so that it is accepted as an option from here
 * on. The definition is checked when it is executed.
 */
static void note_definition(struct command_line *cl, const struct action *a)
{
	bool memory = !strcmp(a->command->name, "mobj_define");

	if (!memory && strcmp(a->command->name, "indxobj_define"))
		return;
	vec_push(&cl->types.all, (struct objtype){
		.kind = memory ? OBJ_MEMORY : OBJ_INDEX, .name = a->argv[1], .text = "",
		.builtin = true, /* the type does not own its strings */ });
}

/*
 * Take the option at *argv with its arguments. Returns its number of words, or -1 after
 * reporting.
 */
static int take_option(struct command_line *cl, int argc, char **argv, struct diag *d)
{
	const char *name = argv[0] + (argv[0][0] == '-') + !strncmp(argv[0], "--", 2);
	struct action a = { .argv = argv, .argc = 1 };

	if (!strcmp(argv[0], "-") && !cl->front) {
		vec_push(&cl->actions, a);
		return 1;
	}
	a.command = command_of_type(&cl->types, name);
	if (a.command) {
		a.type = (char *)name;
		vec_push(&cl->actions, a);
		return 1;
	}
	a.command = command_find(name, d);
	if (!a.command)
		return -1;
	if (cl->front && !cl->front->takes(a.command))
		return diag_error(d, "-%s: is a command of er_print only: -h lists the options here",
				  a.command->name);
	while (a.argc <= a.command->option_args && a.argc < argc)
		a.argc++;
	if (a.argc <= a.command->option_args)
		return diag_error(d, "-%s: needs an argument: -%s %s", a.command->name,
				  a.command->name, a.command->args);
	while (a.argc <= a.command->max && a.argc < argc &&
	       is_argument(a.command, argv[a.argc]))
		a.argc++;
	vec_push(&cl->actions, a);
	note_definition(cl, &a);
	return a.argc;
}

/*
 * Whether a word is a command, as in `er_print functions test.1.er`, and cannot be meant as a
 * path.
 */
static bool is_command_word(const char *s)
{
	return *s && !strpbrk(s, "./") && access(s, F_OK);
}

/* Returns the number of words of an option that the front takes; 0: none; -1 after reporting. */
static int take_own(const struct command_line *cl, int argc, char **argv, struct diag *d)
{
	return cl->front && argv[0][0] == '-' ? cl->front->option(cl->front->ctx, argc, argv, d) : 0;
}

static int parse(struct command_line *cl, int argc, char **argv, struct diag *d)
{
	for (int i = 1; i < argc;) {
		int n = take_own(cl, argc - i, argv + i, d);

		if (n) {
			if (n < 0)
				return -1;
			i += n;
			continue;
		}
		n = 1;
		if (!strcmp(argv[i], "-V"))
			cl->version = true;
		else if (!strcmp(argv[i], "-keep-going") || !strcmp(argv[i], "--keep-going"))
			cl->keep_going = true;
		else if (argv[i][0] == '-' || (!cl->front && is_command_word(argv[i])))
			n = take_option(cl, argc - i, argv + i, d);
		else
			vec_push(&cl->experiments, argv[i]);
		if (n < 0)
			return -1;
		i += n;
	}
	return 0;
}

static bool all_bare(const struct command_line *cl)
{
	vec_for_each(a, &cl->actions) {
		if (!a->command || !a->command->bare)
			return false;
	}
	return cl->actions.len;
}

/*
 * Report usage. If an option's argument was left out, the option may have taken the experiment as
 * its argument.
 */
static void usage(const struct shell *sh, const struct command_line *cl)
{
	const struct action *last = cl->actions.len ? &cl->actions.data[cl->actions.len - 1] : NULL;
	struct buf b = { 0 };

	if (last && last->command && last->argc > 1) {
		buf_put_printable(&b, last->argv[last->argc - 1]);
		fprintf(stderr, "%s: no experiment is named: '%s' is the argument of -%s\n",
			sh->program, b.data, last->command->name);
	} else if (last) {
		fprintf(stderr, "%s: no experiment is named, and there is none in this directory\n",
			sh->program);
	}
	buf_free(&b);
	if (cl->front) {
		fputs(cl->front->usage, stderr);
		return;
	}
	fprintf(stderr,
		"usage: %s [-command [argument] | -script file | -keep-going | - | -V]... [experiment...]\n"
		"       an experiment is a directory *.er or a group file *.erg; without any, the\n"
		"       newest in this directory; the dash before a command may be left out;\n"
		"       %s -help lists the commands\n", sh->program, sh->program);
}

/*
 * Whether the action is the only one of its command on the line, and that command then applies to
 * the whole line. If there are several, each applies to what follows it.
 */
static bool is_for_whole_line(const struct command_line *cl, const struct action *of)
{
	size_t n = 0;

	if (!of->command || !of->command->whole_line)
		return false;
	vec_for_each(a, &cl->actions)
		n += a->command == of->command;
	return n == 1;
}

/* A person who names only an experiment first sees where the time went. */
static void greet(struct shell *sh)
{
	if (sh->keyboard && isatty(STDIN_FILENO))
		shell_run(sh, command_find("findings", &sh->diag), 1, NULL);
}

static void run_actions(struct shell *sh, const struct command_line *cl)
{
	vec_for_each(a, &cl->actions) {
		if (is_for_whole_line(cl, a))
			shell_run(sh, a->command, a->argc, a->argv);
	}
	if (!cl->actions.len && !cl->front) {
		greet(sh);
		shell_keyboard(sh);
	}
	vec_for_each(a, &cl->actions) {
		if (sh->ended)
			shell_note_rest(sh);
		if (sh->quit || sh->gone || sh->ended)
			break;
		if (is_for_whole_line(cl, a))
			continue;
		if (a->type)
			shell_run(sh, a->command, 2, (char *[]){ (char *)a->command->name, a->type });
		else if (a->command)
			shell_run(sh, a->command, a->argc, a->argv);
		else
			shell_keyboard(sh);
	}
}

/*
 * Use the newest experiment. -1 if there is none, or if an option seems to have taken an
 * experiment as its argument.
 */
static int take_newest(struct shell *sh, struct command_line *cl)
{
	const struct action *last = cl->actions.len ? &cl->actions.data[cl->actions.len - 1] : NULL;
	struct buf b = { 0 };

	if (last && last->argc > 1 && (is_experiment_name(last->argv[last->argc - 1]) ||
				       is_group_name(last->argv[last->argc - 1])))
		return -1;
	cl->newest = newest_experiment();
	if (!cl->newest)
		return -1;
	vec_push(&cl->experiments, cl->newest);
	buf_put_printable(&b, cl->newest);
	fprintf(stderr, "%s: %s, the newest experiment here\n", sh->program, b.data);
	buf_free(&b);
	return 0;
}

/*
 * What the front does at the end, unless an experiment could not be opened (nunopened) or an option failed. Ctrl-C
 * ends it. Returns the exit status.
 */
static int finish(struct shell *sh, const struct front *f, unsigned nunopened)
{
	int err;

	if (sh->nfailed || sh->interrupted)
		return nunopened ? 1 : 2;
	interrupt_arm();
	err = f->finish(sh, f->ctx);
	if (interrupt_disarm()) {
		diag_note(&sh->diag, "interrupted: nothing was written");
		sh->interrupted = true;
	}
	shell_messages(sh);
	return err == -EINVAL ? 2 : err ? 1 : 0;
}

static int run(struct shell *sh, struct command_line *cl)
{
	unsigned nunopened;
	int status;

	if (cl->version)
		return shell_run(sh, command_find("version", &sh->diag), 1, NULL) != 0;
	if (!cl->experiments.len && (cl->front || !all_bare(cl)) && take_newest(sh, cl)) {
		usage(sh, cl);
		return cl->front ? 2 : 1;
	}
	sh->keep_going = cl->keep_going;
	if (cl->experiments.len && shell_open(sh, cl->experiments.data, cl->experiments.len))
		return 1;
	nunopened = sh->nfailed;
	run_actions(sh, cl);
	status = cl->front ? finish(sh, cl->front, nunopened) : 0;
	if (sh->interrupted)
		return 128 + SIGINT;
	if (cl->front)
		return status;
	return sh->nfailed ? 1 : sh->slower ? STATUS_SLOWER : 0;
}

int shell_main_front(struct shell *sh, const struct front *f, int argc, char **argv)
{
	struct diag d = { .prefix = sh->program };
	struct command_line cl = { .front = f };
	int status;

	objtypes_init(&cl.types);
	status = parse(&cl, argc, argv, &d) ? (f ? 2 : 1) : run(sh, &cl);
	objtypes_free(&cl.types);
	vec_free(&cl.actions);
	vec_free(&cl.experiments);
	free(cl.newest);
	return status;
}

int shell_main(struct shell *sh, int argc, char **argv)
{
	return shell_main_front(sh, NULL, argc, argv);
}
