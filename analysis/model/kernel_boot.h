/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kernels that were recorded. A founder and its sub-experiments saw one and the
 * same; each has only the symbols that its own stacks mention, so they are put
 * together. Another founder may be of another boot, where everything lies elsewhere.
 */
#ifndef MODEL_KERNEL_BOOT_H
#define MODEL_KERNEL_BOOT_H

#include "analysis/model/session.h"

struct kernel_boot {
	const struct experiment *founder;
	VEC(const struct exp_ksym *) syms; /* by address, each once */
};

typedef VEC(struct kernel_boot *) kernel_boots;

/* Take in the session's experiments from the index `from` on. Boots stay where they are. */
void kernel_boots_add(kernel_boots *boots, const struct session *s, size_t from);
void kernel_boots_free(kernel_boots *boots);

/* The first one that has this function, `module`name`, at its address; NULL none. */
const struct kernel_boot *kernel_boot_of(const kernel_boots *boots, const struct func *f);
/* The symbol that covers an address, or NULL. */
const struct exp_ksym *kernel_boot_sym(const struct kernel_boot *b, uint64_t addr);
/* The build id that was recorded for "vmlinux" or a module, in hexadecimal; NULL none. */
const char *kernel_boot_build_id(const struct kernel_boot *b, const char *module);

#endif
