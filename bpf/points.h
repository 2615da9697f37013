/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the weight of a part of a wait says of its choice (points.bpf.h). For BPF and user space. */
#ifndef POINTS_H
#define POINTS_H

#ifndef __bpf__
#include <stdbool.h>

#include <linux/types.h>
#endif

/* The part was recorded because of its length, and represents itself alone. Points hardly ever add up to it. */
static inline bool points_is_alone(__u64 weight, __u64 len)
{
	return weight && weight == len;
}

/* The part was chosen by sample points, and represents others, too. */
static inline bool points_is_sample(__u64 weight, __u64 len)
{
	return weight && weight != len;
}

#endif
