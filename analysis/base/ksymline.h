/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A line of a list of kernel symbols: of /proc/kallsyms, "ADDR TYPE NAME", or of an
 * experiment's kallmodsyms, "ADDR SIZE TYPE NAME", each with "[MODULE]" behind it where the
 * symbol is not of the kernel itself. Numbers are hexadecimal and words stand apart by
 * blanks or tabs. There are a quarter of a million lines in a kernel's list: nothing is
 * copied and nothing is changed.
 */
#ifndef BASE_KSYMLINE_H
#define BASE_KSYMLINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ksym_line {
	uint64_t addr, size;
	bool sized; /* the line gives a size */
	char type;  /* as nm(1) has it */
	const char *name, *module; /* where they stand in the line; module NULL: none is named */
	size_t name_len, module_len; /* neither is 0 where there is one */
};

/* The line from p up to end (its newline, or where the text ends). False when it is none. */
bool ksym_line_parse(const char *p, const char *end, struct ksym_line *ret);

#endif
