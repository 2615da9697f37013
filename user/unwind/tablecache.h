/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Unwind tables that are kept on disk from one recording to the next. Only root's recordings use
 * them.
 *
 * A wrong table in this directory would make the stacks of all later recordings wrong. So a file
 * has an entry only if nobody but root can have written it: it is below /usr, belongs to root, and
 * others may not write it (table_cache_key). What reads such files must have read no others
 * (tablesource.h).
 *
 * The key is the file's build id, which the linker makes from the contents, with the size and the
 * time of the last change, because tools that change a program keep its build id. An entry has the
 * build id of the program that wrote it and a checksum; an entry of another program, or a damaged
 * one, does not exist.
 */
#ifndef USER_UNWIND_TABLECACHE_H
#define USER_UNWIND_TABLECACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct table_cache;
struct unwind_table;

#define TABLE_CACHE_BYTES (256ULL << 20) /* of all entries; the least recently used ones go */

struct table_key {
	char name[128]; /* of the entry */
};

/*
 * Open the directory, and create it if only its last part is missing. Returns NULL with a reason in
 * *why, a static string: the caller is not root, somebody else may write the directory, and so on.
 */
struct table_cache *table_cache_open(const char *dir, uint64_t limit, const char **why);
void table_cache_close(struct table_cache *c); /* NULL: nothing */

/* The key of the file that is open as fd and mapped by this path. False: it may have no entry. */
bool table_cache_key(const struct table_cache *c, int fd, const char *path, struct table_key *ret);
/* A table, which the caller frees by unwind_table_free. False: there is none. */
bool table_cache_load(struct table_cache *c, const struct table_key *key, struct unwind_table *ret);
/* Keep the table, and drop old ones beyond the limit. If that fails, the table is built again next
 * time. */
void table_cache_save(struct table_cache *c, const struct table_key *key,
		      const struct unwind_table *t);

#endif
