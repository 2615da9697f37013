/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "user/preload/heap_walk.h"

#include <dlfcn.h>
#include <errno.h>
#include <linux/types.h>
#include <string.h>

#include "analysis/symbols/ehframe.h"
#define UNWIND_NO_HOTSPOT
#include "bpf/unwind_step.h"
#include "user/preload/raw_call.h"
#include "user/unwind/cfi.h"

enum {
	RULES = 1 << 14,      /* a power of two */
	FILES = 256,
	PAGE = 4096,
	STACK_REACH = 8 << 20, /* the stack is looked for so far above what is known of it, */
	STACK_GROWS = 64 << 10, /* and taken for the same one if it has grown by so much */
	SIGSET_BYTES = 8,
};

/*
 * A rule that was found. Threads read and write entries at the same time without a lock; `check`
 * tells an entry that another thread has half written.
 */
struct known_rule {
	uint64_t pc, rule[2], check;
};

static struct known_rule rules[RULES];
static uint64_t generation; /* of the rules */
static uint64_t nfiles, files[FILES]; /* by a hash: where files begin in which code was found */
static uint64_t hidden_start, hidden_end;
static int (*find_object)(void *, struct dl_find_object *);

struct unwind_env {
	struct unwind_look look;
	struct heap_extent *x;
	uint64_t sp;
	const uint64_t *leaf; /* registers of the leaf; NULL: not known */
	bool generated;
};

/* --- memory --- */

/* The kernel reads the set before it refuses the operation. */
static bool is_readable(uint64_t at)
{
	return raw_call(SYS_rt_sigprocmask, -1, at & ~7ULL, 0, SIGSET_BYTES, 0, 0) != -EFAULT;
}

static bool extend(struct heap_extent *x, uint64_t to)
{
	if (to - x->high > STACK_REACH)
		return false;
	while (x->high < to) {
		if (!is_readable(x->high))
			return false;
		x->high += PAGE;
	}
	return true;
}

static inline bool unwind_read(struct unwind_env *env, __u64 at, __u64 *value)
{
	if (at >= env->sp && at + sizeof(*value) > at) {
		if (at + sizeof(*value) > env->x->high && !extend(env->x, at + sizeof(*value)))
			return false;
	} else if (!is_readable(at) || !is_readable(at + sizeof(*value) - 1)) {
		return false;
	}
	memcpy(value, (const void *)at, sizeof(*value));
	return true;
}

/* --- what the step needs --- */

static inline bool unwind_word(struct unwind_env *env, __u32 at, __u32 *word)
{
	return false;
}

static inline bool unwind_rule(struct unwind_env *env, __u32 at, struct er_unwind_rule *rule)
{
	return false;
}

static inline bool unwind_leaf_reg(struct unwind_env *env, __u32 reg, __u64 *value)
{
	if (!env->leaf || reg >= HEAP_REGS)
		return false;
	*value = env->leaf[reg];
	return true;
}

static inline bool unwind_thread_block(struct unwind_env *env, __u64 *value)
{
	return false;
}

static inline __u64 unwind_true_return(struct unwind_env *env, __u64 slot, __u64 ra)
{
	return ra;
}

static inline bool unwind_generated(struct unwind_env *env)
{
	return env->generated;
}

static inline bool unwind_mapping(struct unwind_env *env, __u64 *start, __u64 *end)
{
	return false;
}

static inline bool unwind_uncopied(struct unwind_env *env, __u64 at)
{
	return false;
}

static inline struct unwind_look *unwind_look(struct unwind_env *env)
{
	return &env->look;
}

/* --- rules --- */

struct wanted {
	uint64_t pc;
	struct er_unwind_rule rule;
};

static void take_row(void *ctx, uint64_t pc, const struct er_unwind_rule *rule)
{
	struct wanted *w = ctx;

	if (pc <= w->pc)
		w->rule = *rule;
}

/* The last row of the table whose code begins at or before pc. */
static bool find_row(const struct ehframe_section *s, const struct ehframe_hdr *h, uint64_t pc,
		     uint64_t *fde)
{
	size_t lo = 0, hi = h->nfdes;
	uint64_t begin;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		ehframe_hdr_row(s, h, mid, &begin, fde);
		if (begin <= pc)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo)
		ehframe_hdr_row(s, h, lo - 1, &begin, fde);
	return lo;
}

/* Read the rule of pc from its file. The program loaded the file, so this library trusts it. */
static void read_rule(uint64_t pc, const struct dl_find_object *o, struct er_unwind_rule *ret)
{
	uint64_t end = (uintptr_t)o->dlfo_map_end, at = (uintptr_t)o->dlfo_eh_frame, fde_at;
	struct ehframe_section s = { .data = o->dlfo_eh_frame, .size = end - at, .addr = at,
				     .data_base = at, .addr_size = 8 };
	struct wanted w = { .pc = pc };
	struct cfi cfi = { .follow_bx = true };
	struct ehframe_hdr hdr;
	struct ehframe_fde fde;
	struct ehframe e;

	if (!at || !ehframe_hdr_read(&s, &hdr) || !find_row(&s, &hdr, pc, &fde_at) ||
	    hdr.eh_frame < (uintptr_t)o->dlfo_map_start || hdr.eh_frame >= end || fde_at < hdr.eh_frame)
		return;
	s.data = (const unsigned char *)(uintptr_t)hdr.eh_frame;
	s.size = end - hdr.eh_frame;
	s.addr = hdr.eh_frame;
	ehframe_begin(&e, &s);
	if (!ehframe_at(&e, fde_at - hdr.eh_frame, &fde) || pc < fde.pc_begin || pc >= fde.pc_end)
		return;
	cfi_run(&cfi, &s, &fde, take_row, &w);
	*ret = w.rule;
}

static uint64_t check_of(uint64_t pc, const uint64_t rule[2], uint64_t g)
{
	return (pc ^ g << 48) * 0x9e3779b97f4a7c15 + rule[0] * 0xc2b2ae3d27d4eb4f +
	       (rule[1] ^ rule[1] >> 29) * 0x165667b19e3779f9 + 1;
}

#define load(p) __atomic_load_n(&(p), __ATOMIC_RELAXED)
#define store(p, v) __atomic_store_n(&(p), v, __ATOMIC_RELAXED)

/* In the place of a rule of code that is in no file; no rule looks like it. */
#define GENERATED UINT64_MAX

static void meet_file(const struct dl_find_object *o, uint64_t g)
{
	uint64_t start = (uintptr_t)o->dlfo_map_start ^ g, *at = &files[start * 0x9e3779b97f4a7c15 >> 56];

	if (load(*at) == start)
		return;
	store(*at, start);
	__atomic_fetch_add(&nfiles, 1, __ATOMIC_RELAXED);
}

/* Find the rule of pc; ER_CFA_NO_ENTRY if there is none. Returns whether pc is in no file. */
static bool find_rule(uint64_t pc, struct er_unwind_rule *ret)
{
	struct known_rule *k = &rules[pc * 0x9e3779b97f4a7c15 >> 50 & (RULES - 1)];
	uint64_t at = load(k->pc), rule[2] = { load(k->rule[0]), load(k->rule[1]) };
	uint64_t g = load(generation);
	struct dl_find_object o = { 0 };

	_Static_assert(sizeof(*ret) == sizeof(rule), "a rule has two words");
	*ret = (struct er_unwind_rule){ .cfa = ER_CFA_NO_ENTRY };
	if (at != pc || load(k->check) != check_of(pc, rule, g)) {
		memset(rule, 0, sizeof(rule));
		if (!find_object || find_object((void *)pc, &o)) {
			rule[1] = GENERATED;
		} else {
			meet_file(&o, g);
			read_rule(pc, &o, ret);
		}
		if (rule[1] != GENERATED)
			memcpy(rule, ret, sizeof(rule));
		store(k->pc, pc);
		store(k->rule[0], rule[0]);
		store(k->rule[1], rule[1]);
		store(k->check, check_of(pc, rule, g));
	}
	if (rule[1] == GENERATED)
		return true;
	memcpy(ret, rule, sizeof(*ret));
	return false;
}

void heap_walk_init(void)
{
	find_object = (int (*)(void *, struct dl_find_object *))dlsym(RTLD_DEFAULT, "_dl_find_object");
}

void heap_walk_hide(void)
{
	struct dl_find_object o;

	if (!find_object || find_object((void *)heap_walk_hide, &o))
		return;
	hidden_start = (uintptr_t)o.dlfo_map_start;
	hidden_end = (uintptr_t)o.dlfo_map_end;
}

uint64_t heap_walk_files(void)
{
	return load(nfiles);
}

void heap_walk_forget(void)
{
	__atomic_fetch_add(&generation, 1, __ATOMIC_RELAXED);
}

/* --- the walk --- */

/* The page of sp is readable. Another stack than the last one begins there. */
static void find_extent(struct heap_extent *x, uint64_t page)
{
	if (page < x->low && x->low - page <= STACK_GROWS)
		x->low = page;
	if (page < x->low || page >= x->high)
		*x = (struct heap_extent){ page, page + PAGE };
}

static bool is_hidden(uint64_t pc)
{
	return pc >= hidden_start && pc < hidden_end;
}

static size_t walk(struct unwind_env *env, struct unwind_regs r, uint64_t *pcs, size_t max, unsigned *end)
{
	struct er_unwind_rule rule;
	enum er_end why = ER_END_NOT;
	size_t n = 0;

	find_extent(env->x, r.sp & ~(PAGE - 1ULL));
	env->sp = r.sp;
	while (!why) {
		env->generated = find_rule(unwind_lookup_pc(&r), &rule);
		if (r.flags & UNWIND_UNCALLED && !env->generated)
			why = ER_END_NO_CFI;
		else if (n == max)
			why = ER_END_DEPTH;
		if (why)
			break;
		if (!is_hidden(r.ip))
			pcs[n++] = r.ip;
		why = unwind_step(env, &r, &rule);
	}
	*end = why;
	return n;
}

size_t heap_walk(struct heap_extent *x, const void *frame, uint64_t *pcs, size_t max, unsigned *end)
{
	const uint64_t *fp = frame;
	struct unwind_regs r = { .ip = fp[1], .sp = (uintptr_t)(fp + 2), .bp = fp[0] };
	struct unwind_env env;

	env.x = x;
	env.leaf = NULL;
	return walk(&env, r, pcs, max, end);
}

size_t heap_walk_from(struct heap_extent *x, const uint64_t regs[HEAP_REGS], uint64_t *pcs, size_t max,
		      unsigned *end)
{
	struct unwind_regs r = { .ip = regs[ER_DWARF_RIP], .sp = regs[ER_DWARF_RSP],
				 .bp = regs[ER_DWARF_RBP], .flags = UNWIND_EXACT | UNWIND_LEAF };
	struct unwind_env env;

	env.x = x;
	env.leaf = regs;
	return walk(&env, r, pcs, max, end);
}
