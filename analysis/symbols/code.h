/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Machine code of one object, by the object's own addresses: a linked ELF file, or the
 * running kernel.
 */
#ifndef SYMBOLS_CODE_H
#define SYMBOLS_CODE_H

#include <stddef.h>
#include <stdint.h>

#include "analysis/symbols/disasm.h"

struct diag;
struct code;

/*
 * The code of the ELF file open at fd, which the caller closes. NULL, without
 * reporting, if fd is no ELF file or has no code, like symbol and debug files: another
 * file may have it. Free with code_free.
 */
struct code *code_open(int fd);
/*
 * The text of the running kernel, from `path` (NULL: /proc/kcore). NULL after
 * reporting, with the remedy.
 */
struct code *code_open_kernel(const char *path, struct diag *d);
void code_free(struct code *c);

const struct machine *code_machine(const struct code *c);
/* Copy up to n bytes from an address on. Returns how many could be copied. */
size_t code_read(const struct code *c, uint64_t addr, void *to, size_t n);

#endif
