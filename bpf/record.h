/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a record begins with; part of er_event.h. */
#ifndef RECORD_H
#define RECORD_H

#ifndef __bpf__
#include <linux/types.h>
#endif

struct er_header {
	__u32 kind;
	__u32 seq;
	__u64 time_ns; /* CLOCK_MONOTONIC */
};

/* The thread of a record. Every record except a stack has this directly after its header. */
struct er_task {
	__u64 start_time; /* of the process (group leader); with tgid it identifies the process */
	__u32 tgid, tid;  /* PID and TID in the initial PID namespace */
	char comm[16];    /* name of the thread at this time; bytes after the NUL are undefined */
};

#endif
