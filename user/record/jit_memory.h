/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Asks for names of generated code that a Java VM keeps in its memory (user/jit/hotspot.h). The
 * parser runs in the worker. When it wants to see more of the memory, the opener copies that, and
 * the question is asked again. This side does not look at what is copied.
 *
 * A question has the addresses that are not known yet, and some functions that are known: the VM
 * may have put others in their place. Of new functions it also asks from which methods their code
 * comes, by inlining, and at which lines. A method is described once.
 */
#ifndef USER_RECORD_JIT_MEMORY_H
#define USER_RECORD_JIT_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <linux/types.h>

#include "analysis/base/vec.h"
#include "bpf/hotspot.h"
#include "user/jit/hotspot.h"

struct image;
struct jit_table;
struct unwind_names;

struct jit_unknown {
	uint64_t pc;
	unsigned tries;
	bool scopes; /* they are asked for */
};

struct jit_memory {
	struct hotspot_layout layout;
	struct er_hotspot vm; /* valid if has_vm: the VM's frames can be walked */
	bool has_vm;
	VEC(struct jit_unknown) unknown; /* those of the question come first */
	size_t nasked;
	bool mentioned;       /* since the last question */
	bool wants_vm;        /* a question is due even if there is no address to ask about */
	bool failed;          /* the last question */
	int fd;               /* of the question; -1: none is open */
	off_t size;           /* of its file */
	unsigned rounds;
	uint64_t verified;    /* the address from which on functions are to be verified */
	uint64_t due_ns, verify_ns; /* when it may be asked again, and also about known functions */
	uint64_t cost_ns, waited_ns; /* of the question so far: CPU time, and waiting for the opener */
	uint64_t spent_ns;    /* the cost of all questions */
	uint64_t *known;      /* HOTSPOT_KNOWN slots: methods that are described; NULL: none */
	size_t nknown;
	bool no_scopes;       /* scopes are not asked for any more */
	int err;              /* why nothing is asked any more; 0: it is */
};

/* What an answer is. */
enum jit_answer { JIT_ASK_AGAIN, JIT_ANSWERED, JIT_FAILED };

void jit_memory_init(struct jit_memory *m);
void jit_memory_free(struct jit_memory *m);
/* A stack has this address. `fresh`: for the first time. */
void jit_memory_mention(struct jit_memory *m, uint64_t pc, bool fresh);
/*
 * Open a question if there is something to ask now; `last`: even if it is early. Without `names`
 * only the VM is asked for, because names come from elsewhere. True: submit the
 * descriptor m->fd, until jit_memory_take says that it is answered.
 */
bool jit_memory_ask(struct jit_memory *m, const struct image *im, struct jit_table *t, uint64_t now_ns,
		    bool last, bool names);
/*
 * Take the worker's answer, and copy the memory that it wants. After JIT_ANSWERED, add the functions
 * and call jit_memory_done. JIT_FAILED: nothing is asked for a second or, if m->err says why, any more;
 * -ENOTSUP: this VM is not understood.
 */
enum jit_answer jit_memory_take(struct jit_memory *m, const struct image *im,
				const struct unwind_names *names);
/* A method was described. */
void jit_memory_know(struct jit_memory *m, uint64_t id);
/* No method is described any more: a new segment begins. */
void jit_memory_forget(struct jit_memory *m);
/*
 * Addresses that the table still does not have, and functions whose scopes are not known, are asked for again,
 * a few times.
 */
void jit_memory_done(struct jit_memory *m, struct jit_table *t, uint64_t now_ns);

#endif
