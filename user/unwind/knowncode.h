/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Frames of code that usually has no call frame information, but is known by its bytes: the start
 * of a program, .init and .fini, the return from a signal handler, the start of a thread in
 * musl, and what GCC adds to each file (crtcode.h). The bytes are untrusted, and only an exact match counts.
 */
#ifndef USER_UNWIND_KNOWNCODE_H
#define USER_UNWIND_KNOWNCODE_H

#include <linux/types.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/unwind.h"
#include "user/unwind/elftext.h"

/* `rule` holds from file offset `begin` up to `end`. */
typedef void knowncode_fn(void *ctx, uint64_t begin, uint64_t end,
			  const struct er_unwind_rule *rule);

/* The special places of a file, found once. Fields are private. */
struct knowncode {
	const struct elftext *elf;
	uint64_t entry; /* file offsets; 0: none */
	struct {
		uint64_t at, size;
	} sections[2];
};

void knowncode_init(struct knowncode *k, const struct elftext *e);
/* Report known rules for code without entries at file offsets [begin, end). */
void knowncode_in(const struct knowncode *k, uint64_t begin, uint64_t end, knowncode_fn *found,
		  void *ctx);

/*
 * Whether an entry of .debug_frame is that of Go's runtime.goexit. A goroutine's first function
 * returns to it, so it is the end of the stack, but the entry does not say so.
 */
bool knowncode_is_goexit(const struct elftext *e, uint64_t begin, uint64_t end);
enum { KNOWNCODE_GOEXIT = 7 }; /* its bytes */
/* Whether these bytes of a function contain the return from a signal handler. */
bool knowncode_is_restorer(const unsigned char *p, size_t n);
extern const struct er_unwind_rule knowncode_outermost;

#endif
