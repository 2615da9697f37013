/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The names of kernel functions, asked of the kernel address by address: it has
 * them in less time than it takes to list them all. Needs CAP_BPF and
 * CAP_PERFMON to open, and nothing from then on.
 */
#ifndef LOADERS_KSYMS_H
#define LOADERS_KSYMS_H

#include <stddef.h>
#include <stdint.h>

struct diag;
struct ksyms;

/* How many addresses may be asked for at a time. */
enum { KSYMS_MAX = 64 };

struct ksyms_answer {
	uint64_t start, size; /* of the function; size 0: the address is in none */
	const char *name;
	const char *module;   /* "vmlinux" for the kernel itself, "bpf" for BPF programs */
};

/* 0, or -errno after one sentence with the remedy. */
int ksyms_open(struct diag *d, struct ksyms **ret);
void ksyms_close(struct ksyms *k);
/* Fills n answers, at most KSYMS_MAX. Strings are valid until the next call. */
void ksyms_ask(struct ksyms *k, const uint64_t *addrs, size_t n, struct ksyms_answer *ret);

/* "name+0xoffset/0xsize [module]", which is cut up, as the kernel prints the address. */
void ksyms_parse(char *text, uint64_t addr, struct ksyms_answer *ret);

#endif
