/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The running kernel's symbols: vmlinux, modules, BPF programs, ftrace and
 * kprobe trampolines. Sorted once; a size is the distance to the next symbol,
 * of whatever type. The kernel does not say where the last function before a
 * gap ends, so it is cut at the end of its page (kallsyms.c tells the rules):
 * a piece of a function may stay without a name, no gap ever gets one.
 */
#ifndef SYMBOLS_KALLSYMS_H
#define SYMBOLS_KALLSYMS_H

#include <stddef.h>
#include <stdint.h>

struct diag;

struct ksym {
	uint64_t addr, size;
	const char *name;
	const char *module; /* "vmlinux", or as in the brackets: "bpf", "ext4" */
};

struct kallsyms;

/*
 * Read path ("/proc/kallsyms" when NULL). NULL after reporting, also when all
 * addresses are hidden (kptr_restrict, no CAP_SYSLOG), with the remedy.
 */
struct kallsyms *kallsyms_load(const char *path, struct diag *d);
/*
 * The same from an open file (stays the caller's), `name` for messages. Lines
 * may carry a size behind the address, as in an experiment's kallmodsyms; such
 * a symbol ends where its line says, or at the next symbol if that is nearer.
 */
struct kallsyms *kallsyms_read(int fd, const char *name, struct diag *d);
void kallsyms_free(struct kallsyms *k);
/*
 * The text symbol that covers the address, or NULL. Of several symbols at one
 * address one is kept, the alphabetically last (S-016), of global before local. No two overlap.
 */
const struct ksym *kallsyms_find(const struct kallsyms *k, uint64_t addr);

#endif
