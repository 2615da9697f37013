/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Builds the unwind table of one file (bpf/unwind.h) from its call frame information.
 * Functions may overlap and come in any order; if two claim the same code, the one that begins
 * later wins, as with .eh_frame_hdr's binary search.
 *
 * The files are untrusted bytes. Time is linear in their size, except for one sort of the
 * functions, and memory is at most 16 bytes for each byte of call frame information.
 */
#ifndef USER_UNWIND_TABLE_H
#define USER_UNWIND_TABLE_H

#include <linux/types.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/unwind.h"

enum { UNWIND_TABLE_BYTES = 32 << 20 }; /* the largest table that is kept; 400 MB of text */

struct unwind_input {
	const void *elf;   /* the file as it is on disk, or a vdso as it is in memory */
	size_t elf_size;
	const void *debug; /* its debug file, for .debug_frame; NULL: none */
	size_t debug_size;
};

struct unwind_counts {
	size_t functions;    /* FDEs with code in the file */
	size_t bad_entries;  /* entries that were skipped: damaged, or of an unknown form */
	size_t outside;      /* FDEs whose code is not in the file's executable segments */
	size_t cfi_rows;     /* rows in the call frame information */
	size_t bad_rows;     /* rows among them that no rule can express */
	size_t text;         /* bytes of executable segments */
};

/* A table: its words, and the offsets of its parts (file.index, rows, rules). */
struct unwind_table {
	struct er_unwind_file file;
	__u32 *words;
	size_t nwords;
	struct unwind_counts counts;
};

/* `n` words of the table from `at` on; NULL: it has no such words. */
static inline const __u32 *unwind_table_words(const struct unwind_table *t, size_t at, size_t n)
{
	return at < t->nwords && t->nwords - at >= n ? t->words + at : NULL;
}

/* Whether the parts of a table follow each other and fill its words. */
bool unwind_table_is_sound(const struct er_unwind_file *f, size_t nwords);

/*
 * Returns 0 and a table, which the caller frees. Or -ENOEXEC: not an ELF file of x86-64, or
 * damaged. -ENODATA: no call frame information. -EFBIG: more than the format can hold.
 */
int unwind_table_build(const struct unwind_input *in, struct unwind_table *ret);
void unwind_table_free(struct unwind_table *t);

#endif
