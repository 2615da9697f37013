/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The pauses of a recording. A zeroed struct pauses has none. */
#ifndef USER_RECORD_PAUSES_H
#define USER_RECORD_PAUSES_H

#include <stdbool.h>
#include <stdint.h>

struct pauses {
	unsigned n;        /* that began */
	uint64_t ns;       /* length of the pauses that are over */
	uint64_t before_ns; /* length of the pauses before the capture began; not in n and ns */
	uint64_t since_ns; /* beginning of the present pause; 0: there is none */
};

static inline bool is_paused(const struct pauses *p)
{
	return p->since_ns;
}

static inline void pauses_begin(struct pauses *p, uint64_t time_ns)
{
	p->n++;
	p->since_ns = time_ns;
}

static inline void pauses_end(struct pauses *p, uint64_t time_ns)
{
	p->ns += time_ns - p->since_ns;
	p->since_ns = 0;
}

/* The capture begins: pauses until now were before it. */
static inline void pauses_reset(struct pauses *p)
{
	*p = (struct pauses){ .before_ns = p->ns };
}

/* All pauses of the capture up to this time, in ns. */
static inline uint64_t pauses_until(const struct pauses *p, uint64_t time_ns)
{
	return p->ns + (p->since_ns && time_ns > p->since_ns ? time_ns - p->since_ns : 0);
}

#endif
