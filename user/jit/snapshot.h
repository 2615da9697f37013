/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads a process's memory as far as it was copied (user/space/memory.h). What is missing is noted,
 * so that it can be copied and the parser can begin anew. Every byte is hostile.
 */
#ifndef USER_JIT_SNAPSHOT_H
#define USER_JIT_SNAPSHOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "user/space/memory.h"

enum {
	SNAPSHOT_UNITS = 8192,   /* the most that a snapshot may have */
	SNAPSHOT_SLOTS = 1 << 15,
};

struct snapshot {
	const struct memory_unit *units; /* borrowed */
	size_t n;
	bool lacking; /* a read failed because something was not copied; the caller resets it */
	uint64_t wanted[MEMORY_UNITS_MAX]; /* units that are missing, each once */
	size_t nwanted;
	uint32_t slots[SNAPSHOT_SLOTS]; /* hash table: index + 1 of a unit, or of a wanted one behind them */
};

/* NULL: too many units. Free it with free(). */
struct snapshot *snapshot_new(const struct memory_unit *units, size_t n);

/*
 * Each returns true if all of it was copied. False: it cannot be read, or, with `lacking`, it was
 * not copied yet.
 */
bool snapshot_read(struct snapshot *s, uint64_t address, void *to, size_t n);
bool snapshot_word(struct snapshot *s, uint64_t address, uint64_t *ret);
/* A number of 1, 2, 4 or 8 bytes. */
bool snapshot_number(struct snapshot *s, uint64_t address, size_t width, uint64_t *ret);
/* A text with its NUL, in `room` bytes at most; a longer one is cut. */
bool snapshot_text(struct snapshot *s, uint64_t address, char *to, size_t room);

/* Note these bytes as wanted if they are missing: they will be read soon. */
void snapshot_expect(struct snapshot *s, uint64_t address, size_t n);

#endif
