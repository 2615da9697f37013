/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The unwind tables of files, where BPF reads them. A table is built when a walk first lacks it,
 * by a process without privileges (user/unwind/worker.h), and shared by all processes that
 * map the file. The file stays open meanwhile, so that its inode is given to no other. Memory is
 * bounded: the tables that no walk needed for the longest time make room for new ones, and are
 * built again when they are needed.
 */
#ifndef USER_UNWIND_STORE_H
#define USER_UNWIND_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct mapping;
struct store;
struct unwind_maps;
struct unwind_worker;

struct store_counts {
	uint64_t built, failed; /* tables; failed: files that have none, or cannot be read */
	uint64_t evicted;
	uint64_t refused;       /* tables larger than all memory there is for them */
	uint64_t bytes;         /* of the tables there are */
};

/* Both are borrowed; without a worker no file has a table. */
struct store *store_new(struct unwind_maps *maps, struct unwind_worker *worker);
void store_free(struct store *s); /* NULL: nothing */

/* The table of the mapping's file is needed; `pid` has it mapped. Asked for as often as one likes. */
void store_want(struct store *s, pid_t pid, const struct mapping *m);
/* Take in what has been built since; true: there is some. */
bool store_poll(struct store *s, uint64_t now_ns);
bool store_is_half_full(const struct store *s);
/* Tables are being built. */
bool store_waits(const struct store *s);
/* 8 bytes of the file; for struct walk_source, ctx is the store. */
bool store_code(void *s, uint32_t file, uint64_t offset, uint64_t *ret);
void store_counts(const struct store *s, struct store_counts *ret);

#endif
