/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Counts the copies of files in memory that the opener made, and shares those of the same file. */
#ifndef USER_SPACE_COPIES_H
#define USER_SPACE_COPIES_H

#include <stdint.h>

#include "analysis/base/vec.h"

struct copy {
	uint64_t dev, ino; /* of the file; 0, 0: not to be shared */
	uint64_t id;       /* of the copy */
	uint64_t size;
	unsigned refs;     /* descriptors that copies_open gave away */
	int fd;
};

/* Zeroed: there are none. */
struct copies {
	VEC(struct copy) all;
	uint64_t bytes;
};

void copies_free(struct copies *c);
/* A new descriptor of this file's copy; -ENOENT: there is none. */
int copies_find(struct copies *c, uint64_t dev, uint64_t ino);
/* Takes ownership of a new copy. Returns a descriptor of it, or -errno. */
int copies_add(struct copies *c, int fd, uint64_t dev, uint64_t ino, uint64_t size);
/* Close any descriptor. The copy is gone with its last one. */
void copies_close(struct copies *c, int fd);

#endif
