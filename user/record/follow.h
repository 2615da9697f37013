/* SPDX-License-Identifier: GPL-2.0-or-later */
/* -F: which processes get an experiment of their own. */
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

/* The plan's expression is known to compile: the option parser tried it. */
void follow_init(struct follow *f, const struct plan *plan);
void follow_fini(struct follow *f);
/*
 * With an expression: it must match, as a whole, the process's name, the base
 * name of its program, its PID, or the name of its sub-experiment.
 */
bool follow_wants(const struct follow *f, const struct image *im);
/* "_comm_PID_n": the sub-experiment's name without number and suffix. */
void follow_stem(const struct image *im, char *ret, size_t size);

#endif
