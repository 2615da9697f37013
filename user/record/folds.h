/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Folds short-lived threads: one element `threads` of threads.xml has the sums of many, and a list
 * with ID, begin and length of each. A line for each thread would take ten times as much.
 *
 * A thread is short-lived if it began and ended in this segment and lived for less than five
 * seconds. The first FOLDS_KEEP short-lived threads with the same name and cgroup are not folded, so
 * small recordings have a line for each thread.
 *
 * Each fold has a number, which packets with the time of several of its threads have as their TID
 * (fold_sums.h). No thread has such a number: the kernel's are below 2^22.
 *
 * Memory is bounded. Not thread safe: only the drain calls this.
 */
#ifndef USER_RECORD_FOLDS_H
#define USER_RECORD_FOLDS_H

#include <stdint.h>

#include "user/record/recording.h"

struct er_task;
struct er_total;
struct folds;

#define FOLDS_SHORT_NS 5000000000ULL

enum { FOLDS_KEEP = 16, FOLDS_FIRST = 1000000000 };

struct folds *folds_new(struct recording *recording);
void folds_free(struct folds *f); /* NULL: nothing */
/*
 * Fold the thread; a cgroup that is NULL is unknown. Returns the number of its fold. 0: it is not to be
 * folded, and gets a line of its own.
 */
uint32_t folds_take(struct folds *f, const struct er_total *t, const char *comm, const char *cgroup);
/*
 * The number of the fold of a thread that ended a moment ago. 0: it was not folded, or several hundred
 * others were since.
 */
uint32_t folds_recent(const struct folds *f, const struct er_task *task);
/*
 * Write the elements of threads that ended before before_ns (CLOCK_MONOTONIC), with later ones of the
 * same names. UINT64_MAX: write all. What is not written is lost if the recorder is killed.
 */
void folds_write(struct folds *f, uint64_t before_ns);

#endif
