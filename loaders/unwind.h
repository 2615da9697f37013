/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The maps that BPF programs walk user stacks with: unwind tables by file (bpf/unwind.h) and
 * executable ranges by process (bpf/frame.h). They are created once and bound into every BPF
 * object, like the rings. user/unwind/ decides what is in them. The arrays are changed by plain
 * stores; a program may read them at any moment.
 */
#ifndef LOADERS_UNWIND_H
#define LOADERS_UNWIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <linux/types.h>

#include "bpf/frame.h"
#include "bpf/hotspot.h"
#include "bpf/unwind.h"

struct bpf_object;

enum { UNWIND_MAX_CHUNKS = 12 }; /* 2 MiB each; with the other maps at most 44 MB */

struct unwind_maps {
	int files_fd, ranges_fd, chunks_fd, spaces_fd, inodes_fd, codes_fd, ncodes_fd, hotspots_fd,
		awaited_fd;
	struct er_unwind_file *files;
	struct er_range *ranges;
	uint32_t *chunks[UNWIND_MAX_CHUNKS]; /* NULL: not created yet */
	bool bare;                           /* there is no BPF, and no descriptor */
};

/* Returns 0, or -errno without a report. Release *ret with unwind_maps_close. */
int unwind_maps_open(struct unwind_maps **ret);
/* The same in memory, without BPF: for walks in user space. */
int unwind_maps_open_bare(struct unwind_maps **ret);
void unwind_maps_close(struct unwind_maps *m);
/* Make an opened, not yet loaded object use these maps. Returns 0, or -errno without a report. */
int unwind_maps_bind(const struct unwind_maps *m, struct bpf_object *obj);

/* An array of ER_MAX_FILES, by file number. */
struct er_unwind_file *unwind_maps_files(const struct unwind_maps *m);
/* An array of ER_MAX_RANGES. */
struct er_range *unwind_maps_ranges(const struct unwind_maps *m);
/*
 * The words of chunk `slot`, which is below UNWIND_MAX_CHUNKS. The first call for a slot
 * creates the chunk (PRIVILEGE_MAPS). Returns NULL with errno on failure.
 */
uint32_t *unwind_maps_chunk(struct unwind_maps *m, uint32_t slot);
/* The word `at` of the table space; NULL: its chunk does not exist. */
static inline const uint32_t *unwind_maps_word(const struct unwind_maps *m, uint32_t at)
{
	uint32_t slot = at / ER_CHUNK_WORDS;

	return slot < UNWIND_MAX_CHUNKS && m->chunks[slot] ? m->chunks[slot] + at % ER_CHUNK_WORDS :
							     NULL;
}

/* Publish the address space under the key; NULL removes it. Returns 0 or -errno. */
int unwind_maps_space(struct unwind_maps *m, const struct er_space_key *key,
		      const struct er_space *space);
/* Publish the Java VM of the process with the key; NULL removes it. Returns 0 or -errno. */
int unwind_maps_hotspot(struct unwind_maps *m, const struct er_space_key *key,
			const struct er_hotspot *vm);
/* From now on stacks of the process with code of its Java VM are copied, or no longer. Returns 0 or -errno. */
int unwind_maps_await(struct unwind_maps *m, uint32_t pid, bool on);
/* Publish a file's number by its inode; 0 removes it. Returns 0 or -errno. */
int unwind_maps_inode(struct unwind_maps *m, const struct er_inode *inode, uint32_t file);

#endif
