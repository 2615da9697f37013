/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Gives numbers to mapped files, for use in user frames (bpf/frame.h). A file is identified by its
 * device and inode; the vdso, which has neither, by its name. Files beyond ER_MAX_FILES get no
 * number, and frames in them remain addresses.
 *
 * Programs come and go, and whatever is kept for a file costs memory and descriptors. So files that
 * no process maps are let go, except for the FILES_UNMAPPED that were mapped last. A file that was
 * let go gets a new number if it is mapped again. Its old number belongs to no other file until
 * files_reuse finds that nothing refers to it.
 */
#ifndef USER_SPACE_FILES_H
#define USER_SPACE_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/base/map.h"
#include "analysis/base/vec.h"

struct mapping;

enum {
	FILES_UNMAPPED = 128, /* are kept although no process maps them */
	FILES_MORE = 64,      /* new files before it is worth looking for unmapped ones */
};

struct files {
	struct map by_inode; /* hash to the first number with that hash; the others are chained */
	VEC(struct file_number) numbers;
	VEC(uint32_t) gone;  /* let go; the numbers cannot be used again yet */
	VEC(uint32_t) free;  /* can be given to other files */
	uint64_t looks;      /* files_look was called so many times */
	size_t nkept;        /* files in use after the last look */
};

struct file_number {
	uint64_t dev, ino; /* as in struct mapping */
	const char *path;  /* of its first mapping, or "[vdso]"; NULL: the number is in use by no file */
	uint32_t next;     /* the next number with the same hash; 0: none */
	bool gone;
	uint64_t seen;     /* the last look that found it mapped */
};

void files_free(struct files *f);
/* The number of the mapping's file; a new file gets one. 0 if there are too many files. */
uint32_t files_number(struct files *f, const struct mapping *m);
/* The entry of a number; valid until the next call of files_number. */
const struct file_number *files_at(const struct files *f, uint32_t number);

/*
 * Letting files go: if files_grew says that there are many new ones, call files_look, then
 * files_see for each number that is mapped, then files_trim. This calls fn for files to let go, the
 * longest unmapped first. If fn returns false, the file is still needed and stays.
 */
bool files_grew(const struct files *f);
void files_look(struct files *f);
void files_see(struct files *f, uint32_t number); /* 0: nothing */
void files_trim(struct files *f, bool (*fn)(void *ctx, uint32_t number), void *ctx);
/*
 * Calls fn for each number of a file that was let go. If fn returns true, or is NULL, nothing
 * refers to the number any more: it may be given to another file. Returns how many numbers are still referred to.
 */
size_t files_reuse(struct files *f, bool (*fn)(void *ctx, uint32_t number), void *ctx);
/* Files that have a number. */
size_t files_in_use(const struct files *f);

#endif
