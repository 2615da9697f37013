/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Waits that the end of a segment divides (er_kernel --roll). Each segment has a packet for its part, with the
 * length of that part. Only the last part tells what ended the wait. Their stacks may differ, although the thread
 * sleeps: at the end of a segment functions of Python cannot be found.
 */
#ifndef MODEL_DIVIDED_H
#define MODEL_DIVIDED_H

#include <stdint.h>

struct divided;
struct experiment;
struct session;

/* A wait with more than one part in the open segments. */
struct divided_wait {
	int64_t length_ns;  /* of all its parts */
	uint32_t flags;     /* enum er_wflag: how the first part began, and how the last one ended */
	const struct experiment *last_in; /* the experiment with the last part */
	int64_t last_time;  /* TSTAMP of its packets */
	int64_t waker, waker_pid, waker_stack; /* their fields; 0: none */
	int64_t holder, holder_pid; /* of the last part that has one; 0: none */
	struct experiment *stack_in; /* the experiment with the longest of the parts' stacks, */
	int64_t stack, stack_time;   /* its index there, and its time since that experiment's start */
};

/* Flags that a part has from its wait. */
extern const uint32_t divided_flags;

/* NULL: no wait is divided. Valid until session_add or session_join. */
const struct divided *session_divided(struct session *s);
/* The wait with this part. NULL: the packet is not of a divided wait. */
const struct divided_wait *divided_find(const struct divided *d, const unsigned char *packet);
void divided_free(struct divided *d);

#endif
