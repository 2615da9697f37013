/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "user/space/binaries.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analysis/base/alloc.h"
#include "analysis/base/diag.h"
#include "analysis/base/map.h"
#include "analysis/base/vec.h"
#include "user/space/mapped.h"
#include "user/space/opener.h"

enum {
	SHARE = 4,           /* a quarter of the files that may be open are for archives */
	MAX_FILES = 1 << 18, /* further files are named by their paths and not archived */
	MAX_NAME_BYTES = 32 << 20, /* likewise */
	FEW_NAMES = 1024,
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
	VEC(struct binary *) unused; /* forgotten ones; the arena cannot free them */
	struct arena arena; /* the memory of all struct binary */
	size_t nopen, max_open;
	bool share;
	size_t nshared; /* archives that are open */
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
	b->order = (struct archive_order){ .mode = mode, .room = &b->room, .open = opener_path };
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
		opener_close(&(*f)->fd);
		closep(&(*f)->archived);
	}
	if (b->expdir >= 0)
		close(b->expdir);
	vec_free(&b->files);
	vec_free(&b->unused);
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
	b->order.relief = fn;
	b->order.ctx = ctx;
}

static void close_file(struct binaries *b, struct binary *f)
{
	b->nopen -= f->fd >= 0;
	opener_close(&f->fd);
}

static void close_archive(struct binaries *b, struct binary *f)
{
	b->nshared -= f->archived >= 0;
	closep(&f->archived);
	f->archived = -1;
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

static void note_result(struct binary *f, int err)
{
	f->left = err == -EFBIG || err == -ENOSPC || err == -EDQUOT || err == -EINTR;
	f->unreadable = err < 0 && !f->left;
}

/*
 * Archive a file that an earlier segment has. If all these segments have been removed it was
 * copied, and later segments share the copy.
 */
static int archive_shared(struct binaries *b, struct binary *f, struct diag *d)
{
	int err = archive_again(b->expdir, f->archived, f->name, &b->order, d), copy;
	struct stat st;

	note_result(f, err);
	if (err || fstat(f->archived, &st) < 0 || st.st_nlink)
		return err;
	copy = archive_open(b->expdir, f->name);
	if (copy >= 0) {
		close(f->archived);
		f->archived = copy;
	}
	return 0;
}

static int archive_one(struct binaries *b, struct binary *f, struct diag *d)
{
	__cleanup(closep) int dir = -1;
	int err;

	if (f->archived >= 0)
		return archive_shared(b, f, d);
	if (f->fd < 0)
		return 0;
	dir = archive_dir(b->expdir, d);
	err = dir < 0 ? dir : archive_put(dir, f->fd, f->name, &b->order, d);
	note_result(f, err);
	if (err == -EINTR || (b->share && f->left))
		return err;
	if (!err && !f->unmapped)
		remember(b, f);
	if (b->share && !err && f->archived < 0 && !f->unmapped)
		return 0; /* the next segment archives it again */
	close_file(b, f);
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

/* It has another number if the earlier one was let go. */
static struct binary *mapped_again(struct binary *f, const struct mapping *m)
{
	f->unmapped = false;
	f->file = m->file;
	return f;
}

struct binary *binaries_get(struct binaries *b, pid_t pid, const struct mapping *m)
{
	uint64_t file = hash64(m->dev ^ hash64(m->ino)) ^ hash_bytes(m->path, strlen(m->path));
	struct binary *f;
	bool fresh;
	uint64_t *at;

	if (*m->path == '[')
		file = hash_bytes(m->path, strlen(m->path));
	if ((b->files.len >= MAX_FILES || b->strings.bytes >= MAX_NAME_BYTES) &&
	    !map_get(&b->by_file, file)) {
		b->nbeyond += b->keep;
		return NULL;
	}
	at = map_put(&b->by_file, file, &fresh);
	if (!fresh)
		return mapped_again((struct binary *)(uintptr_t)*at, m);
	f = b->unused.len ? b->unused.data[--b->unused.len] : arena_alloc(&b->arena, sizeof(*f));
	*f = (struct binary){ .name = name_of(b, file, pid, m), .fd = -1, .archived = -1,
			      .path = strtab_intern(&b->strings, m->path), .key = file,
			      .file = m->file };
	*at = (uintptr_t)f;
	vec_push(&b->files, f);
	keep_open(b, f, pid, m);
	return f;
}

/* --- files that are no longer mapped --- */

/*
 * While a file is open no other file gets its inode. Once it is closed, another file may have this
 * inode and this path.
 */
static void forget_key(struct binaries *b, const struct binary *f)
{
	uint64_t *at = map_get(&b->by_file, f->key);

	if (at && *at == (uintptr_t)f)
		map_remove(&b->by_file, f->key);
}

void binaries_unmapped(struct binaries *b, uint32_t file)
{
	vec_for_each(at, &b->files) {
		struct binary *f = *at;

		if (!file || f->file != file)
			continue;
		f->unmapped = true;
		f->file = 0;
		if (!f->wanted) {
			close_file(b, f);
			close_archive(b, f);
		}
		if (f->fd < 0)
			forget_key(b, f);
	}
}

static void forget(struct binaries *b, struct binary *f)
{
	uint32_t path = strtab_id(&b->strings, f->path);
	uint64_t *first = map_get(&b->by_path, path);

	close_file(b, f);
	close_archive(b, f);
	forget_key(b, f);
	if (first && *first == f->key)
		map_remove(&b->by_path, path);
	vec_push(&b->unused, f);
}

/* Most names are those of files that were forgotten. */
static void drop_names(struct binaries *b)
{
	struct strtab all = b->strings;
	struct map first = b->by_path;

	b->strings = (struct strtab){ 0 };
	b->by_path = (struct map){ 0 };
	vec_for_each(at, &b->files) {
		struct binary *f = *at;
		uint64_t *key = map_get(&first, strtab_id(&all, f->path));

		f->path = strtab_intern(&b->strings, f->path);
		f->name = strtab_intern(&b->strings, f->name);
		if (key)
			*map_put(&b->by_path, strtab_id(&b->strings, f->path), NULL) = *key;
	}
	map_free(&first);
	strtab_free(&all);
}

void binaries_next(struct binaries *b, int expdir, uint64_t room)
{
	size_t n = 0;

	if (b->keep) {
		close(b->expdir);
		b->expdir = fcntl(expdir, F_DUPFD_CLOEXEC, 0);
	}
	b->room = room;
	vec_for_each(at, &b->files) {
		struct binary *f = *at;

		f->wanted = f->left = false;
		if (f->unmapped)
			forget(b, f);
		else
			b->files.data[n++] = f;
	}
	b->files.len = n;
	if (b->strings.len > FEW_NAMES + 4 * n)
		drop_names(b);
}

size_t binaries_nopen(const struct binaries *b)
{
	return b->nopen + b->nshared;
}

/* --- archiving --- */

static bool ends_all(int err)
{
	return err == -ENOSPC || err == -EDQUOT || err == -EINTR;
}

int binaries_archive(struct binaries *b, uint64_t room, const volatile int *stop, struct diag *d)
{
	if (b->room > room)
		b->room = room;
	b->order.stop = stop;
	vec_for_each(f, &b->files)
		(*f)->left = (*f)->wanted && ((*f)->archived >= 0 || (*f)->fd >= 0);
	vec_for_each(f, &b->files) {
		int err = (*f)->wanted ? archive_one(b, *f, d) : 0;

		if (ends_all(err))
			return err;
		if ((*f)->wanted && b->order.relief)
			b->order.relief(b->order.ctx);
	}
	return 0;
}

static bool is_over(const struct binary *f)
{
	return f->wanted && f->unmapped && f->fd >= 0 && f->archived < 0 && !f->left;
}

void binaries_archive_unmapped(struct binaries *b, uint64_t room)
{
	if (b->room > room)
		b->room = room;
	b->order.stop = NULL;
	/* By number: files may be added meanwhile, by the function that is called between archives. */
	for (size_t i = 0; i < b->files.len; i++) {
		struct binary *f = b->files.data[i];

		if (!is_over(f))
			continue;
		if (ends_all(archive_one(b, f, NULL)))
			return;
		if (f->fd < 0)
			forget_key(b, f);
		if (b->order.relief)
			b->order.relief(b->order.ctx);
	}
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
		n += (*f)->wanted && (*f)->left;
	return n;
}
