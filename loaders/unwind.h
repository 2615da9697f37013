/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The maps behind the walk of user stacks, on the user's side: tables by file (bpf/unwind.h),
 * executable ranges by process (bpf/frame.h). Made once and bound into every BPF object, like
 * the rings. What they hold is the business of user/unwind/. Plain stores change the arrays;
 * a program may read them at any moment.
 */
#ifndef LOADERS_UNWIND_H
#define LOADERS_UNWIND_H

#include <stddef.h>
#include <stdint.h>

#include <linux/types.h>

#include "bpf/frame.h"
#include "bpf/unwind.h"

struct bpf_object;

enum { UNWIND_MAX_CHUNKS = 40 }; /* MiB: together with all else 60 MB at most */

struct unwind_maps {
	int files_fd, ranges_fd, chunks_fd, spaces_fd, inodes_fd;
	struct er_unwind_file *files;
	struct er_range *ranges;
	uint32_t *chunks[UNWIND_MAX_CHUNKS]; /* NULL: not made yet */
};

/* 0 or -errno, not reported. */
int unwind_maps_open(struct unwind_maps **ret);
void unwind_maps_close(struct unwind_maps *m);
/* Make the object, opened and not yet loaded, use these maps; -errno without a report. */
int unwind_maps_bind(const struct unwind_maps *m, struct bpf_object *obj);

/* ER_MAX_FILES of them, by file number. */
struct er_unwind_file *unwind_maps_files(const struct unwind_maps *m);
/* ER_MAX_RANGES of them. */
struct er_range *unwind_maps_ranges(const struct unwind_maps *m);
/*
 * The words of chunk `slot`, below UNWIND_MAX_CHUNKS; made when first asked for
 * (PRIVILEGE_MAPS). NULL, and errno.
 */
uint32_t *unwind_maps_chunk(struct unwind_maps *m, uint32_t slot);
/* Word `at` of the table space; NULL: it lies in no chunk. */
static inline const uint32_t *unwind_maps_word(const struct unwind_maps *m, uint32_t at)
{
	uint32_t slot = at / ER_CHUNK_WORDS;

	return slot < UNWIND_MAX_CHUNKS && m->chunks[slot] ? m->chunks[slot] + at % ER_CHUNK_WORDS :
							     NULL;
}

/* Publish the space under the key, or with NULL take it back. 0 or -errno. */
int unwind_maps_space(struct unwind_maps *m, const struct er_space_key *key,
		      const struct er_space *space);
/* Publish the number of a file by its inode; 0 takes it back. 0 or -errno. */
int unwind_maps_inode(struct unwind_maps *m, const struct er_inode *inode, uint32_t file);

#endif
