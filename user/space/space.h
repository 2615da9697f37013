/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Address spaces: what is mapped where, and what a new mapping does to older ones. */
#ifndef USER_SPACE_H
#define USER_SPACE_H

#include "user/space/procmap.h"

/*
 * space_new and space_share each return a reference; space_put gives it back, and the last one
 * frees the space. *total counts the mappings of all spaces made with it and must outlive them.
 */
struct space *space_new(size_t *total);
struct space *space_share(struct space *sp);
void space_put(struct space *sp);

/* True if no mapping can be added: it has too many, or all spaces together have. */
bool space_is_full(const struct space *sp);
/* True if the path is a file that may have symbols: not JIT code, shared memory or a device. */
bool space_wants(const char *path);
/*
 * Add a mapping to the image's space, which is no longer shared afterwards. Removes the mappings
 * that it overlays, and calls the hooks. False if there is no room.
 */
bool space_add(struct image *im, const struct mapping *m, const struct procmap_hooks *h);
/*
 * Memory without symbols was mapped at the place of m: remove the mappings that it overlays. If it
 * has no file it is generated code. False if a mapping was cut in two and there is no room for its
 * second part.
 */
bool space_clear(struct image *im, const struct mapping *m, const char *path,
		 const struct procmap_hooks *h);
/* Whether generated code was mapped there at any time. Neighbours less than 1 MiB apart are one. */
bool space_generated(const struct space *sp, uint64_t addr);

enum { SPACE_OLD = 64 };

/*
 * What was mapped at that time: the mapping of an address, or the newest mapping of a file's
 * offset. NULL: none is known. Valid until the space changes.
 */
const struct mapping *space_at(const struct space *sp, uint64_t addr, uint64_t time_ns);
const struct mapping *space_file_at(const struct space *sp, uint32_t file, uint64_t offset,
				    uint64_t time_ns);
/* Whether a mapping of this offset of the file had been removed by that time. */
bool space_removed(const struct space *sp, uint32_t file, uint64_t offset, uint64_t time_ns);
/*
 * How many changes of the mappings had happened by that time. 0 if no mapping was ever removed,
 * because then each file has one place at all times.
 */
uint64_t space_age(const struct space *sp, uint64_t time_ns);

#endif
