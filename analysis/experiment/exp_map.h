/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The code that stacks mention: map.xml and kallmodsyms. Times are relative to the start. */
#ifndef EXPERIMENT_EXP_MAP_H
#define EXPERIMENT_EXP_MAP_H

#include <stdbool.h>
#include <stdint.h>

struct exp_map {
	enum { EXP_MAP_SEGMENT, EXP_MAP_FUNCTION, EXP_MAP_DYNFUNC, EXP_MAP_UNMAP } what;
	int64_t time_ns; /* relative to the start of this experiment */
	uint64_t vaddr, size;
	int64_t foffset;
	unsigned modes;
	const char *name; /* path or function name */
	const char *module; /* DYNFUNC: the dynamic module's name */
	bool interpreted;   /* FUNCTION: an interpreter runs it */
	const char *alias;  /* FUNCTION: another name for it; NULL: none */
};

struct exp_ksym {
	uint64_t addr, size;
	const char *name;   /* ready to show, with the kernel's own dots */
	const char *module; /* "vmlinux" if the line names none */
};

#endif
