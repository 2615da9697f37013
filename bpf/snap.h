/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The record that bpf/snapshot.bpf.h writes for user space. */
#ifndef SNAP_H
#define SNAP_H

#include "bpf/er_event.h"

/*
 * What a thread has done up to time_ns: not a ring record, an iterator writes it. The times mean the
 * same as in er_total. `state` is what the thread goes on with: an er_off_state, or ER_SNAP_ON.
 */
enum { ER_SNAP_ON = ER_OFF_STATES };

struct er_snap {
	__u64 start_time; /* of the process (group leader) */
	__u32 tgid, tid;
	__u64 begin_ns, time_ns; /* CLOCK_MONOTONIC; begin_ns as in er_total */
	__u64 run_ns, user_ns, system_ns;
	__u64 off_ns[ER_OFF_STATES];
	__u64 stolen_ns;
	__u32 state;
	__u32 flags;      /* ER_TOTAL_KTHREAD */
};

_Static_assert(sizeof(struct er_snap) == 128, "contract");

#endif
