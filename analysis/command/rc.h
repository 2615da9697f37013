/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Defaults from files: .er.rc in the current directory, .er.rc in the home
 * directory, and the system's er.rc. They are read in this order, the nearest
 * first. Of most commands the first correct line counts, so that the nearest file
 * does; enum rc_use lists the others. A wrong line is reported as a warning with
 * its file and line number, and ignored.
 */
#ifndef COMMAND_RC_H
#define COMMAND_RC_H

#include "analysis/command/command.h"

struct rc;
struct shell;

/* Read the files; warnings are printed. Never NULL. */
struct rc *rc_read(struct shell *sh);
void rc_free(struct rc *rc);
/* Carry out the lines that belong to this time. */
void rc_run(struct shell *sh, enum rc_time time);
/* Carry out scc, dcc and cc, and nothing else. */
void rc_run_remarks(struct shell *sh);
/* Carry out again what they say of load objects (P-086). */
void rc_run_objects(struct shell *sh);

#endif
