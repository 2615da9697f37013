/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An ELF file of the recorded vmlinux or module. It matches by build id if both are
 * known. Otherwise at least nine tenths of its functions must be moved by the same
 * distance. One file may have the lines and another one the code.
 */
#ifndef MODEL_KERNEL_ELF_H
#define MODEL_KERNEL_ELF_H

#include "analysis/base/map.h"
#include "analysis/model/kernel_boot.h"

struct code;
struct diag;
struct lineinfo;
struct symtab;

struct kernel_elf {
	struct symtab *symtab;
	struct lineinfo *lines; /* NULL: none */
	struct code *code;      /* NULL: none */
	uint64_t distance;      /* linked minus running address, for most functions */
	struct map by_name;     /* hash of a function's name, to its address; 0: ambiguous */
};

/*
 * NULL, after a warning, if the file open at fd does not match. The caller closes fd.
 * Free with kernel_elf_free.
 */
struct kernel_elf *kernel_elf_open(int fd, const char *path, const struct kernel_boot *boot,
				   const char *module, struct diag *d);
void kernel_elf_free(struct kernel_elf *k);

/*
 * Get a function's address in the file. False: not found. Sections of a module may move
 * by different distances.
 */
bool kernel_elf_addr(const struct kernel_elf *k, const struct func *f, uint64_t *addr);

#endif
