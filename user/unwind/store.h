/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Keeps the unwind tables of files where BPF reads them. A table is built when a walk first
 * needs it, by a process without privileges (user/unwind/worker.h), and shared by all
 * processes that map the file. The file stays open meanwhile, so that its inode is not reused.
 * Memory is bounded: the least recently used tables make room for new ones, and are built
 * again when needed. A new table waits until no walk can still read what was there before.
 */
#ifndef USER_UNWIND_STORE_H
#define USER_UNWIND_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct mapping;
struct store;
struct table_source;
struct unwind_maps;

enum { STORE_PYTHONS = 8, STORE_GOS = 8 };

struct store_delays {
	uint64_t n;
	uint64_t slow; /* ready later than STORE_PROMPT_NS after they were needed */
	uint64_t sum_ns, longest_ns; /* of the times from the first stack that needed it */
};

struct store_counts {
	uint64_t built, failed; /* tables; failed: files that have none, or cannot be read */
	uint64_t kept;          /* of those built: by an earlier recording, see tablecache.h */
	uint64_t evicted;
	uint64_t refused;       /* tables larger than the memory for all tables */
	uint64_t bytes;         /* of the tables there are */
	/*
	 * Tables that a stack needed: those needed in the first second after the first one, when all
	 * programs that run already need theirs, and later ones.
	 */
	struct store_delays first, later;
	/* The first releases of Python that are not known, as er_unwind_file.python; 0: no more. */
	uint32_t strange_pythons[STORE_PYTHONS];
	/* The first versions of Go whose goroutines have no numbers, as er_go_places.maker; 0: no more. */
	uint16_t strange_gos[STORE_GOS];
};

#define STORE_PROMPT_NS 50000000ULL

/* Both are borrowed. All tables have `limit` words. */
struct store *store_new(struct unwind_maps *maps, struct table_source *source, uint32_t limit);
void store_free(struct store *s); /* NULL: nothing */

/*
 * Request the table of the mapping's file, which process `pid` has mapped. May be called at any
 * rate.
 * needed_ns: the time of the stack that needs it; such tables are built first. 0: none needs it
 * yet.
 */
void store_want(struct store *s, pid_t pid, const struct mapping *m, uint64_t needed_ns);
/*
 * No process maps the file any more: drop its table and close it, and forget it. False: its table
 * is being built, so this has to wait.
 */
bool store_forget(struct store *s, uint32_t file);
/* Publish tables that were built meanwhile. */
void store_poll(struct store *s, uint64_t now_ns);
bool store_is_half_full(const struct store *s);
/* Whether tables are being built. */
bool store_waits(const struct store *s);
/* Reads 8 bytes of the file, for struct walk_source. ctx is the store. */
bool store_code(void *s, uint32_t file, uint64_t offset, uint64_t *ret);
void store_counts(const struct store *s, struct store_counts *ret);
/* Count from now on; `bytes`, `strange_pythons` and `strange_gos` stay. */
void store_restart_counts(struct store *s);

#endif
