/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Usage records: a sample's account of the resources used by a process or the system. */
#ifndef EXPERIMENT_USAGE_H
#define EXPERIMENT_USAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A record of `overview`: usage of the whole process, cumulative; times in nanoseconds.
 * On disk it is an array of words (Solaris' prusage_t): 504 bytes if words have 8
 * bytes.
 */
struct exp_usage {
	uint64_t time_ns, create_ns, real_ns, user_ns, system_ns, trap_ns, tfault_ns, dfault_ns,
		kfault_ns, lock_ns, sleep_ns, wait_ns, stop_ns;
	uint64_t minflt, majflt, nswap, inblock, oublock, msgsnd, msgrcv, nsignals, vctx, ictx,
		syscalls, ioch;
	uint32_t nthreads;
};

enum { USAGE_SIZE = 504 };

void usage_encode(const struct exp_usage *u, unsigned char rec[USAGE_SIZE]);
/* The size of a record in bytes, for words of 32 or 64 bits. */
size_t usage_record_size(int wordsize);
/*
 * Decode a record of usage_record_size(wordsize) bytes. wordsize is in bits; swap: the
 * record has the other byte order.
 */
void usage_decode(const unsigned char *rec, int wordsize, bool swap, struct exp_usage *ret);

#endif
