/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The functions that kernel addresses are in, each asked for once. The kernel
 * answers while we record, and so for modules and BPF programs that are gone at
 * the end; an answer stays true, for what is recorded is what ran then.
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
 * path NULL: ask the running kernel; else a file like /proc/kallsyms, for tests.
 * NULL after one sentence with the remedy.
 */
struct ksymtab *ksymtab_open(const char *path, struct diag *d);
void ksymtab_close(struct ksymtab *k);
/* These addresses will be looked for: ask for them together. */
void ksymtab_expect(struct ksymtab *k, const uint64_t *pcs, size_t n);
/* The function that covers the address, or NULL. It lives as long as the table. */
const struct ksym *ksymtab_find(struct ksymtab *k, uint64_t pc);

/* "vmlinux" and modules that functions were found in, with the build ids of those that have one. */
struct ksym_module {
	const char *name, *build_id; /* in hexadecimal; they live as long as the table */
};
typedef VEC(struct ksym_module) ksym_modules;

const ksym_modules *ksymtab_modules(const struct ksymtab *k);

#endif
