/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Runs everything on an experiment that a fuzzer damaged. */
#ifndef FUZZ_REPORT_H
#define FUZZ_REPORT_H

struct shell;

/*
 * From now on the library's messages are discarded. Sanitizers write to the descriptor itself,
 * so their reports still appear.
 */
void report_quietly(void);
/* Open the experiment, read all its records, run every command. */
void report_experiment(const char *path);
/*
 * A shell that has the experiment open and whose output is discarded; NULL if it does not open.
 * Release it with report_close.
 */
struct shell *report_open(const char *path);
void report_close(struct shell *sh);

#endif
