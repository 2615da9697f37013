/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the step of a stack walk needs of its walker. A file that includes unwind_step.h defines
 * struct unwind_env and the functions declared here, and may define unwind_repeat.
 */
#ifndef ER_UNWIND_ENV_H
#define ER_UNWIND_ENV_H

#include "bpf/unwind.h"
#include "bpf/unwind_code.h"

/* Call fn(i, ctx) for i from 0 to n - 1, until it does not return 0. */
#ifndef unwind_repeat
#define unwind_repeat(n, fn, ctx)                                       \
	do {                                                            \
		for (__u32 i_ = 0; i_ < (n) && !(fn)(i_, ctx); i_++)    \
			;                                               \
	} while (0)
#endif

struct unwind_env;

/* A search for the function that contains ip, in memory of sljit (unwind_sljit.h). */
struct unwind_sljit {
	__u64 at, end; /* the part of the mapping that is still to be searched */
	__u64 ip;
	__u64 entry;   /* where the function begins; 0: not found */
	__u64 locals;  /* bytes of its frame below the saved registers */
	__u64 made;    /* bytes of its code until the frame is made */
	__u64 ra, bp;  /* where the return address and the caller's rbp are, from sp on */
};

/* Code of a Java VM (unwind_hotspot.h), and what a look at its bytes has seen. */
struct unwind_blob {
	__u64 begin, end; /* of the code; equal: there is none */
	__u64 kind;       /* enum unwind_blob_kind */
	__u64 size;       /* bytes of its frame, with the return address; 0: it has none of its own */
	__u64 complete;   /* bytes of the prologue; 0: unknown */
	__u64 sender;     /* the caller's rsp, if the interpreter's frame has one */
	__u64 frame;      /* rbp of the interpreter's frame that the step left; 0: it left none */
	__u64 map, segment, found; /* the search in a segment map */
	__u64 ip, window, made, unread; /* the search for the end of a prologue */
	__u64 compares, searches;   /* 1: such code begins before ip */
};

/* Words of code from `at` on, and what the scans have seen in them. */
struct unwind_look {
	__u64 at;
	__u64 skip;   /* bytes that do not count */
	__u64 unread; /* 1: a word could not be read */
	struct unwind_scan scan;
	struct unwind_far far;
	struct unwind_sljit sljit;
};

/* Read 8 bytes of the walked thread's memory; false: not readable. */
static inline bool unwind_read(struct unwind_env *env, __u64 at, __u64 *value);

/* Word `at` of the table space; false: there is none. */
static inline bool unwind_word(struct unwind_env *env, __u32 at, __u32 *word);

/* The rule at word `at`, a multiple of ER_RULE_WORDS; false: there is none. */
static inline bool unwind_rule(struct unwind_env *env, __u32 at, struct er_unwind_rule *rule);

/* A register of the leaf by its DWARF number, other than rbp and rsp; false: not known. */
static inline bool unwind_leaf_reg(struct unwind_env *env, __u32 reg, __u64 *value);

/* The address of the walked thread's own block (TLS); false: not known. */
static inline bool unwind_thread_block(struct unwind_env *env, __u64 *value);

/* The true return address at `slot`, which holds `ra` now. A probe may have replaced it. */
static inline __u64 unwind_true_return(struct unwind_env *env, __u64 slot, __u64 ra);

/* Whether r.ip of this step lies in generated code, that is, executable memory without a file. */
static inline bool unwind_generated(struct unwind_env *env);

/*
 * Whether `at` lies in generated code that unwind_read() cannot read, because it was not copied.
 * Never true where a walk reads the thread's own memory.
 */
static inline bool unwind_uncopied(struct unwind_env *env, __u64 at);

/* The mapping that r.ip of this step lies in. Called for generated code only. False: not known. */
static inline bool unwind_mapping(struct unwind_env *env, __u64 *start, __u64 *end);

/*
 * The memory for scans of code. It is not on the stack: a BPF program's stack has no room for it.
 */
static inline struct unwind_look *unwind_look(struct unwind_env *env);

struct er_hotspot;

/* UNWIND_NO_HOTSPOT: the walker never sees code of a Java VM. */
#ifdef UNWIND_NO_HOTSPOT
static inline bool unwind_has_hotspot(struct unwind_env *env)
{
	return false;
}

static inline const struct er_hotspot *unwind_hotspot(struct unwind_env *env)
{
	return NULL;
}

static inline struct unwind_blob *unwind_blob(struct unwind_env *env)
{
	return NULL;
}
#else
/* Whether the process runs a Java VM whose memory can be read. */
static inline bool unwind_has_hotspot(struct unwind_env *env);

/* That Java VM. */
static inline const struct er_hotspot *unwind_hotspot(struct unwind_env *env);

/* The VM's code that was found last. Empty when a walk begins. */
static inline struct unwind_blob *unwind_blob(struct unwind_env *env);
#endif

enum unwind_frame_flags {
	UNWIND_EXACT = 1 << 0,    /* ip is the next instruction: at the leaf, or after a signal */
	UNWIND_LEAF = 1 << 1,     /* all registers are known, by unwind_leaf_reg */
	UNWIND_USED_FP = 1 << 2,  /* some frame so far was found by a frame pointer */
	UNWIND_FP_CHAIN = 1 << 3, /* rbp comes from a frame that was found by a frame pointer */
	UNWIND_BX = 1 << 4,       /* bx is known */
	UNWIND_UNCALLED = 1 << 5, /* no call precedes ip, so it must be generated code */
};

struct unwind_regs {
	__u64 ip, sp, bp, bx;
	__u64 saved; /* address of the registers that a signal frame stored; 0: none */
	__u32 flags; /* enum unwind_frame_flags */
};

/* The pc to look a frame up by: inside the call instruction, unless ip is exact. */
static inline __u64 unwind_lookup_pc(const struct unwind_regs *r)
{
	return r->flags & UNWIND_EXACT ? r->ip : r->ip - 1;
}

#endif
