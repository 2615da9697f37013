/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A file that is the vmlinux or the module that was recorded: by its build id where
 * both are known, else because the functions of both lie the same distance apart,
 * nearly all of them. One file may have the lines and another one the code.
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
	struct lineinfo *lines; /* NULL: it has none */
	struct code *code;      /* likewise */
	uint64_t distance;      /* from running to linked addresses, of most functions */
	struct map by_name;     /* hash of a function's name to its address; 0: several */
};

/* NULL when the file at fd (stays the caller's) is another one, which a warning says. */
struct kernel_elf *kernel_elf_open(int fd, const char *path, const struct kernel_boot *boot,
				   const char *module, struct diag *d);
void kernel_elf_free(struct kernel_elf *k);

/* Where the file has a function; false: nowhere. Sections of a module do not all move alike. */
bool kernel_elf_addr(const struct kernel_elf *k, const struct func *f, uint64_t *addr);

#endif
