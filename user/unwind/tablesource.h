/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where unwind tables come from: from disk (tablecache.h), or from a worker that builds them
 * (worker.h).
 *
 * A hostile file may take over the worker that parses it. Tables for the disk therefore come from a
 * worker of their own, which is never given a file that the cache does not accept.
 */
#ifndef USER_UNWIND_TABLESOURCE_H
#define USER_UNWIND_TABLESOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct pollfd;
struct table_cache;
struct table_source;
struct unwind_result;
struct unwind_table;
struct unwind_worker;

enum { TABLE_SOURCE_WORKERS = 2 };

/*
 * `worker` is borrowed; NULL: there are no tables. The source owns the cache (NULL: no table is
 * kept) and the worker that builds the tables that are kept (NULL: they are only read).
 */
struct table_source *table_source_new(struct unwind_worker *worker, struct table_cache *cache,
				      struct unwind_worker *trusted);
void table_source_free(struct table_source *s); /* NULL: nothing */

/*
 * Request the table of the file that is open as fd and mapped by this path. Returns 0 if *ret has
 * it, which the caller frees by unwind_table_free; -EINPROGRESS if table_source_next will give it,
 * by this key; or -errno as unwind_worker_submit.
 */
int table_source_request(struct table_source *s, uint64_t key, int fd, const char *path,
			 struct unwind_table *ret);
/* As unwind_worker_hurry, unwind_worker_next and unwind_worker_waiting, of both workers. */
void table_source_hurry(struct table_source *s, uint64_t key);
bool table_source_next(struct table_source *s, struct unwind_result *ret);
bool table_source_waits(const struct table_source *s);
/* The process of the worker for tables that are kept, as unwind_worker_pid. 0: there is none. */
pid_t table_source_pid(const struct table_source *s);
/*
 * TABLE_SOURCE_WORKERS descriptors that poll readable when table_source_next may have a result; -1 of a worker
 * without jobs. Ask again after each request.
 */
void table_source_poll(const struct table_source *s, struct pollfd *fds);

#endif
