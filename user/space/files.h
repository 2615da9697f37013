/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Numbers of mapped files, as user frames name them (bpf/frame.h). A file is known by its
 * device and inode; the vdso, which has neither, by its name. A number is never given to
 * another file. Bounded: files beyond ER_MAX_FILES have none, and frames in them stay addresses.
 */
#ifndef USER_SPACE_FILES_H
#define USER_SPACE_FILES_H

#include <stddef.h>
#include <stdint.h>

#include "analysis/base/map.h"
#include "analysis/base/vec.h"

struct mapping;

struct files {
	struct map by_inode; /* hash to the first number with it; the rest are chained */
	VEC(struct file_number) numbers;
};

struct file_number {
	uint64_t dev, ino; /* as struct mapping has them */
	const char *path;  /* of the first mapping; "[vdso]" */
	uint32_t next;     /* of the same hash; 0: none */
};

void files_free(struct files *f);
/* The number of the mapping's file, given when it is new; 0 when there are too many. */
uint32_t files_number(struct files *f, const struct mapping *m);
/* Its entry; valid until the next call of files_number. */
const struct file_number *files_at(const struct files *f, uint32_t number);

#endif
