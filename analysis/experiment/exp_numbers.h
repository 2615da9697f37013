/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The numbers of threads and LWPs, for user experiments. */
#ifndef EXPERIMENT_EXP_NUMBERS_H
#define EXPERIMENT_EXP_NUMBERS_H

#include <stdint.h>

struct experiment;

/*
 * The number of the thread or LWP that has this id in packets. Numbers count from 1 in
 * the order of packets, clock packets first, as in gprofng. 0: no packet has the id.
 * The first call reads all packets.
 */
int64_t experiment_thread_number(struct experiment *e, int64_t thrid);
int64_t experiment_lwp_number(struct experiment *e, int64_t lwpid);

#endif
