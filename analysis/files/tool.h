/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The tools that handle whole experiments. Each main function takes the command line and
 * returns the exit status: 0; 1 if something failed, which was reported; 2 for a wrong command
 * line.
 */
#ifndef FILES_TOOL_H
#define FILES_TOOL_H

enum transfer { TRANSFER_COPY, TRANSFER_MOVE };

int transfer_main(enum transfer how, int argc, char **argv); /* er_cp, er_mv */
int remove_main(int argc, char **argv);                      /* er_rm */
int archive_main(int argc, char **argv);                     /* er_archive */
int export_main(int argc, char **argv);                      /* er_export */

#endif
