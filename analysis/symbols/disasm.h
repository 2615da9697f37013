/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Machine code as text, one instruction at a time, by libopcodes. Addresses that
 * instructions name are given to the caller, who knows what is there.
 */
#ifndef SYMBOLS_DISASM_H
#define SYMBOLS_DISASM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;
struct diag;
struct disasm;

/* The code's machine, as an ELF header says it. */
struct machine {
	unsigned elf_machine; /* EM_… */
	bool wide;	      /* ELFCLASS64 */
	bool big_endian;
};

/* Append what stands at an address, such as "hot" or "hot+0x10"; false, nothing added: unknown. */
typedef bool (*address_namer)(void *ctx, uint64_t addr, struct buf *b);

struct insn {
	size_t size; /* in bytes, at least 1 */
	bool bad;    /* no instruction of this machine */
};

/* NULL after reporting: no libopcodes that is here knows the machine. */
struct disasm *disasm_new(const struct machine *m, address_namer namer, void *ctx, struct diag *d);
void disasm_free(struct disasm *s);
/*
 * The instruction at `addr`, whose bytes begin at p, n being known: its text is
 * appended. n is at least 1. What is no instruction is one byte (on machines with
 * instructions of one size: one of them), its text "(bad)" or data.
 */
struct insn disasm_one(struct disasm *s, uint64_t addr, const unsigned char *p, size_t n,
		       struct buf *text);

#endif
