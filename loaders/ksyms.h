/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names of kernel functions. A BPF program asks the kernel for single addresses, which is
 * faster than reading the whole of /proc/kallsyms. Opening needs CAP_BPF and CAP_PERFMON;
 * asking needs no capability.
 */
#ifndef LOADERS_KSYMS_H
#define LOADERS_KSYMS_H

#include <stddef.h>
#include <stdint.h>

struct diag;
struct ksyms;

/* The most addresses for one call. */
enum { KSYMS_MAX = 64 };

struct ksyms_answer {
	uint64_t start, size; /* the function's; size 0: no function contains the address */
	const char *name;
	const char *module;   /* "vmlinux": the kernel itself; "bpf": a BPF program */
};

/* Returns 0, or -errno after a report that names the remedy. Release *ret with ksyms_close. */
int ksyms_open(struct diag *d, struct ksyms **ret);
void ksyms_close(struct ksyms *k);
/* Fills n answers, at most KSYMS_MAX. Strings are valid until the next call. */
void ksyms_ask(struct ksyms *k, const uint64_t *addrs, size_t n, struct ksyms_answer *ret);

/*
 * Parse the kernel's text for an address, "name+0xoffset/0xsize [module]". The text is
 * modified, and the answer's strings point into it.
 */
void ksyms_parse(char *text, uint64_t addr, struct ksyms_answer *ret);

#endif
