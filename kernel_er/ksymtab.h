/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The names of kernel addresses, while we record: modules and BPF programs come and go. */
#ifndef KERNEL_ER_KSYMTAB_H
#define KERNEL_ER_KSYMTAB_H

#include <stdint.h>

#include "analysis/symbols/kallsyms.h"

struct diag;
struct ksymtab;

/* From this file; NULL: /proc/kallsyms. NULL after one sentence with the remedy. */
struct ksymtab *ksymtab_open(const char *path, struct diag *d);
void ksymtab_close(struct ksymtab *k);
/* The function that covers the address, or NULL. Valid until the next call. */
const struct ksym *ksymtab_find(struct ksymtab *k, uint64_t pc);

#endif
