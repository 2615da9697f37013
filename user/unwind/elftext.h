/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds the parts of an ELF file that an unwind table needs: its code, by file offset and by
 * address, and its call frame information. The file is untrusted: nothing outside its bytes is
 * read. Nothing is allocated and no library is used, so a process without privileges can read other
 * users' files with it.
 */
#ifndef USER_UNWIND_ELFTEXT_H
#define USER_UNWIND_ELFTEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/symbols/ehframe.h"

enum { ELFTEXT_SEGMENTS = 16 };

/* Executable bytes of the file: [offset, offset + size), linked at addr. */
struct elftext_segment {
	uint64_t addr, offset, size;
};

struct elftext {
	const unsigned char *data;
	size_t size;
	uint64_t entry; /* address at which the program starts; 0: none */
	unsigned nsegments;
	struct elftext_segment segments[ELFTEXT_SEGMENTS];
};

/*
 * Returns 0, or -ENOEXEC if this is not an ELF file of x86-64 or is damaged. A file without
 * executable segments has nsegments 0. `data` must stay as long as `ret`.
 */
int elftext_open(struct elftext *ret, const void *data, size_t size);
/* The file offset of an address of code. False: it is in no executable segment. */
bool elftext_offset(const struct elftext *e, uint64_t addr, uint64_t *ret);
/* .eh_frame, found by the program headers or else by the section headers. False: there is none. */
bool elftext_ehframe(const struct elftext *e, struct ehframe_section *ret);
/* Where a section is in the file. False: there is no section of that name in the file. */
bool elftext_section(const struct elftext *e, const char *name, uint64_t *offset, uint64_t *size);
/* The address of an exported variable. False: there is none of that name. */
bool elftext_variable(const struct elftext *e, const char *name, uint64_t *addr);
/* The address and size of an exported function. False: there is none of that name. */
bool elftext_function(const struct elftext *e, const char *name, uint64_t *addr, uint64_t *size);
/* The functions of both symbol tables, one after the other. All zero: before the first. Fields are private. */
struct elftext_functions {
	unsigned table;
	size_t at;
};

/* The next function that has a size. False: there are no more. */
bool elftext_next_function(const struct elftext *e, struct elftext_functions *it, uint64_t *addr, uint64_t *size);
/* Copy n bytes that the file has for an address, of code or data. False: it has not. */
bool elftext_read(const struct elftext *e, uint64_t addr, void *ret, size_t n);
/* .debug_frame as it is in the file; debugframe.h uncompresses it. False: there is none. */
bool elftext_debugframe(const struct elftext *e, struct ehframe_section *ret, bool *compressed);

#endif
