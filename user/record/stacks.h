/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Keeps the stacks that BPF sent, by id, and writes them into experiments. A definition is kept
 * after its first use because a second experiment may need it (the founder's kernel stacks, the
 * image after an exec, the next segment).
 *
 * Memory is bounded: there are two generations of STORE_WORDS. When the younger one is full, the
 * older one is dropped, and stacks_resend has BPF send all stacks again that come again. A stack
 * that is used moves to the younger generation. So a stack is forgotten only if no record has
 * referred to it for a whole generation.
 */
#ifndef USER_RECORD_STACKS_H
#define USER_RECORD_STACKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <linux/types.h>

#include "bpf/er_event.h"
#include "user/record/recording.h"

struct stacks;

struct stacks *stacks_new(struct recording *recording);
void stacks_free(struct stacks *st);

/*
 * True if stacks were forgotten since the last call: BPF must send stacks again that it has sent
 * before (capture_resend).
 */
bool stacks_resend(struct stacks *st);
/* A new segment begins: definitions are counted from now on. */
void stacks_restart(struct stacks *st);

/*
 * True if a stack that is kept has a frame in this file (user/space/files.h): then no other file
 * may get the number. stacks_look must have been called since the last change. stacks_age forgets
 * the older generation, so that numbers become free.
 */
void stacks_look(struct stacks *st);
bool stacks_has_file(const struct stacks *st, uint32_t file);
void stacks_age(struct stacks *st);

/* Keep a well-formed definition. An id that is already known is ignored. */
void stacks_keep(struct stacks *st, const struct er_stack *s);
/*
 * Keep a stack that was raw. Its id is unique; its frames are kept once for all equal stacks.
 * Changes s->id.
 */
void stacks_keep_equal(struct stacks *st, struct er_stack *s);
/*
 * Returns why the walk of the user frames in the image ended. ER_END_NOT: the stack is unknown, or there was
 * no walk.
 */
enum er_end stacks_end(const struct stacks *st, uint64_t id, const struct image *im);
/* The number of definitions that came in this segment, repeated ones included. */
uint64_t stacks_count(const struct stacks *st);
bool stacks_has(const struct stacks *st, uint64_t id);
/* True if the stack is known and has user frames. A kernel thread's stack has none. */
bool stacks_has_user(const struct stacks *st, uint64_t id);
/*
 * True if the stack proves that the thread runs generated code, which is in no file: it is the
 * leaf, or the stack is complete.
 */
bool stacks_in_no_file(const struct stacks *st, uint64_t id);
/* Its kernel frames, leaf first, valid until the next stacks_keep; NULL: unknown stack. */
const uint64_t *stacks_kernel(const struct stacks *st, uint64_t id, size_t *n);

/* How a stack is shown. leaf and root name pseudo functions; NULL: none. */
struct stack_shape {
	bool with_user;   /* show its user frames */
	unsigned nkernel; /* show only so many of its kernel frames, and no user frames; 0: all */
	uint64_t time_ns; /* time of the record; selects the mappings for user frames */
	const char *leaf; /* called by all other frames */
	const char *root; /* calls all other frames */
};

/*
 * Returns the uid of the stack in the output, and writes the stack if it is new there. 0 if the
 * stack is unknown.
 */
uint32_t stacks_write(struct stacks *st, struct output *p, uint64_t id,
		      const struct stack_shape *shape);

#endif
