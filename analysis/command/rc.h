/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Defaults from files: .er.rc in the current directory, .er.rc in the home directory, and the
 * system's er.rc. They are read in this order. For most commands only the first correct line
 * takes effect, so the nearest file wins; enum rc_use lists the exceptions. A wrong line is
 * ignored, with a warning that names its file and line number.
 */
#ifndef COMMAND_RC_H
#define COMMAND_RC_H

#include "analysis/command/command.h"

struct rc;
struct shell;

/* Read the files and print warnings. Never NULL. */
struct rc *rc_read(struct shell *sh);
void rc_free(struct rc *rc);
/* Execute the lines that belong to this time. */
void rc_run(struct shell *sh, enum rc_time time);
/* Execute scc, dcc and cc only. */
void rc_run_remarks(struct shell *sh);
/* Execute the lines about load objects again. */
void rc_run_objects(struct shell *sh);

#endif
