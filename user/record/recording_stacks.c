/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "user/record/ksymtab.h"
#include "user/record/recording_impl.h"

enum {
	/* Stacks of all experiments. When there are more they are forgotten; 200 bytes each. */
	MAX_STACKS_KNOWN = 1 << 16,
	/*
	 * Pseudo functions lie below the lowest address that a program may map
	 * (vm.mmap_min_addr), one byte each: an output has room for 61,440.
	 */
	PSEUDO_BASE = 0x1000,
	PSEUDO_END = 0x10000,
	MAX_PSEUDO = PSEUDO_END - PSEUDO_BASE,
};

#define OTHERS "<other processes>"

uint32_t output_stack_uid(const struct output *p, uint64_t id)
{
	const uint64_t *uid = map_get(&p->stacks, id);

	return uid ? *uid : 0;
}

/*
 * Write the functions of a stack's kernel part. The founder has them for all experiments. The leaf
 * is usually new; the callers usually are not.
 */
static void write_ksyms(struct recording *b, const uint64_t *pcs, size_t n)
{
	bool fresh = true;

	if (n > 1)
		map_put(&b->segment->callers, hash_words(pcs + 1, n - 1), &fresh);
	if (!fresh)
		n = 1;
	ksymtab_expect(b->ksyms, pcs, n);
	for (size_t i = 0; i < n; i++) {
		const struct ksym *s = ksymtab_find(b->ksyms, pcs[i]);

		b->segment->fresh_ksyms |= s && expwriter_ksym(b->segment->founder.w, s->addr, s->size, s->name,
						      s->module);
	}
}

static void forget_stacks(struct output *p)
{
	map_free(&p->stacks);
	expwriter_forget(p->w);
}

void output_forget_stacks(struct recording *b, struct output *p)
{
	b->segment->nknown -= p->stacks.len;
	forget_stacks(p);
}

static void forget_all_stacks(struct recording *b)
{
	forget_stacks(&b->segment->founder);
	vec_for_each(p, &b->segment->open)
		forget_stacks(*p);
	map_free(&b->segment->callers);
	b->segment->nknown = 0;
}

uint32_t output_stack(struct recording *b, struct output *p, uint64_t id, const uint64_t *pcs, size_t npcs,
		    size_t nkernel)
{
	size_t pseudo = nkernel && pcs[0] < PSEUDO_END;

	if (b->segment->nknown >= MAX_STACKS_KNOWN)
		forget_all_stacks(b);
	if (b->segment->last_uid == UINT32_MAX)
		return 0;
	*map_put(&p->stacks, id, NULL) = ++b->segment->last_uid;
	b->segment->nknown++;
	if (nkernel > pseudo)
		write_ksyms(b, pcs + pseudo, nkernel - pseudo);
	expwriter_stack(p->w, b->segment->last_uid, pcs, npcs);
	recording_touch(b, p);
	return b->segment->last_uid;
}

/*
 * These have the same address in every experiment, so that readers may treat them as one function.
 * The pseudo functions for the unsampled parts of the states off the CPU follow them.
 */
static const char *const everywhere[] = {
	"<IDLE>", "<Unsampled-CPU>", "<Stack-lost>", OTHERS, "<Stack-not-taken>",
	"<SLEEPING>", "<STALLED>", "<Recording>",
};

enum {
	NFIXED = sizeof(everywhere) / sizeof(everywhere[0]),
	NEVERYWHERE = NFIXED + MS_STOPPED - MS_TFAULT + 1,
};

static const char *everywhere_name(unsigned i)
{
	return i < NFIXED ? everywhere[i] : mstate_descs[MS_TFAULT + i - NFIXED].unsampled;
}

/* A pseudo function by its number in the output. The number and the name belong together. */
struct pseudo {
	unsigned number;
	const char *name;
};

/*
 * Most outputs have no pseudo functions of their own. When there is no room for one more, known
 * names keep their functions, and all other names share that of OTHERS.
 */
static struct pseudo pseudo_find(struct recording *b, struct output *p, const char *name)
{
	bool full = p->pseudo.len + NEVERYWHERE >= MAX_PSEUDO;

	for (unsigned i = 0; i < NEVERYWHERE; i++) {
		if (!strcmp(name, everywhere_name(i)))
			return (struct pseudo){ i, everywhere_name(i) };
	}
	if (!full || strtab_has(&p->pseudo, name))
		return (struct pseudo){ NEVERYWHERE + strtab_id(&p->pseudo, name), name };
	b->drops->n[DROP_PSEUDO]++;
	return pseudo_find(b, p, OTHERS);
}

uint64_t output_pseudo_pc(struct recording *b, struct output *p, const char *name)
{
	struct pseudo f = pseudo_find(b, p, name);
	uint64_t pc = PSEUDO_BASE + f.number;
	bool fresh;

	map_put(&p->shown, pc, &fresh);
	if (fresh)
		expwriter_function(p->w, b->segment->header.start_ns, pc, 1, f.name);
	return pc;
}

void output_function(struct recording *b, struct output *p, uint64_t time_ns, uint64_t start,
		     uint64_t size, const char *name)
{
	output_dynamic(b, p, &(struct exp_code){ .time_ns = time_ns, .vaddr = start, .size = size, .name = name });
}

void output_dynamic(struct recording *b, struct output *p, const struct exp_code *c)
{
	uint64_t begin = b->segment->header.start_ns;
	struct exp_code dated = *c;

	if (dated.time_ns < begin)
		dated.time_ns = begin;
	expwriter_dynamic(p->w, &dated);
	recording_touch(b, p);
}

void output_scopes(struct recording *b, struct output *p, uint64_t time_ns, uint64_t start,
		   const void *data, size_t n)
{
	uint64_t begin = b->segment->header.start_ns;

	expwriter_scopes(p->w, time_ns > begin ? time_ns : begin, start, data, n);
	recording_touch(b, p);
}

void output_method(struct recording *b, struct output *p, uint64_t id, const void *data, size_t n)
{
	expwriter_method(p->w, id, data, n);
	recording_touch(b, p);
}

void output_function_gone(struct recording *b, struct output *p, uint64_t time_ns, uint64_t start)
{
	uint64_t begin = b->segment->header.start_ns;

	expwriter_unmap(p->w, time_ns > begin ? time_ns : begin, start);
	recording_touch(b, p);
}

uint32_t output_pseudo(struct recording *b, struct output *p, const char *name)
{
	uint64_t pc = output_pseudo_pc(b, p, name), id = hash64(pc);
	uint32_t uid = output_stack_uid(p, id);

	return uid ? uid : output_stack(b, p, id, &pc, 1, 0);
}
