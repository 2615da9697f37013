/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Pressure (PSI): the share of time in which some task waited for a CPU, for memory or for I/O.
 * The kernel tells when it exceeds a limit.
 */
#ifndef LOADERS_PRESSURE_H
#define LOADERS_PRESSURE_H

#include <stdint.h>

enum pressure { PRESSURE_CPU, PRESSURE_MEMORY, PRESSURE_IO, PRESSURE_COUNT };

/* "Some task waited for this share of a time of this length." */
struct pressure_limit {
	double percent; /* 0: no limit */
	uint64_t window_ns;
};

/* The kernel allows windows from half a second to ten seconds. */
#define PRESSURE_MIN_NS 500000000ULL
#define PRESSURE_MAX_NS 10000000000ULL

/* What to do where a kernel or a caller cannot watch pressure at all. */
extern const char pressure_remedy[];
/* What to do where pressure_open failed with -err. */
const char *pressure_remedy_of(int err);

/* "cpu", "memory", "io" */
const char *pressure_name(enum pressure what);
/*
 * Ask the kernel to watch it. Returns a descriptor that polls POLLPRI each time the limit is
 * exceeded, at most once a window. Returns -errno without reporting if that cannot be: -ENOENT or
 * -EOPNOTSUPP if the kernel has no PSI. Without CAP_SYS_RESOURCE: -EPERM or -EACCES before Linux
 * 6.5; since then -EINVAL if the window is not a multiple of two seconds.
 */
int pressure_open(enum pressure what, const struct pressure_limit *limit);
/* The mean share of the last ten seconds in percent; below 0: not known. */
double pressure_now(enum pressure what);

#endif
