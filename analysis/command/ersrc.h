/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * er_src: source and disassembly of an object without an experiment. Options are executed from
 * left to right. Of the defaults files only scc, dcc and cc take effect.
 */
#ifndef COMMAND_ERSRC_H
#define COMMAND_ERSRC_H

/*
 * The whole tool. Returns the exit status: 0; 1 if something could not be shown; 2 if the command
 * line is wrong.
 */
int ersrc_main(int argc, char **argv);

#endif
