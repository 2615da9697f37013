/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Threads of language runtimes that are at rest: idle workers (Go, Java, Node), and sleeping threads (Java's
 * Thread.sleep). They wait by a futex, as for a lock, but it is no contention. The functions of their stacks
 * tell, by name, in tables.
 */
#ifndef MODEL_ATREST_H
#define MODEL_ATREST_H

#include <stdint.h>

struct session;

enum at_rest {
	REST_NONE, /* no name tells */
	REST_IDLE,
	REST_ASLEEP,
};

/* Of a thread that waits by a futex with this resolved stack. The session keeps the result. */
enum at_rest session_at_rest(struct session *s, uint32_t stack);

#endif
