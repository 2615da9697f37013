/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Disassembles one instruction at a time, by libopcodes. The caller names the addresses
 * that instructions mention.
 */
#ifndef SYMBOLS_DISASM_H
#define SYMBOLS_DISASM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;
struct diag;
struct disasm;

/* The machine that code is for, from the ELF header. */
struct machine {
	unsigned elf_machine; /* EM_… */
	bool wide;	      /* ELFCLASS64 */
	bool big_endian;
};

/*
 * Append the name of an address, such as "hot" or "hot+0x10". False, and nothing
 * appended: unknown.
 */
typedef bool (*address_namer)(void *ctx, uint64_t addr, struct buf *b);

struct insn {
	size_t size; /* in bytes, at least 1 */
	bool bad;    /* not an instruction of this machine */
};

/* A disassembler; NULL after reporting if no installed libopcodes knows the machine. */
struct disasm *disasm_new(const struct machine *m, address_namer namer, void *ctx, struct diag *d);
void disasm_free(struct disasm *s);
/*
 * Append the text of the instruction at `addr`; its bytes are at p, of which n (at
 * least 1) are known. An invalid instruction gives "(bad)" or data, and is one byte
 * long (one instruction word on machines with instructions of fixed size).
 */
struct insn disasm_one(struct disasm *s, uint64_t addr, const unsigned char *p, size_t n,
		       struct buf *text);

#endif
