/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Parses one line of a list of kernel symbols: "ADDR TYPE NAME" in /proc/kallsyms, "ADDR SIZE
 * TYPE NAME" in an experiment's kallmodsyms. "[MODULE]" follows if the symbol is in a module.
 * Numbers are hexadecimal; blanks or tabs separate words. A kernel's list has a quarter of a
 * million lines, so nothing is copied or modified.
 */
#ifndef BASE_KSYMLINE_H
#define BASE_KSYMLINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ksym_line {
	uint64_t addr, size;
	bool sized; /* the line gives a size */
	char type;  /* as in nm(1) */
	const char *name, *module; /* in the line, without NUL; module NULL: the kernel itself */
	size_t name_len, module_len; /* 0 only for a module that is NULL */
};

/* Parse the line in [p, end), without its newline. Returns false if it is malformed. */
bool ksym_line_parse(const char *p, const char *end, struct ksym_line *ret);

#endif
