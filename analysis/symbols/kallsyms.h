/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The running kernel's symbols: vmlinux, modules, BPF programs, ftrace and kprobe
 * trampolines. Sorted once. The kernel does not give sizes, so a function ends at the
 * next symbol of any type. The last function before a gap is cut at the end of its page
 * (rules: kallsyms.c). So a part of a function may lack a name, but a gap never gets
 * one.
 */
#ifndef SYMBOLS_KALLSYMS_H
#define SYMBOLS_KALLSYMS_H

#include <stddef.h>
#include <stdint.h>

struct diag;

struct ksym {
	uint64_t addr, size;
	const char *name;
	const char *module; /* "vmlinux", or the name in brackets: "bpf", "ext4" */
};

struct kallsyms;

/*
 * Read path (NULL: "/proc/kallsyms"). NULL after reporting, with the remedy, also if
 * all addresses are hidden (kptr_restrict, no CAP_SYSLOG).
 */
struct kallsyms *kallsyms_load(const char *path, struct diag *d);
/*
 * The same from an open file, which the caller closes; messages use `name`. A line may
 * have a size after the address, as in an experiment's kallmodsyms. Such a symbol ends
 * there, or at the next symbol if that is nearer.
 */
struct kallsyms *kallsyms_read(int fd, const char *name, struct diag *d);
void kallsyms_free(struct kallsyms *k);
/*
 * The text symbol that covers the address; NULL: none. Of several symbols at one
 * address, one is kept: global before local, then the alphabetically last. Symbols do
 * not overlap.
 */
const struct ksym *kallsyms_find(const struct kallsyms *k, uint64_t addr);
/*
 * The names at the address except `name`, separated by blanks: "" if there are none. NULL if no
 * symbol there has this name. The caller frees it.
 */
char *kallsyms_aliases(const struct kallsyms *k, uint64_t addr, const char *name);

#endif
