/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Implements -F: which processes get a sub-experiment. */
#ifndef USER_RECORD_FOLLOW_H
#define USER_RECORD_FOLLOW_H

#include <regex.h>
#include <stdbool.h>

#include "user/record/plan.h"
#include "user/space/procmap.h"

struct follow {
	enum follow_mode mode;
	regex_t re; /* FOLLOW_MATCHING */
};

/* The plan's expression must compile; the option parser has checked that. */
void follow_init(struct follow *f, const struct plan *plan);
void follow_fini(struct follow *f);
/*
 * True if the image gets a sub-experiment. An expression must match the whole of the process's
 * name, of its program's base name, of its PID, of its lineage, or of "_comm_PID_n".
 */
bool follow_wants(const struct follow *f, const struct image *im);
/* Writes "_comm_PID_n", the sub-experiment's name without number and suffix. */
void follow_stem(const struct image *im, char *ret, size_t size);

#endif
