/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How long the recorder waits for files that others choose. All waits together take at most
 * PATIENCE_NS at the beginning and one PATIENCE_SHARE-th of the time afterwards, and one wait at
 * most half of what is left: the first one second, the next half a second. So programs with very
 * many slow files cannot stop the recorder. When patience has run out, files on devices that have
 * always answered are still waited for, briefly. A user of whose processes PATIENCE_USER did not
 * answer gets no more of it. Knows no clock: the caller says what time it is.
 */
#ifndef USER_SPACE_PATIENCE_H
#define USER_SPACE_PATIENCE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "analysis/base/map.h"

#define PATIENCE_NS 2000000000LL
#define PATIENCE_SHORT_NS 20000000LL
enum { PATIENCE_SHARE = 20, PATIENCE_USER = 3 };

/* A zeroed one has not waited yet. */
struct patience {
	int64_t left_ns; /* negative: short waits went beyond it */
	uint64_t at_ns;  /* when left_ns was computed; 0: never */
	struct map refused, trusted; /* sets of keys */
	struct map users;            /* how often each was blamed */
};

void patience_free(struct patience *p);
/* How long to wait now, in ns; 0: not at all, do not ask. */
int64_t patience_limit(struct patience *p, uint64_t now_ns, bool trusted);
/* The recorder has waited for so long. */
void patience_spend(struct patience *p, int64_t ns);

/* A key is whatever identifies a process or a device. It is refused for ever. */
void patience_refuse(struct patience *p, uint64_t key);
bool patience_refuses(const struct patience *p, uint64_t key);
/* Root is never blamed. */
void patience_blame_user(struct patience *p, uid_t user);
bool patience_refuses_user(const struct patience *p, uid_t user);
void patience_trust(struct patience *p, uint64_t key);
bool patience_trusts(const struct patience *p, uint64_t key);

#endif
