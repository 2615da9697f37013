/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Gives numbers to mapped files, for use in user frames (bpf/frame.h). A file is identified by its
 * device and inode; the vdso, which has neither, by its name. A number is never reused for another
 * file. Files beyond ER_MAX_FILES get no number, and frames in them remain addresses.
 */
#ifndef USER_SPACE_FILES_H
#define USER_SPACE_FILES_H

#include <stddef.h>
#include <stdint.h>

#include "analysis/base/map.h"
#include "analysis/base/vec.h"

struct mapping;

struct files {
	struct map by_inode; /* hash to the first number with that hash; the others are chained */
	VEC(struct file_number) numbers;
};

struct file_number {
	uint64_t dev, ino; /* as in struct mapping */
	const char *path;  /* of its first mapping, or "[vdso]" */
	uint32_t next;     /* the next number with the same hash; 0: none */
};

void files_free(struct files *f);
/* The number of the mapping's file; a new file gets one. 0 if there are too many files. */
uint32_t files_number(struct files *f, const struct mapping *m);
/* The entry of a number; valid until the next call of files_number. */
const struct file_number *files_at(const struct files *f, uint32_t number);

#endif
