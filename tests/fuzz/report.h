/* SPDX-License-Identifier: GPL-2.0-or-later */
/* All that a fuzzer has done with an experiment that somebody damaged. */
#ifndef FUZZ_REPORT_H
#define FUZZ_REPORT_H

struct shell;

/* What the library says from now on goes nowhere; sanitizers write past it. */
void report_quietly(void);
/* Open the experiment, walk all its records, run every command. */
void report_experiment(const char *path);
/* A shell with the experiment open, whose output goes nowhere; NULL when it does not open. */
struct shell *report_open(const char *path);
void report_close(struct shell *sh);

#endif
