/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds the fold of a packet's thread: the recorder folds short-lived threads (threads.xml). A TID
 * may come again, so a thread is found by its TID and a time.
 */
#ifndef MODEL_FOLDED_H
#define MODEL_FOLDED_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/base/map.h"
#include "analysis/base/vec.h"

struct buf;
struct exp_fold;
struct experiment;

struct folded {
	uint64_t key;     /* founder's id << 32 | tid */
	int64_t begin_ns, end_ns; /* since the origin's start */
	int32_t pid;      /* -1: packets with this TID have the time of several threads of the fold */
	uint32_t fold;    /* number from 1 */
};

/* A zeroed struct is empty. Sorted by key, then by time. */
struct folded_threads {
	VEC(struct folded) all;
	struct map first; /* key, to index of its first thread in `all` */
	VEC(const struct experiment *) founders; /* that have folds */
	VEC(struct exp_fold *) wholes; /* of several segments; owned */
	struct map whole_of;           /* address of a fold, to its whole */
};

/* Add the folded threads of a founder. After all were added, call folded_sort. */
void folded_add(struct folded_threads *f, const struct experiment *e);
void folded_sort(struct folded_threads *f);
void folded_free(struct folded_threads *f);
/*
 * The fold of the thread that had this TID at a time, in nanoseconds since the origin's start.
 * NULL: it was not folded. The experiment owns it.
 */
const struct exp_fold *folded_at(const struct folded_threads *f, const struct experiment *founder,
				 int64_t pid, int64_t tid, int64_t time_ns);
/* The fold whose threads have sums in packets with this TID; NULL: none. The experiment owns it. */
const struct exp_fold *folded_sums(const struct folded_threads *f, const struct experiment *founder,
				   int64_t tid);
/*
 * The fold with the threads of this name in all segments of a recording: their number and what names
 * it, without times. Without other segments it is the fold itself.
 */
const struct exp_fold *folded_whole(const struct folded_threads *f, const struct exp_fold *fold);
/* Append a name: "make, 37 short-lived threads". If another fold has that name, also the cgroup. */
void fold_put_name(const struct exp_fold *fold, struct buf *b);

#endif
