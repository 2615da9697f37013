/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The stacks that BPF sent, by their ids, and what becomes of them in an
 * experiment. A definition is kept as long as there is room, because the same
 * stack may be wanted by a second experiment (the founder's kernel stacks, the
 * image after an exec). When the store is full it is emptied: BPF sends again
 * only what it has itself forgotten, so records may lose a stack then.
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

/* A well-formed definition; one that is there already is passed over. */
void stacks_keep(struct stacks *st, const struct er_stack *s);
/*
 * A stack that was raw, under an id of its own: shared with all that are equal to it. s->id is
 * changed.
 */
void stacks_keep_equal(struct stacks *st, struct er_stack *s);
/* Why its walk of user frames ended; ER_END_NOT: it is not there, or has none. */
enum er_end stacks_end(const struct stacks *st, uint64_t id);
/* Definitions that came, repeated ones too. */
uint64_t stacks_count(const struct stacks *st);
bool stacks_has(const struct stacks *st, uint64_t id);
/* It is there, and has frames in user mode: of no kernel thread, then. */
bool stacks_has_user(const struct stacks *st, uint64_t id);
/* Its kernel frames, leaf first, valid until the next stacks_keep; NULL: not there. */
const uint64_t *stacks_kernel(const struct stacks *st, uint64_t id, size_t *n);

/* How a stack is shown. Names are functions that stand for no code; NULL: none. */
struct stack_shape {
	bool with_user;   /* its user frames, too */
	const char *leaf; /* below all others */
	const char *root; /* above all others */
};

/*
 * The uid of the stack in the output, written when it is new there; 0 when its
 * definition is not here.
 */
uint32_t stacks_write(struct stacks *st, struct output *p, uint64_t id,
		      const struct stack_shape *shape);

#endif
