/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The machine code of an object, by its own addresses: of a linked ELF file, or
 * of the running kernel.
 */
#ifndef SYMBOLS_CODE_H
#define SYMBOLS_CODE_H

#include <stddef.h>
#include <stdint.h>

#include "analysis/symbols/disasm.h"

struct diag;
struct code;

/*
 * The code of the ELF file open at fd (stays the caller's). NULL when it has none:
 * no ELF file, or one whose code was left out, as in symbol and debug files. Not
 * reported: there may be another file that has it.
 */
struct code *code_open(int fd);
/*
 * The text of the running kernel, from /proc/kcore (`path`, NULL for that). NULL
 * after reporting, with what would let it be read.
 */
struct code *code_open_kernel(const char *path, struct diag *d);
void code_free(struct code *c);

const struct machine *code_machine(const struct code *c);
/* Copy up to n bytes from an address on; how many there are. */
size_t code_read(const struct code *c, uint64_t addr, void *to, size_t n);

#endif
