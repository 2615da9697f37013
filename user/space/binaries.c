/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "user/space/binaries.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "analysis/base/alloc.h"
#include "analysis/base/diag.h"
#include "analysis/base/map.h"
#include "analysis/base/vec.h"
#include "user/space/mapped.h"

enum {
	SHARE = 4,           /* a quarter of the files that may be open are for archives */
	MAX_FILES = 1 << 18, /* further files are named by their paths and not archived */
};

struct binaries {
	bool keep;
	struct archive_order order;
	uint64_t room; /* bytes that archives may still take */
	int expdir;
	struct strtab strings;
	struct map by_file; /* hash of path, device and inode to struct binary * */
	struct map by_path; /* path (its id) to the first file seen under it */
	VEC(struct binary *) files;
	struct arena arena; /* the memory of all struct binary */
	size_t nopen, max_open;
	bool share;
	size_t nshared; /* archives that are open */
	void (*relief)(void *ctx); /* NULL: none */
	void *relief_ctx;
	size_t nbeyond; /* mappings of files beyond MAX_FILES */
};

static size_t share_of_files(void)
{
	struct rlimit l;

	return getrlimit(RLIMIT_NOFILE, &l) < 0 ? 0 : l.rlim_cur / SHARE;
}

struct binaries *binaries_new(bool keep, enum archive_mode mode, uint64_t room, int expdir)
{
	struct binaries *b = xcalloc(1, sizeof(*b));

	b->keep = keep;
	b->order = (struct archive_order){ .mode = mode, .room = &b->room };
	b->room = room;
	b->max_open = share_of_files();
	b->expdir = keep ? fcntl(expdir, F_DUPFD_CLOEXEC, 0) : -1;
	return b;
}

void binaries_free(struct binaries *b)
{
	if (!b)
		return;
	vec_for_each(f, &b->files) {
		closep(&(*f)->fd);
		closep(&(*f)->archived);
	}
	if (b->expdir >= 0)
		close(b->expdir);
	vec_free(&b->files);
	arena_free(&b->arena);
	map_free(&b->by_file);
	map_free(&b->by_path);
	strtab_free(&b->strings);
	free(b);
}

void binaries_share(struct binaries *b)
{
	b->share = b->keep;
}

void binaries_set_relief(struct binaries *b, void (*fn)(void *ctx), void *ctx)
{
	b->relief = fn;
	b->relief_ctx = ctx;
}

void binaries_next(struct binaries *b, int expdir, uint64_t room)
{
	if (!b->keep)
		return;
	close(b->expdir);
	b->expdir = fcntl(expdir, F_DUPFD_CLOEXEC, 0);
	b->room = room;
	vec_for_each(f, &b->files)
		(*f)->wanted = (*f)->left = false;
}

/* Keep the archive open: the file itself may be gone by the time the next segment needs it. */
static void remember(struct binaries *b, struct binary *f)
{
	int fd = b->share && b->nshared < b->max_open ? archive_open(b->expdir, f->name) : -1;

	if (fd < 0)
		return;
	f->archived = fd;
	b->nshared++;
}

static int archive_one(struct binaries *b, struct binary *f, struct diag *d)
{
	__cleanup(closep) int dir = -1;
	int err;

	if (f->archived >= 0)
		return archive_again(b->expdir, f->archived, f->name, d);
	if (f->fd < 0)
		return 0;
	dir = archive_dir(b->expdir, d);
	err = dir < 0 ? dir : archive_put(dir, f->fd, f->name, &b->order, d);
	if (err == -EINTR)
		return err;
	f->left = err == -EFBIG;
	f->unreadable = err < 0 && !f->left;
	if (b->share && err == -EFBIG)
		return err;
	if (!err)
		remember(b, f);
	if (b->share && !err && f->archived < 0)
		return 0; /* the next segment archives it again */
	close(f->fd);
	f->fd = -1;
	b->nopen--;
	return err;
}

/*
 * Files beyond the limit are not archived. Archiving them at once would stop the recording
 * meanwhile: an archive may take a second, and a hostile program may map thousands of files.
 */
static void keep_open(struct binaries *b, struct binary *f, pid_t pid, const struct mapping *m)
{
	f->fd = b->keep && b->nopen < b->max_open ? mapped_open(pid, m) : -1;
	if (f->fd >= 0)
		b->nopen++;
	else
		f->unreadable = b->keep;
}

static const char *name_of(struct binaries *b, uint64_t file, pid_t pid, const struct mapping *m)
{
	uint32_t path = strtab_id(&b->strings, m->path);
	bool fresh;
	uint64_t *first = map_put(&b->by_path, path, &fresh);
	char longer[64 + 4096];

	if (fresh)
		*first = file;
	if (*first == file)
		return b->strings.strings[path];
	snprintf(longer, sizeof(longer), "/proc/%d/root%s", pid, m->path);
	return strtab_intern(&b->strings, longer);
}

struct binary *binaries_get(struct binaries *b, pid_t pid, const struct mapping *m)
{
	uint64_t file = hash64(m->dev ^ hash64(m->ino)) ^ hash_bytes(m->path, strlen(m->path));
	struct binary *f;
	bool fresh;
	uint64_t *at;

	if (*m->path == '[')
		file = hash_bytes(m->path, strlen(m->path));
	if (b->files.len >= MAX_FILES && !map_get(&b->by_file, file)) {
		b->nbeyond += b->keep;
		return NULL;
	}
	at = map_put(&b->by_file, file, &fresh);
	if (!fresh)
		return (struct binary *)(uintptr_t)*at;
	f = arena_alloc(&b->arena, sizeof(*f));
	*f = (struct binary){ .name = name_of(b, file, pid, m), .fd = -1, .archived = -1 };
	*at = (uintptr_t)f;
	vec_push(&b->files, f);
	keep_open(b, f, pid, m);
	return f;
}

static bool ends_all(int err)
{
	return err == -ENOSPC || err == -EDQUOT || err == -EINTR;
}

int binaries_archive(struct binaries *b, uint64_t room, const volatile int *stop, struct diag *d)
{
	if (b->room > room)
		b->room = room;
	b->order.stop = stop;
	vec_for_each(f, &b->files) {
		int err = (*f)->wanted ? archive_one(b, *f, d) : 0;

		if (ends_all(err))
			return err;
		if ((*f)->wanted && b->relief)
			b->relief(b->relief_ctx);
	}
	return 0;
}

size_t binaries_unreadable(const struct binaries *b)
{
	size_t n = b->nbeyond;

	vec_for_each(f, &b->files)
		n += (*f)->wanted && (*f)->unreadable;
	return n;
}

size_t binaries_left(const struct binaries *b)
{
	size_t n = 0;

	vec_for_each(f, &b->files)
		n += (*f)->wanted && ((*f)->left || (!b->share && (*f)->fd >= 0));
	return n;
}
