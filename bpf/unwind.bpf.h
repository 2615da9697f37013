/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The walk of user frames of the current thread. Clock samples, counters, waits and wakers all use
 * it. Tables say where the caller's frame is (bpf/unwind.h). Code without an entry is stepped
 * through by its frame pointer, with the checks of bpf/unwind_step.h. Most of the cost is reading
 * user memory, so 1 KiB of the stack is copied at a time, which usually holds 5 to 8 frames. The
 * verifier checks each non-static function once.
 */
#ifndef UNWIND_BPF_H
#define UNWIND_BPF_H

#include "bpf/arch.bpf.h"
#include "bpf/er.bpf.h"
#include "bpf/goroutine.bpf.h"
#include "bpf/java.bpf.h"
#include "bpf/python.bpf.h"
#include "bpf/space.bpf.h"
#include "bpf/table.bpf.h"
/* The verifier checks these once: a part for all its calls, a loop for every n. */
#define UNWIND_PART __noinline
#define unwind_repeat(n, fn, ctx) bpf_loop(n, fn, ctx, 0)

#include "bpf/unwind_step.h"
#include "bpf/uprobe.bpf.h"

enum {
	HASH_BLOCK = 8, /* frames hashed at a time */
	RAW_BLOCK = 1024, /* bytes of a raw stack that are copied at a time */
	RAW_WORDS = (sizeof(struct er_stack) + sizeof(struct er_raw) + ER_RAW_BYTES + RAW_BLOCK) / 8 +
		    ER_MAX_KERNEL_FRAMES,
};

/* The buffer for a stack: frames, or a raw stack (bpf/raw.bpf.h). */
union stack_scratch {
	struct er_stack s;
	__u64 frames[sizeof(struct er_stack) / 8 + ER_MAX_FRAMES + HASH_BLOCK];
	__u64 raw[RAW_WORDS];
};

_Static_assert(ER_RAW_CODE_BACK >= UNWIND_FAR &&
		       ER_RAW_CODE_BYTES - ER_RAW_CODE_BACK >= UNWIND_AHEAD,
	       "user space can look at the same code");

enum {
	WINDOW_WORDS = 128, /* ns a frame: 80 with 512 bytes, 55 with 1 KiB, 55 with 2 KiB */
	WINDOW_BYTES = WINDOW_WORDS * 8,
	WINDOW_BELOW = 64,  /* registers are saved below the return address */
	WINDOW_REACH = UNWIND_FP_REACH,
};

/*
 * A rule that an earlier walk found. The callers in a stack are mostly the same from sample to
 * sample. Finding a rule touches three cache lines (index, row, rule), which are usually cold.
 */
struct rule_kept {
	__u64 frame;      /* the frame it applies to; 0: none */
	__u32 generation; /* of the file's table */
	__u16 python;     /* its file has a Python interpreter */
	__u16 go;         /* its file is a Go program that numbers goroutines */
	struct er_unwind_rule rule;
};

enum { RULES_KEPT = 256 }; /* a power of two */

/* One walk, and what is kept for the next walk of this CPU and context. */
struct unwind_env {
	struct rule_kept kept[RULES_KEPT];
	__u64 window[WINDOW_WORDS];
	__u64 base, bytes; /* of what the window holds */
	__u64 word;        /* that er_read() or er_table_word() has read */
	__u64 missed;      /* the last address that er_read() could not read; 0: none */
	__u64 leaf[ER_DWARF_COUNT];
	struct unwind_regs r;
	struct er_unwind_rule rule;
	struct pc_lookup pc;
	struct returns returns;
	struct unwind_look look;
	struct unwind_blob blob;
	struct er_hotspot vm;
	__u32 vm_state;    /* enum vm_state */
	bool generated;    /* r.ip is in executable memory without a file */
	bool guessed;      /* ER_STACK_GUESSED */
	bool python;       /* r.ip is in a file with a Python interpreter, */
	bool go;           /* or of a Go program that numbers goroutines */
	bool went;         /* such a program was met: `goroutine` is final */
	__u64 goroutine;   /* number of the thread's goroutine; 0: none */
	__u64 frame;       /* of r.ip */
	__u32 second;      /* of CLOCK_MONOTONIC, for er_unwind_file.used */
	__u32 end;         /* enum er_end */
	__u32 n;           /* frames found */
	bool untabled;     /* continue by frame pointers where a table is missing; */
	__u32 lacks;       /* the first reason for that */
	struct python_walk py;
	struct java_walk java;
	struct code_walk code;
};

static __always_inline bool read_once(__u64 at, __u64 *value)
{
	return !bpf_probe_read_user(value, sizeof(*value), (void *)at);
}

static __always_inline bool window_move(struct unwind_env *env, __u64 base)
{
	__u64 left = 4096 - (base & 4095);

	env->bytes = 0;
	env->base = base;
	if (!bpf_probe_read_user(env->window, WINDOW_BYTES, (void *)base)) {
		env->bytes = WINDOW_BYTES;
		return true;
	}
	/* The page after this one may not be readable. */
	if (left >= WINDOW_BYTES)
		return false;
	left &= WINDOW_BYTES - 8;
	if (bpf_probe_read_user(env->window, left, (void *)base))
		return false;
	env->bytes = left;
	return true;
}

static __always_inline bool window_has(const struct unwind_env *env, __u64 at)
{
	return at >= env->base && at - env->base < env->bytes;
}

static __always_inline int read_apart(struct unwind_env *env, __u64 at)
{
	if (read_once(at, &env->word))
		return 0;
	env->missed = at;
	return 1;
}

/*
 * Read into env->word. Returns 0, or 1 if it is not readable. Memory that is not the stack, such as
 * code, does not move the window.
 */
__noinline int er_read(struct unwind_env *env, __u64 at)
{
	if (!env)
		return 1;
	if (at & 7 || at - env->r.sp >= WINDOW_REACH)
		return read_apart(env, at);
	if (!window_has(env, at)) {
		__u64 base = at - WINDOW_BELOW;

		if (base < env->r.sp)
			base = env->r.sp & ~7ULL;
		if (!window_move(env, base) || !window_has(env, at))
			return read_apart(env, at);
	}
	env->word = env->window[(at - env->base) / 8 & (WINDOW_WORDS - 1)];
	return 0;
}

static inline bool unwind_read(struct unwind_env *env, __u64 at, __u64 *value)
{
	if (er_read(env, at))
		return false;
	*value = env->word;
	return true;
}

static inline bool unwind_word(struct unwind_env *env, __u32 at, __u32 *word)
{
	if (er_table_word(&env->word, at))
		return false;
	*word = env->word;
	return true;
}

static inline bool unwind_rule(struct unwind_env *env, __u32 at, struct er_unwind_rule *rule)
{
	__u32 *p = table_word(at & ~(__u32)(ER_RULE_WORDS - 1));

	if (!p)
		return false;
	*rule = *(struct er_unwind_rule *)p;
	return true;
}

static inline bool unwind_leaf_reg(struct unwind_env *env, __u32 reg, __u64 *value)
{
	if (reg >= ER_DWARF_COUNT)
		return false;
	*value = env->leaf[reg];
	return true;
}

static inline bool unwind_thread_block(struct unwind_env *env, __u64 *value)
{
	*value = arch_thread_block(bpf_get_current_task_btf());
	return *value;
}

static inline __u64 unwind_true_return(struct unwind_env *env, __u64 slot, __u64 ra)
{
	return er_return_true(&env->returns, slot, ra);
}

static inline bool unwind_generated(struct unwind_env *env)
{
	return env->generated;
}

static inline bool unwind_mapping(struct unwind_env *env, __u64 *start, __u64 *end)
{
	*start = env->pc.range.start;
	*end = env->pc.range.end;
	return true;
}

static inline bool unwind_uncopied(struct unwind_env *env, __u64 at)
{
	return false;
}

static inline struct unwind_look *unwind_look(struct unwind_env *env)
{
	return &env->look;
}

static inline struct unwind_blob *unwind_blob(struct unwind_env *env)
{
	return &env->blob;
}

__noinline int er_hotspot_meet(struct unwind_env *env)
{
	struct er_space_key key; /* on 6.1 a key must be on the stack */
	const struct er_hotspot *vm;

	if (!env)
		return 0;
	key = env->pc.key;
	vm = bpf_map_lookup_elem(&er_hotspots, &key);
	if (vm)
		env->vm = *vm;
	env->vm_state = vm && env->vm.tag == er_space_tag(&key) ? VM_KNOWN : VM_NONE;
	return 0;
}

static inline bool unwind_has_hotspot(struct unwind_env *env)
{
	if (env->vm_state == VM_UNASKED)
		er_hotspot_meet(env);
	return env->vm_state == VM_KNOWN;
}

static inline const struct er_hotspot *unwind_hotspot(struct unwind_env *env)
{
	return &env->vm;
}

/* Whether r.ip is in generated code of a process whose Java VM is awaited. */
static __always_inline bool vm_is_awaited(struct unwind_env *env)
{
	__u32 key = env->pc.key.tgid;

	return env->generated && !unwind_has_hotspot(env) && bpf_map_lookup_elem(&er_awaited, &key);
}

/*
 * Find the rule of a place in a file and copy it to env->rule. Returns 0, or the reason why there
 * is none.
 */
__noinline int er_rule_find(struct unwind_env *env, __u32 file, __u64 offset)
{
	struct er_unwind_file *f = bpf_map_lookup_elem(&er_files, &file);

	if (!env)
		return ER_END_NO_TABLE;
	env->rule.cfa = ER_CFA_NO_ENTRY;
	env->python = env->go = false;
	if (!f || f->state <= ER_FILE_PENDING)
		return ER_END_NO_TABLE;
	if (f->used != env->second)
		f->used = env->second;
	if (f->state == ER_FILE_EVICTED)
		return ER_END_EVICTED;
	if (f->state != ER_FILE_READY)
		return ER_END_NOT;
	env->python = python_is_known(f->python);
	env->go = !f->python && f->go.g;
	return unwind_find(env, f, offset, &env->rule);
}

__noinline int er_frame_step(struct unwind_env *env)
{
	return env ? unwind_step_simple(env, &env->r, &env->rule) : ER_END_FAULT;
}

/* Returns enum er_end or UNWIND_BY_POINTER. */
__noinline int er_blob_step(struct unwind_env *env)
{
	return env ? unwind_by_blob(env, &env->r) : ER_END_FAULT;
}

static __always_inline struct rule_kept *rule_slot(struct unwind_env *env, __u64 frame)
{
	return &env->kept[(frame * 0x9e3779b97f4a7c15ULL) >> 56 & (RULES_KEPT - 1)];
}

static __always_inline int rule_at(struct unwind_env *env, __u64 frame)
{
	__u32 file = er_frame_file(frame);
	struct er_unwind_file *f = bpf_map_lookup_elem(&er_files, &file);
	struct rule_kept *k = rule_slot(env, frame);
	int end;

	if (!f)
		return ER_END_NO_TABLE;
	if (k->frame == frame && k->generation == f->generation && f->state == ER_FILE_READY) {
		if (f->used != env->second)
			f->used = env->second;
		env->rule = k->rule;
		env->python = k->python;
		env->go = k->go;
		return ER_END_NOT;
	}
	/* The generation first: while the rule is looked up the table may be replaced. */
	k->frame = 0;
	k->generation = f->generation;
	barrier();
	end = er_rule_find(env, file, er_frame_offset(frame));
	if (end)
		return end;
	k->frame = frame;
	k->rule = env->rule;
	k->python = env->python;
	k->go = env->go;
	return ER_END_NOT;
}

/*
 * Find the place of r.ip (env->frame) and its rule (env->rule). Returns 0, or the reason why there
 * is none.
 */
static __always_inline enum er_end frame_find(struct unwind_env *env)
{
	__u64 pc = unwind_lookup_pc(&env->r);
	int found = er_pc_find(&env->pc, pc);

	env->rule.cfa = ER_CFA_NO_ENTRY;
	env->python = env->go = false;
	env->frame = env->r.ip;
	env->generated = found == PC_FOUND && !env->pc.range.frame;
	if (found == PC_NOWHERE)
		return ER_END_NO_MAPPING;
	if (found != PC_FOUND)
		return found == PC_BUSY ? ER_END_BUSY : ER_END_NO_TABLE;
	if (!env->pc.range.frame)
		return ER_END_NOT;
	env->frame = pc_frame(&env->pc, env->r.ip);
	return rule_at(env, env->frame - (env->r.ip - pc));
}

/*
 * True if a walk in user space can succeed later, with a table or mapping that it does not have
 * yet.
 */
static __always_inline bool end_is_for_now(__u32 end)
{
	return end == ER_END_NO_TABLE || end == ER_END_BUSY || end == ER_END_EVICTED || end == ER_END_NO_VM;
}

/* True if the walk ended where memory could not be read; it may be readable later. */
static __always_inline bool walk_is_unread(const struct unwind_env *env)
{
	return env->missed && env->end != ER_END_PROVEN && env->end != ER_END_FP_ZERO &&
	       env->end != ER_END_DEPTH;
}

const volatile __u32 er_user_frames = ER_UNWIND_USUAL; /* the deepest walk */

struct unwind_walk {
	union stack_scratch *st;
	struct unwind_env *env;
	__u32 at; /* frames before the user's */
};

static __always_inline bool frame_put(struct unwind_walk *w, __u64 frame)
{
	__u32 to = w->at + w->env->n;

	if (w->env->n >= er_user_frames)
		return false;
	barrier_var(to); /* bound it right before its use */
	if (to >= ER_MAX_FRAMES)
		return false;
	w->st->s.pcs[to] = frame;
	w->env->n++;
	return true;
}

/* The first frame in an interpreter: find the thread's Python frames. */
static __always_inline void python_meet(struct unwind_env *env)
{
	__u32 file = er_frame_file(env->frame);
	struct er_unwind_file *f = bpf_map_lookup_elem(&er_files, &file);

	if (!f || env->py.base)
		return;
	env->py.base = env->r.ip - er_frame_offset(env->frame);
	env->py.code_type = f->python_code;
	env->py.release = f->python;
	env->py.places = f->python_places;
	er_python_begin(&env->py, f->python_runtime, f->python_key);
}

static __always_inline long python_next(struct unwind_walk *w)
{
	er_python_frame(&w->env->py, &w->env->code);
	if (!w->env->py.frame || frame_put(w, w->env->py.frame))
		return 0;
	w->env->end = ER_END_DEPTH;
	return 1;
}

/* A frame of Java's interpreter is followed by its method. */
static __always_inline long java_next(struct unwind_walk *w)
{
	__u64 frame = java_frame(&w->env->java, &w->env->code, &w->env->vm);

	if (!frame || frame_put(w, frame))
		return 0;
	w->env->end = ER_END_DEPTH;
	return 1;
}

static __always_inline int step_once(struct unwind_env *env)
{
	int end = env->generated ? er_blob_step(env) : UNWIND_BY_POINTER;

	if (end != UNWIND_BY_POINTER)
		return end;
	end = er_frame_step(env);
	if (end || !env->generated)
		return end;
	env->guessed |= env->vm_state != VM_KNOWN;
	return unwind_blob_stepped(env, &env->r);
}

/* Step to the caller. A C frame that ran Python frames is followed by them, and so on. */
static __always_inline enum er_end step_next(struct unwind_env *env)
{
	__u32 leaf = env->r.flags & UNWIND_LEAF;
	enum er_end end;

	env->py.sp = env->r.sp;
	env->blob.frame = 0;
	end = step_once(env);
	if (!end && env->blob.frame) {
		env->java.bp = env->blob.frame;
		env->java.sp = env->py.sp;
		env->java.bytecode = leaf ? env->leaf[ER_HOTSPOT_BYTECODE_REG] : 0;
	}
	if (!end && env->py.mark - env->py.sp < env->r.sp - env->py.sp)
		env->py.at = env->py.current;
	return end;
}

static long frame_next(__u32 i, struct unwind_walk *w)
{
	struct unwind_env *env = w->env;
	enum er_end end;

	if (env->py.at)
		return python_next(w);
	if (env->java.bp)
		return java_next(w);
	end = frame_find(env);
	if (env->python)
		python_meet(env);
	if (env->go && !env->went) {
		env->went = true;
		env->goroutine = er_goroutine(er_frame_file(env->frame));
	}
	if (env->r.flags & UNWIND_UNCALLED && !env->generated) {
		env->end = ER_END_NO_CFI;
		return 1;
	}
	if (!end && !env->untabled && vm_is_awaited(env))
		end = ER_END_NO_VM;
	if (end_is_for_now(end)) {
		env->end = end;
		if (!env->untabled)
			return 1;
		env->lacks = env->lacks ? env->lacks : end;
		end = ER_END_NOT;
	}
	/* A return address outside all mappings is not a frame. */
	if (!(end == ER_END_NO_MAPPING && env->n) && !frame_put(w, env->frame))
		end = ER_END_DEPTH;
	if (!end)
		end = step_next(env);
	env->end = end;
	return end != ER_END_NOT;
}

/*
 * Walk the user frames of the current thread from the registers in env->r, and store them behind
 * the `at` kernel frames. env->end says why the walk ended. If it ended for now only, another call
 * continues by frame pointers.
 */
__noinline int er_walk_user(union stack_scratch *st, struct unwind_env *env, __u32 at)
{
	struct unwind_walk w = { .st = st, .env = env, .at = at };

	if (!st || !env || at > ER_MAX_KERNEL_FRAMES)
		return 0;
	bpf_loop(ER_MAX_USER_FRAMES + 1, frame_next, &w, 0);
	if (env->lacks)
		env->end = env->lacks;
	return 0;
}

#endif
