/* SPDX-License-Identifier: GPL-2.0-or-later */
/* System calls that leave errno alone. Each returns the result, or -errno. */
#ifndef USER_PRELOAD_RAW_CALL_H
#define USER_PRELOAD_RAW_CALL_H

#include <sys/syscall.h>

static inline long raw_call(long nr, long a, long b, long c, long d, long e, long f)
{
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;
	long ret;

	__asm__ volatile("syscall"
			 : "=a"(ret)
			 : "a"(nr), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return ret;
}

#endif
