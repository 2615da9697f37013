/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The program er_export. With --to it writes the format of another program, and er_print's options
 * select the data. Without --to it prints the raw data.
 */
#ifndef COMMAND_EXPORTING_H
#define COMMAND_EXPORTING_H

#include <stdbool.h>

struct exporter;
struct shell;

/*
 * Write what the shell shows in this format, which takes neither metric nor root, into a file;
 * "-" is standard output. Returns 0, or -1 after a report.
 */
int exporting_write(struct shell *sh, const struct exporter *e, const char *path);

/* Whether the command line has --to with the name of a format, or another option for it. */
bool exporting_asked(int argc, char **argv);
/* Returns the exit status, or -SIGINT if the user interrupted. */
int exporting_main(int argc, char **argv);

#endif
