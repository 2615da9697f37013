/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The arguments that many commands share: a function with the number that tells
 * those of one name apart, and an experiment's number.
 */
#ifndef COMMAND_CHOOSE_H
#define COMMAND_CHOOSE_H

#include <stdbool.h>

#include "analysis/model/session.h"

struct shell;

/*
 * `name [n]` in argv[1] and argv[2] (P-019): n counts from 1 and is passed over
 * where the name says it all. NULL after reporting, with the candidates.
 */
struct func *choose_function(struct shell *sh, int argc, char **argv);
/*
 * `[experiment_id | all]` in argv[1]: *ret is the experiment, NULL for all. 0, or
 * -1 after reporting that no experiment has that number.
 */
int choose_experiment(struct shell *sh, int argc, char **argv, const struct experiment **ret);
/* A positive decimal number, or 0 when s is none. */
unsigned long choose_number(const char *s);

/* What `source` and `disasm` are about. */
struct code_choice {
	const struct func *func; /* NULL: a file */
	const char *file;        /* its path; with func: the file's name as it was given, or NULL */
	char *name;              /* freed by the caller */
};

/*
 * `{function | file | function'file'} [n]`: a function before a file of that name;
 * n among several. 0, or -1 after reporting; ret->name is to be freed in any case.
 */
int choose_code(struct shell *sh, int argc, char **argv, struct code_choice *ret);

#endif
