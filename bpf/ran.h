/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The threads that had a CPU last (ran.bpf.h); part of er_event.h. */
#ifndef RAN_H
#define RAN_H

#ifndef __bpf__
#include <linux/types.h>
#endif

enum { ER_RANS = 16 }; /* a power of two */

struct er_ran {
	__u64 until; /* the run queue's clock when the thread left the CPU */
	__u32 tgid, tid; /* tid 0: the CPU was idle */
};

#endif
