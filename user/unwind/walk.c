/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "user/unwind/walk.h"

#include <string.h>

#include "bpf/unwind_step.h"

struct unwind_env {
	struct unwind_look look;
	struct unwind_blob blob;
	const struct unwind_source *s;
	uint64_t pc; /* that the frame was looked up by */
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
	const uint32_t *p = env->s->words(env->s->ctx, at, 1);

	if (p)
		*word = *p;
	return p;
}

static inline bool unwind_rule(struct unwind_env *env, __u32 at, struct er_unwind_rule *rule)
{
	const uint32_t *p = env->s->words(env->s->ctx, at, ER_RULE_WORDS);

	if (p)
		memcpy(rule, p, sizeof(*rule));
	return p;
}

static inline bool unwind_leaf_reg(struct unwind_env *env, __u32 reg, __u64 *value)
{
	uint64_t v;

	if (!env->s->reg || !env->s->reg(env->s->ctx, reg, &v))
		return false;
	*value = v;
	return true;
}

static inline bool unwind_thread_block(struct unwind_env *env, __u64 *value)
{
	uint64_t v;

	if (!env->s->thread_block || !env->s->thread_block(env->s->ctx, &v))
		return false;
	*value = v;
	return true;
}

/* A copied stack already has the true addresses: see bpf/raw.bpf.h. */
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
	uint64_t range[2];

	if (!env->s->mapping || !env->s->mapping(env->s->ctx, env->pc, range))
		return false;
	*start = range[0];
	*end = range[1];
	return true;
}

static inline bool unwind_uncopied(struct unwind_env *env, __u64 at)
{
	return env->s->uncopied && env->s->uncopied(env->s->ctx, at);
}

static inline struct unwind_look *unwind_look(struct unwind_env *env)
{
	return &env->look;
}

static inline bool unwind_has_hotspot(struct unwind_env *env)
{
	return env->s->hotspot;
}

static inline const struct er_hotspot *unwind_hotspot(struct unwind_env *env)
{
	return env->s->hotspot;
}

static inline struct unwind_blob *unwind_blob(struct unwind_env *env)
{
	return &env->blob;
}

/* Go from one frame to its caller. */
static enum er_end step(struct unwind_env *env, struct unwind_regs *r,
			const struct unwind_place *place)
{
	struct er_unwind_rule rule = { .cfa = ER_CFA_NO_ENTRY };
	enum er_end end = place->file ? unwind_find(env, place->file, place->offset, &rule) :
					ER_END_NOT;

	return end ? end : unwind_step(env, r, &rule);
}

/*
 * Find the code of r. ER_END_NOT: the walk continues there. w->n shows whether a frame was written.
 */
static enum er_end next_frame(struct unwind_env *env, const struct unwind_regs *r,
			      struct unwind_walked *w, uint64_t *frames, size_t max,
			      struct unwind_place *place)
{
	uint64_t pc = unwind_lookup_pc(r);
	enum er_end end;

	env->pc = pc;
	*place = (struct unwind_place){ .frame = r->ip };
	end = env->s->find(env->s->ctx, pc, r->ip, place);
	env->generated = !end && env->s->generated && env->s->generated(env->s->ctx, pc);
	if (r->flags & UNWIND_UNCALLED && !env->generated)
		return ER_END_NO_CFI;
	if (end == ER_END_NO_MAPPING && w->n)
		return end;
	if (w->n == max)
		return ER_END_DEPTH;
	frames[w->n++] = place->frame;
	return end;
}

/*
 * Whether the VM has said how to leave the code of the last step, or the code is not the VM's. The step may have
 * looked for other blobs since.
 */
static bool is_known(struct unwind_env *env)
{
	const struct er_hotspot *v = env->s->hotspot;

	if (!v || unwind_blob_find(env, env->pc))
		return v;
	return !unwind_heap_find(v, env->pc);
}

struct unwind_walked unwind_walk(const struct unwind_source *s, const struct unwind_leaf *leaf,
				 uint64_t *frames, size_t max)
{
	struct unwind_regs r = { .ip = leaf->ip, .sp = leaf->sp, .bp = leaf->bp,
				 .flags = UNWIND_EXACT | UNWIND_LEAF };
	struct unwind_walked w = { .end = ER_END_NOT };
	struct unwind_env env = { .s = s };
	struct unwind_place place;

	while (!w.end) {
		w.end = next_frame(&env, &r, &w, frames, max, &place);
		if (!w.end)
			w.end = step(&env, &r, &place);
		w.guessed |= !w.end && env.generated && !is_known(&env);
	}
	w.frame_pointers = r.flags & UNWIND_USED_FP;
	return w;
}
