/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sends what er_kernel itself prints to a file (-O). The load's output goes where it went before. */
#ifndef USER_OPTIONS_OWN_OUTPUT_H
#define USER_OPTIONS_OWN_OUTPUT_H

struct diag;

/*
 * Append standard output and standard error to the file from now on. The file is created if it does
 * not exist. load_fds[0] and [1] become copies of the former descriptors; the load gets them. They
 * stay open until the program ends. Returns 0, or -1 after a report on the former standard error.
 */
int own_output_to(const char *path, int load_fds[2], struct diag *d);
/* Whether own_output_to could open the file; opens and creates nothing. Returns 0, or -1 after the same report. */
int own_output_check(const char *path, struct diag *d);

#endif
