/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds the kernel function of an address. Each address is looked up once, while the recording
 * runs, so that functions of modules and BPF programs are found that are gone at its end. An
 * answer is kept: it is true for the code that ran then.
 */
#ifndef USER_RECORD_KSYMTAB_H
#define USER_RECORD_KSYMTAB_H

#include <stddef.h>
#include <stdint.h>

#include "analysis/base/vec.h"
#include "analysis/symbols/kallsyms.h"

struct diag;
struct ksymtab;

/*
 * path NULL: use the running kernel's symbols; tests give a file like /proc/kallsyms instead.
 * Returns NULL after one sentence with the remedy.
 */
struct ksymtab *ksymtab_open(const char *path, struct diag *d);
void ksymtab_close(struct ksymtab *k);
/* Look up these addresses together: ksymtab_find will be called for each of them. */
void ksymtab_expect(struct ksymtab *k, const uint64_t *pcs, size_t n);
/* Returns the function that contains the address, or NULL. It is valid as long as the table. */
const struct ksym *ksymtab_find(struct ksymtab *k, uint64_t pc);

/* "vmlinux" or a module in which functions were found. */
struct ksym_module {
	const char *name, *build_id; /* hexadecimal; both valid as long as the table */
};
typedef VEC(struct ksym_module) ksym_modules;

const ksym_modules *ksymtab_modules(const struct ksymtab *k);

#endif
