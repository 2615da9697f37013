/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The step from code that Go's runtime runs on a thread's own stack to the goroutine that it runs it
 * for. The goroutine's stack is elsewhere, and only the runtime's own records say where:
 *
 *	thread block  -> g, the goroutine that has the thread
 *	g             -> m, the thread's record
 *	m             -> the goroutine that changed to the thread's stack (runtime.m.curg)
 *	that one      -> its stack pointer, and its pc behind it (runtime.g.sched)
 *
 * A rule with ER_CFA_GO has the distances. These records must be the thread's own, so a step is
 * possible only where the thread itself is walked.
 */
#ifndef ER_UNWIND_GO_H
#define ER_UNWIND_GO_H

#include "bpf/unwind_env.h"

/* The address of the stack pointer that the runtime kept. 0: it cannot be read. */
static inline __u64 unwind_go_kept(struct unwind_env *env, const struct er_unwind_rule *rule)
{
	__u64 at;

	if (!unwind_thread_block(env, &at) || !unwind_read(env, at + rule->cfa_off, &at) ||
	    !unwind_read(env, at + (rule->bp_off & 0xffff), &at))
		return 0;
	if (rule->reg != ER_GO_CLOCK && !unwind_read(env, at + (rule->bp_off >> 16 & 0xffff), &at))
		return 0;
	return at ? at + rule->cfa_add : 0;
}

/* Step by a rule with ER_CFA_GO. A return address that follows no call ends the walk. */
static inline enum er_end unwind_by_go(struct unwind_env *env, struct unwind_regs *r,
				       const struct er_unwind_rule *rule)
{
	__u64 kept = unwind_go_kept(env, rule), sp, at, ra, code;

	if (!kept)
		return ER_END_REGISTER;
	if (!unwind_read(env, kept, &sp))
		return ER_END_FAULT;
	at = rule->reg == ER_GO_CALLED ? sp : rule->reg == ER_GO_GREW ? kept + 8 : sp - 8;
	if (!unwind_read(env, at, &ra))
		return ER_END_FAULT;
	ra = unwind_true_return(env, at, ra);
	if (!ra)
		return ER_END_RA_ZERO;
	if (!unwind_read(env, ra - 8, &code) || !unwind_is_call(code))
		return ER_END_NO_CFI;
	*r = (struct unwind_regs){
		.ip = ra, .sp = rule->reg == ER_GO_CALLED ? sp + 8 : sp,
		.flags = r->flags & UNWIND_USED_FP,
	};
	return ER_END_NOT;
}

#endif
