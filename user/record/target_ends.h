/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Watches the processes and threads of -P and -T for their end. A recorder of targets records nothing
 * else, so it ends with the last of them.
 */
#ifndef USER_RECORD_TARGET_ENDS_H
#define USER_RECORD_TARGET_ENDS_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>

#include "analysis/base/buf.h"
#include "analysis/base/vec.h"
#include "loaders/capture.h"

struct target_ends {
	VEC(int) fds;   /* a pidfd for each target, readable when it has ended; -1: none */
	size_t nrunning;
	bool over;      /* this was told */
};

/*
 * Watch the targets. One that has ended already counts as ended. One that cannot be watched, for want of
 * descriptors, counts as running. Before Linux 6.9 a thread counts as running until its process ends.
 */
void target_ends_init(struct target_ends *e, const struct capture_target *targets, size_t n);
void target_ends_fini(struct target_ends *e);
/*
 * Look at what poll(2) returned for the fds, in their order; an entry of a target that has ended becomes
 * -1 and is polled no more. True, once, if all targets have ended.
 */
bool target_ends_look(struct target_ends *e, struct pollfd *fds);
/* "process 123 has ended", "thread 123/124 has ended", or "all 3 targets have ended". */
void target_ends_say(const struct capture_target *targets, size_t n, struct buf *ret);

#endif
