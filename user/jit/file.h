/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Follows the jitdump or the perf map of one process while its runtime appends to it or writes it
 * anew. Says what is to be read next; the worker reads it. The file stays open, so it can be read to its end when
 * the process is gone.
 */
#ifndef USER_JIT_FILE_H
#define USER_JIT_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "user/jit/batch.h"
#include "user/jit/place.h"

struct image;

enum {
	JIT_FILE_BYTES = 64 << 20, /* read of one process's files, in all */
	JIT_FILE_LAST = 32,
};

struct jit_file {
	struct jit_place place;
	enum jit_format format;
	int fd;          /* -1: there is no file, or it may not be read */
	int err;         /* why it may not be read, -errno; 0: it may, or there is none */
	uint64_t offset; /* the next byte to read */
	uint64_t size;   /* when it was looked at last */
	uint64_t taken;  /* bytes read so far */
	char last[JIT_FILE_LAST]; /* the bytes before the offset */
	unsigned nlast;
};

/* Open the place of the process. If that fails there will be no map. Free it with jit_file_close. */
void jit_file_open(struct jit_file *f, pid_t pid);
void jit_file_close(struct jit_file *f);
/*
 * Read the jitdump of the image, if it has one and no other file had anything yet. It is better than a
 * perf map: it has times and code.
 */
void jit_file_prefer_dump(struct jit_file *f, const struct image *im);
/*
 * Look at the file. True: it has grown, or was written anew, and is to be read from the offset on.
 * False also if the process's map is too long, which sets err to -EFBIG.
 */
bool jit_file_look(struct jit_file *f);
/* Read code of a function that the file has at this offset. False: that is not possible. */
bool jit_file_code(const struct jit_file *f, uint64_t offset, void *to, size_t n);
/* So many bytes were read and used. True: more are there. */
bool jit_file_advance(struct jit_file *f, size_t n);
/* Do not read it any more. */
void jit_file_give_up(struct jit_file *f, int err);

#endif
