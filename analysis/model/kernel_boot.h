/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kernels that were recorded, one for each boot. A founder and its sub-experiments
 * recorded the same kernel. Each has only the symbols of its own stacks, so these are
 * merged here. Another founder may be of another boot, with all addresses different.
 */
#ifndef MODEL_KERNEL_BOOT_H
#define MODEL_KERNEL_BOOT_H

#include "analysis/model/session.h"

struct kernel_boot {
	const struct experiment *founder;
	VEC(const struct exp_ksym *) syms; /* by address, without duplicates */
};

typedef VEC(struct kernel_boot *) kernel_boots;

/* Add the session's experiments from index `from` on. Pointers to boots stay valid. */
void kernel_boots_add(kernel_boots *boots, const struct session *s, size_t from);
void kernel_boots_free(kernel_boots *boots);

/* The first boot that has the function `module`name` at its address; NULL: none. */
const struct kernel_boot *kernel_boot_of(const kernel_boots *boots, const struct func *f);
/* The symbol that covers an address; NULL: none. */
const struct exp_ksym *kernel_boot_sym(const struct kernel_boot *b, uint64_t addr);
/* The build id recorded for "vmlinux" or a module, in hexadecimal; NULL: none. */
const char *kernel_boot_build_id(const struct kernel_boot *b, const char *module);

#endif
