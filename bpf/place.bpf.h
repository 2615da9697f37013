/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads the arguments of probes (place.h). */
#ifndef PLACE_BPF_H
#define PLACE_BPF_H

#include "bpf/place.h"

/* Keep `size` bytes of the value, extended to 64 bits. */
static __always_inline __u64 place_extend(__u64 v, __u32 size, bool is_signed)
{
	__u32 cut = size < 8 ? 64 - 8 * size : 0;

	return is_signed ? (__u64)((__s64)(v << cut) >> cut) : v << cut >> cut;
}

/* The register by its word in `regs`, kernel memory; 0 for ER_REGISTER_NONE. */
static __always_inline __u64 place_register(const void *regs, __u8 word)
{
	__u64 v = 0;

	if (word < sizeof(struct pt_regs) / 8)
		bpf_probe_read_kernel(&v, sizeof(v), regs + word * 8);
	return v;
}

/*
 * The value at a place: `ctx` are the registers of the probe, or a tracepoint's record. False: it
 * is not there, or its page is not in memory. Text is not read.
 */
static __always_inline bool place_read(const void *ctx, const struct er_place *p, __u64 *ret)
{
	__u64 v = 0, at;

	switch (p->kind) {
	case ER_PLACE_CONSTANT:
		v = p->value;
		break;
	case ER_PLACE_REGISTER:
		v = place_register(ctx, p->base);
		break;
	case ER_PLACE_MEMORY:
		at = place_register(ctx, p->base) + place_register(ctx, p->index) * p->scale + p->value;
		if (bpf_probe_read_user(&v, p->size <= 8 ? p->size : 8, (void *)at))
			return false;
		break;
	case ER_PLACE_FIELD:
		if (bpf_probe_read_kernel(&v, p->size <= 8 ? p->size : 8, ctx + (__u16)p->value))
			return false;
		break;
	default:
		return false;
	}
	*ret = place_extend(v, p->size, p->is_signed);
	return true;
}

/*
 * Whether a jump at `ip` to what is in `jump` leaves the function, whose parts lie between low[i] and high[i], from
 * ip. ER_PLACE_NONE: it does. A jump whose target cannot be read may not.
 */
static __always_inline bool place_leaves(const void *ctx, __u64 ip, const struct er_place *jump, const __s64 *low,
					 const __s64 *high)
{
	__u64 to;

	if (jump->kind == ER_PLACE_NONE)
		return true;
	if (!place_read(ctx, jump, &to))
		return false;
	to -= ip;
	for (int i = 0; i < ER_SPAN_PARTS; i++)
		if ((__s64)to >= low[i] && (__s64)to < high[i])
			return false;
	return true;
}

static __always_inline bool test_signed(__s64 v, __s64 constant, __u32 op)
{
	switch (op) {
	case ER_TEST_LT: return v < constant;
	case ER_TEST_LE: return v <= constant;
	case ER_TEST_GT: return v > constant;
	}
	return v >= constant;
}

static __always_inline bool test_unsigned(__u64 v, __u64 constant, __u32 op)
{
	switch (op) {
	case ER_TEST_EQ: return v == constant;
	case ER_TEST_NE: return v != constant;
	case ER_TEST_BITS: return v & constant;
	case ER_TEST_LT: return v < constant;
	case ER_TEST_LE: return v <= constant;
	case ER_TEST_GT: return v > constant;
	}
	return v >= constant;
}

/* Whether the value passes a comparison. */
static __always_inline bool test_passes(__u64 v, bool is_signed, const struct er_test *t)
{
	if (!is_signed || t->op == ER_TEST_EQ || t->op == ER_TEST_NE || t->op == ER_TEST_BITS)
		return test_unsigned(v, t->constant, t->op);
	return test_signed(v, t->constant, t->op);
}

#endif
