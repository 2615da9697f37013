/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "user/unwind/walk.h"

#include <string.h>

#include "bpf/unwind_step.h"

struct unwind_env {
	struct unwind_look look;
	const struct unwind_source *s;
	const struct unwind_table *t;
	bool generated;
};

static inline bool unwind_read(struct unwind_env *env, __u64 at, __u64 *value)
{
	uint64_t v;

	if (!env->s->read(env->s->ctx, at, &v))
		return false;
	*value = v;
	return true;
}

static inline bool unwind_word(struct unwind_env *env, __u32 at, __u32 *word)
{
	if (at >= env->t->nwords)
		return false;
	*word = env->t->words[at];
	return true;
}

static inline bool unwind_rule(struct unwind_env *env, __u32 at, struct er_unwind_rule *rule)
{
	if (at >= env->t->nwords || env->t->nwords - at < ER_RULE_WORDS)
		return false;
	memcpy(rule, env->t->words + at, sizeof(*rule));
	return true;
}

static inline bool unwind_leaf_reg(struct unwind_env *env, __u32 reg, __u64 *value)
{
	uint64_t v;

	if (!env->s->reg || !env->s->reg(env->s->ctx, reg, &v))
		return false;
	*value = v;
	return true;
}

static inline __u64 unwind_true_return(struct unwind_env *env, __u64 slot, __u64 ra)
{
	return ra;
}

static inline bool unwind_generated(struct unwind_env *env)
{
	return env->generated;
}

static inline struct unwind_look *unwind_look(struct unwind_env *env)
{
	return &env->look;
}

/* From one frame to its caller. */
static enum er_end step(const struct unwind_source *s, struct unwind_regs *r)
{
	struct er_unwind_rule rule = { .cfa = ER_CFA_NO_ENTRY };
	struct unwind_place place;
	struct unwind_env env = { .s = s };
	enum er_end end = s->find(s->ctx, unwind_lookup_pc(r), &place);

	if (end)
		return end;
	env.generated = s->generated && s->generated(s->ctx, r->ip);
	if (r->flags & UNWIND_UNCALLED && !env.generated)
		return ER_END_NO_CFI;
	env.t = place.table;
	if (env.t) {
		end = unwind_find(&env, &env.t->file, place.offset, &rule);
		if (end)
			return end;
	}
	return unwind_step(&env, r, &rule);
}

struct unwind_walked unwind_walk(const struct unwind_source *s, const struct unwind_leaf *leaf,
				 uint64_t *pcs, size_t max)
{
	struct unwind_regs r = { .ip = leaf->ip, .sp = leaf->sp, .bp = leaf->bp,
				 .flags = UNWIND_EXACT | UNWIND_LEAF };
	struct unwind_walked w = { .n = 1, .end = ER_END_NOT };

	pcs[0] = r.ip;
	while (!w.end) {
		if (w.n == max) {
			w.end = ER_END_DEPTH;
			break;
		}
		w.end = step(s, &r);
		if (!w.end)
			pcs[w.n++] = r.ip;
	}
	w.frame_pointers = r.flags & UNWIND_USED_FP;
	return w;
}
