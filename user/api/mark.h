/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a mark tells the kernel: the USDT probes er:span_begin and er:span_end have the hash of the
 * span's name as their first argument, in %rdi, and span_begin has its id as the second. BPF compares
 * the hash with that of --span's NAME, so it reads no text of the program.
 */
#ifndef USER_API_MARK_H
#define USER_API_MARK_H

#include <stdint.h>

#define MARK_PROVIDER "er"
#define MARK_BEGIN "span_begin"
#define MARK_END "span_end"

enum { MARK_NAME = 255 }; /* bytes of a name that count */

/* FNV-1a, 64 bits; never 0. */
static inline uint64_t mark_hash(const char *name)
{
	uint64_t h = 0xcbf29ce484222325;

	for (int i = 0; i < MARK_NAME && name[i]; i++)
		h = (h ^ (unsigned char)name[i]) * 0x100000001b3;
	return h ? h : 1;
}

#endif
