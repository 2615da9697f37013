/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Waits added to an experiment, and rows of the reports on them. */
#ifndef UNIT_WAITVIEWS_FIXTURE_H
#define UNIT_WAITVIEWS_FIXTURE_H

#include "tests/unit/session_fixture.h"

enum { MS = BUILDER_TICK_NS };

static inline const char *text_of(const struct table *t, size_t row)
{
	return t->rows.data[row].cells[t->columns.len - 1].s;
}

/* The row whose text begins like this; it must exist. */
static inline const struct row *row_of(const struct table *t, const char *text)
{
	for (size_t i = 0; i < t->rows.len; i++) {
		const char *s = text_of(t, i);

		while (*s == ' ')
			s++;
		if (!strncmp(s, text, strlen(text)))
			return &t->rows.data[i];
	}
	fail_msg("no row '%s'", text);
	return NULL;
}

static inline bool noted(const struct table *t, const char *part)
{
	vec_for_each(n, &t->notes) {
		if (strstr(*n, part))
			return true;
	}
	return false;
}

static inline void put_wait(struct opened *o, int64_t thread, const char *stack, enum er_mstate state,
		     unsigned weight, struct wait_info info)
{
	info.syscall = -1;
	exp_builder_wait(o->builder, thread, stack, state, weight, &info);
}

static inline void lock_wait(struct opened *o, const char *stack, uint64_t address, unsigned flags)
{
	put_wait(o, 2, stack, MS_USER_LOCK, 4,
		 (struct wait_info){ .reason = REASON_USER_LOCK, .length_ns = 4 * MS, .flags = flags,
				     .object = address, .holder = 3, .holder_pid = BUILDER_PID,
				     .waker = 3, .waker_pid = BUILDER_PID,
				     .waker_stack = exp_builder_stack(o->builder, "main>unlock") });
}

#endif
