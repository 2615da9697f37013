/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * er_src: source and disassembly of an object without an experiment (U-011). Options
 * are carried out from left to right; of the defaults files only scc, dcc and cc count.
 */
#ifndef COMMAND_ERSRC_H
#define COMMAND_ERSRC_H

/* All of it. The exit status: 0, 1 something could not be shown, 2 the command line is wrong. */
int ersrc_main(int argc, char **argv);

#endif
