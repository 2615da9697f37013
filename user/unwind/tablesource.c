/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "user/unwind/tablesource.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>

#include "analysis/base/alloc.h"
#include "analysis/base/map.h"
#include "user/unwind/tablecache.h"
#include "user/unwind/worker.h"

struct table_source {
	struct unwind_worker *worker, *trusted;
	struct table_cache *cache;
	struct map
		keys; /* by the key of the job: struct table_key *, where its table will be kept */
};

struct table_source *table_source_new(struct unwind_worker *worker, struct table_cache *cache,
				      struct unwind_worker *trusted)
{
	struct table_source *s = xcalloc(1, sizeof(*s));

	s->worker = worker;
	s->cache = cache;
	s->trusted = trusted;
	return s;
}

void table_source_free(struct table_source *s)
{
	if (!s)
		return;
	map_for_each (k, &s->keys)
		free((void *)(uintptr_t)k->value);
	map_free(&s->keys);
	unwind_worker_stop(s->trusted);
	table_cache_close(s->cache);
	free(s);
}

/* The trusted worker gets only files that have a key. */
static int submit_trusted(struct table_source *s, uint64_t key, int fd,
			  const struct table_key *kept)
{
	struct table_key *own;
	int err = unwind_worker_submit(s->trusted, key, fd, -1);

	if (err)
		return err;
	own = xmalloc(sizeof(*own));
	*own = *kept;
	*map_put(&s->keys, key, NULL) = (uintptr_t)own;
	return -EINPROGRESS;
}

int table_source_request(struct table_source *s, uint64_t key, int fd, const char *path,
			 struct unwind_table *ret)
{
	struct table_key kept;
	int err;

	if (s->cache && table_cache_key(s->cache, fd, path, &kept)) {
		if (table_cache_load(s->cache, &kept, ret))
			return 0;
		if (s->trusted && submit_trusted(s, key, fd, &kept) == -EINPROGRESS)
			return -EINPROGRESS;
	}
	if (!s->worker)
		return -ESHUTDOWN;
	err = unwind_worker_submit(s->worker, key, fd, -1);
	return err ? err : -EINPROGRESS;
}

void table_source_hurry(struct table_source *s, uint64_t key)
{
	if (map_get(&s->keys, key))
		unwind_worker_hurry(s->trusted, key);
	else if (s->worker)
		unwind_worker_hurry(s->worker, key);
}

static void keep(struct table_source *s, const struct unwind_result *r)
{
	uint64_t *at = map_get(&s->keys, r->key);
	struct table_key *key;

	if (!at)
		return;
	key = (struct table_key *)(uintptr_t)*at;
	if (!r->err)
		table_cache_save(s->cache, key, &r->table);
	free(key);
	map_remove(&s->keys, r->key);
}

bool table_source_next(struct table_source *s, struct unwind_result *ret)
{
	if (s->trusted && unwind_worker_next(s->trusted, ret)) {
		keep(s, ret);
		return true;
	}
	return s->worker && unwind_worker_next(s->worker, ret);
}

bool table_source_waits(const struct table_source *s)
{
	return (s->trusted && unwind_worker_waiting(s->trusted)) ||
	       (s->worker && unwind_worker_waiting(s->worker));
}

pid_t table_source_pid(const struct table_source *s)
{
	return s->trusted ? unwind_worker_pid(s->trusted) : 0;
}

/* A worker without jobs sends nothing. That it has ended is no event: nobody would read it. */
static struct pollfd poll_of(const struct unwind_worker *w)
{
	return (struct pollfd){ .events = POLLIN,
				.fd = w && unwind_worker_waiting(w) ? unwind_worker_fd(w) : -1 };
}

void table_source_poll(const struct table_source *s, struct pollfd *fds)
{
	fds[0] = poll_of(s->worker);
	fds[1] = poll_of(s->trusted);
}
