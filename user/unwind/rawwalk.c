/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "user/unwind/rawwalk.h"

#include <string.h>

#include "bpf/unwind_step.h"
#include "loaders/unwind.h"
#include "user/space/space.h"

struct unwind_env {
	struct unwind_look look;
	const struct walk_source *src;
	const struct er_raw *raw;
	const struct mapping *mapping; /* the last one found */
	bool beyond;                   /* the walk read stack that was not copied */
};

static const struct mapping *mapping_of(struct unwind_env *env, uint64_t pc)
{
	if (env->mapping && pc - env->mapping->start < env->mapping->len)
		return env->mapping;
	return env->mapping = space_at(env->src->space, pc, env->src->time_ns);
}

static bool read_code(struct unwind_env *env, uint64_t at, uint64_t *value)
{
	const struct mapping *m = mapping_of(env, at);

	return m && m->file && env->src->code &&
	       env->src->code(env->src->ctx, m->file, m->pgoff + (at - m->start), value);
}

static inline bool unwind_read(struct unwind_env *env, __u64 at, __u64 *value)
{
	uint64_t sp = env->raw->regs[ER_DWARF_RSP], off = at - sp, got;

	if (at >= sp && off + sizeof(*value) <= env->raw->nbytes) {
		memcpy(value, (const char *)env->raw->bytes + off, sizeof(*value));
		return true;
	}
	if (!read_code(env, at, &got)) {
		env->beyond |= at >= sp;
		return false;
	}
	*value = got;
	return true;
}

static inline bool unwind_word(struct unwind_env *env, __u32 at, __u32 *word)
{
	const uint32_t *p = unwind_maps_word(env->src->maps, at);

	if (p)
		*word = *p;
	return p;
}

static inline bool unwind_rule(struct unwind_env *env, __u32 at, struct er_unwind_rule *rule)
{
	const uint32_t *p = unwind_maps_word(env->src->maps, at & ~(__u32)(ER_RULE_WORDS - 1));

	if (p)
		memcpy(rule, p, sizeof(*rule));
	return p;
}

static inline bool unwind_leaf_reg(struct unwind_env *env, __u32 reg, __u64 *value)
{
	if (reg >= ER_DWARF_COUNT)
		return false;
	*value = env->raw->regs[reg];
	return true;
}

/* The copy has true addresses: bpf/raw.bpf.h puts them there. */
static inline __u64 unwind_true_return(struct unwind_env *env, __u64 slot, __u64 ra)
{
	return ra;
}

static inline bool unwind_generated(struct unwind_env *env)
{
	return false; /* only mappings of files are known here */
}

static inline struct unwind_look *unwind_look(struct unwind_env *env)
{
	return &env->look;
}

static enum er_end find_rule(struct unwind_env *env, const struct mapping *m, uint64_t pc,
			     struct er_unwind_rule *rule)
{
	const struct er_unwind_file *f = &unwind_maps_files(env->src->maps)[m->file];

	if (!m->file)
		return ER_END_NOT;
	if (f->state <= ER_FILE_PENDING)
		return ER_END_NO_TABLE;
	if (f->state == ER_FILE_EVICTED)
		return ER_END_EVICTED;
	if (f->state != ER_FILE_READY)
		return ER_END_NOT;
	return unwind_find(env, f, m->pgoff + (pc - m->start), rule);
}

/* The frame of r, into ret, and how to step from it. ER_END_NOT: there is a rule, or none. */
static enum er_end next_frame(struct unwind_env *env, const struct unwind_regs *r,
			      struct walk *ret, struct er_unwind_rule *rule)
{
	uint64_t pc = unwind_lookup_pc(r), frame = r->ip;
	const struct mapping *m = mapping_of(env, pc);

	rule->cfa = ER_CFA_NO_ENTRY;
	if (r->flags & UNWIND_UNCALLED) /* generated code has no mapping here */
		return ER_END_NO_CFI;
	if (!m && ret->n) /* a return address in no mapping is not one */
		return ER_END_NO_MAPPING;
	if (m && m->file)
		frame = er_frame(m->file, m->pgoff + (r->ip - m->start));
	if (ret->n == ER_MAX_USER_FRAMES)
		return ER_END_DEPTH;
	ret->frames[ret->n++] = frame;
	return m ? find_rule(env, m, pc, rule) : ER_END_NO_MAPPING;
}

static bool is_for_now(enum er_end end)
{
	return end == ER_END_NO_TABLE || end == ER_END_EVICTED;
}

void walk_raw(const struct walk_source *src, const struct er_raw *raw, bool untabled,
	      struct walk *ret)
{
	struct unwind_env env = { .src = src, .raw = raw };
	struct unwind_regs r = { .ip = raw->regs[ER_DWARF_RIP], .sp = raw->regs[ER_DWARF_RSP],
				 .bp = raw->regs[ER_DWARF_RBP], .flags = UNWIND_EXACT | UNWIND_LEAF };
	enum er_end end, lacks = ER_END_NOT;
	struct er_unwind_rule rule;

	ret->n = 0;
	ret->lacking = NULL;
	do {
		end = next_frame(&env, &r, ret, &rule);
		if (is_for_now(end)) {
			ret->lacking = ret->lacking ? ret->lacking : env.mapping;
			lacks = lacks ? lacks : end;
			end = untabled ? ER_END_NOT : end;
		}
		if (!end)
			end = unwind_step(&env, &r, &rule);
	} while (!end);
	if (end == ER_END_FAULT && env.beyond)
		end = ER_END_SHORT;
	ret->end = lacks ? lacks : end;
}
