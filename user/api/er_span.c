// SPDX-License-Identifier: GPL-2.0-or-later
/* The marks of spans. The kernel raises a probe's semaphore while a recorder has it attached. */
#include "user/api/er_span.h"

#include "user/api/mark.h"
#include "user/api/usdt.h"

__attribute__((visibility("hidden"))) USDT_SEMAPHORE(er, span_begin);
__attribute__((visibility("hidden"))) USDT_SEMAPHORE(er, span_end);

/* Not inlined: each probe has one place. */
__attribute__((noinline, noclone)) void er_span_begin(const char *name, unsigned long id)
{
	if (__builtin_expect(er_span_begin_semaphore != 0, 0) && name)
		USDT_NOTE(er, span_begin, "8@%%rdi 8@%%rsi", "D"(mark_hash(name)), "S"(id));
}

__attribute__((noinline, noclone)) void er_span_end(const char *name)
{
	if (__builtin_expect(er_span_end_semaphore != 0, 0) && name)
		USDT_NOTE(er, span_end, "8@%%rdi", "D"(mark_hash(name)));
}
