/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Parses arguments that many commands share: a function with a number that selects one of several
 * with the same name, and an experiment's number.
 */
#ifndef COMMAND_CHOOSE_H
#define COMMAND_CHOOSE_H

#include <stdbool.h>

#include "analysis/model/session.h"

struct shell;

/*
 * `name [n]` in argv[1] and argv[2]; n counts from 1 and is ignored if the name is unique. NULL
 * after reporting, with the candidates.
 */
struct func *choose_function(struct shell *sh, int argc, char **argv);
/*
 * `[experiment_id | all]` in argv[1]. *ret is the experiment, or NULL for all. Returns 0, or -1
 * after reporting that no experiment has that number.
 */
int choose_experiment(struct shell *sh, int argc, char **argv, const struct experiment **ret);
/* The value of a positive decimal number; 0 if s is not one. */
unsigned long choose_number(const char *s);

/* The argument of `source` and `disasm`. */
struct code_choice {
	const struct func *func; /* NULL: the argument names a file */
	/* the file's path; with func set, the file's name as given, or NULL */
	const char *file;
	char *name;              /* freed by the caller */
};

/*
 * Parses `{function | file | function'file'} [n]`. A function is tried before a file of that
 * name; n selects one of several. Returns 0, or -1 after reporting. The caller frees ret->name in
 * either case.
 */
int choose_code(struct shell *sh, int argc, char **argv, struct code_choice *ret);

#endif
