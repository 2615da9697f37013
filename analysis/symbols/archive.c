/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An archive is written under a temporary name and renamed when it is complete. Its
 * name derives from a path chosen by other users, so no symbolic link is followed,
 * except those that archive_link makes, and nothing is written outside archives/.
 */
#include "analysis/symbols/archive.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analysis/base/alloc.h"
#include "analysis/base/copy.h"
#include "analysis/base/diag.h"
#include "analysis/symbols/symfile.h"
#include "analysis/symbols/symtab.h"

enum {
	HASH_CHARS = 11,
	BASENAME_MAX_LEN = 255 - 1 - HASH_CHARS,	  /* leaves room for "_HASH" */
	BASENAME_CUT = BASENAME_MAX_LEN - 1 - HASH_CHARS, /* leaves room for "_HASH" twice */
};

static const char dirname[] = "archives";

/* CRC-64, polynomial 0x807, most significant bit first, no inversion. */
static uint64_t crc64(const char *p, size_t n)
{
	uint64_t crc = 0;

	for (size_t i = 0; i < n; i++) {
		crc ^= (uint64_t)(unsigned char)p[i] << 56;
		for (int bit = 0; bit < 8; bit++)
			crc = crc << 1 ^ (crc >> 63 ? 0x807 : 0);
	}
	return crc;
}

static void hash(char out[HASH_CHARS + 1], const char *p, size_t n)
{
	static const char digits[] =
		"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_";
	uint64_t crc = crc64(p, n);

	for (int i = 0; i < HASH_CHARS; i++, crc >>= 6)
		out[i] = digits[crc & 63];
	out[HASH_CHARS] = '\0';
}

char *archive_name(const char *path)
{
	const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
	char dir[HASH_CHARS + 1], whole[HASH_CHARS + 1];
	size_t len = strlen(base);

	if (slash)
		hash(dir, path, base - path);
	else
		hash(dir, "./", 2);
	if (len <= BASENAME_MAX_LEN)
		return xasprintf("%s_%s", base, dir);
	hash(whole, base, len);
	return xasprintf("%.*s_%s_%s", BASENAME_CUT, base, dir, whole);
}

static int open_dir(int expdir)
{
	int fd = openat(expdir, dirname, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

/* Open the target of a link made by archive_link; -ELOOP for any other link. */
static int open_linked(int dir, const char *name, int flags)
{
	char target[PATH_MAX];
	ssize_t n = readlinkat(dir, name, target, sizeof(target) - 1);
	const char *slash;
	int fd;

	if (n < 0)
		return -errno;
	target[n] = '\0';
	slash = strrchr(target, '/');
	if (target[0] != '/' || strcmp(slash + 1, name))
		return -ELOOP;
	fd = open(target, flags);
	return fd < 0 ? -errno : fd;
}

int archive_open(int expdir, const char *path)
{
	const int flags = O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
	__cleanup(freep) char *name = archive_name(path);
	__cleanup(closep) int dir = open_dir(expdir);
	struct stat st;
	int fd;

	if (dir < 0)
		return dir;
	fd = openat(dir, name, flags);
	if (fd < 0 && errno == ELOOP)
		fd = open_linked(dir, name, flags);
	else if (fd < 0)
		fd = -errno;
	if (fd < 0 || (fstat(fd, &st) == 0 && S_ISREG(st.st_mode)))
		return fd;
	close(fd);
	return -EINVAL;
}

static int copy_file(int in, int out, const char *path, const struct archive_order *o,
		     struct diag *d)
{
	const struct copy_order order = { .room = o->room, .stop = o->stop, .relief = o->relief,
					  .ctx = o->ctx };
	int err = fd_copy(in, out, &order);

	return err ? diag_errno(d, -err, "%s: cannot copy it into archives/", path) : 0;
}

static int write_symbols(int in, int out, const char *path, const struct archive_order *o,
			 struct diag *d)
{
	const struct symtab_opts opts = { .path = path, .open = o->open };
	int err = symfile_write(in, out, &opts, d);
	struct stat st;

	if (err || !o->room || fstat(out, &st) < 0)
		return err;
	if ((uint64_t)st.st_size > *o->room)
		return diag_errno(d, EFBIG, "%s: cannot put its symbols into archives/", path);
	*o->room -= st.st_size;
	return 0;
}

/* Write the archive. On an error *room is restored. */
static int fill(int in, int out, const char *path, const struct archive_order *o, struct diag *d)
{
	uint64_t room = o->room ? *o->room : 0;
	int err = o->stop && *o->stop ? -EINTR : o->mode == ARCHIVE_COPY ?
					copy_file(in, out, path, o, d) :
					write_symbols(in, out, path, o, d);

	if (err && o->room)
		*o->room = room;
	return err;
}

/* Create the temporary file; removes one left by a killed process that had our pid. */
static int open_temporary(int dir, const char *name)
{
	const int flags = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
	int fd = openat(dir, name, flags, 0600);

	if (fd < 0 && errno == EEXIST && unlinkat(dir, name, 0) == 0)
		fd = openat(dir, name, flags, 0600);
	return fd < 0 ? -errno : fd;
}

static int add_file(int dir, int fd, const char *path, const char *name,
		    const struct archive_order *o, struct diag *d)
{
	__cleanup(freep) char *temporary = xasprintf(".new.%ld", (long)gettid());
	__cleanup(closep) int out = open_temporary(dir, temporary);
	int err;

	if (out < 0)
		return diag_errno(d, -out, "archives/%s: cannot create", name);
	err = fill(fd, out, path, o, d);
	if (!err && renameat(dir, temporary, dir, name) < 0)
		err = diag_errno(d, errno, "archives/%s: cannot create", name);
	if (err)
		unlinkat(dir, temporary, 0);
	return err;
}

int archive_dir(int expdir, struct diag *d)
{
	int dir;

	if (mkdirat(expdir, dirname, 0700) < 0 && errno != EEXIST)
		return diag_errno(d, errno, "%s: cannot create", dirname);
	dir = open_dir(expdir);
	return dir < 0 ? diag_errno(d, -dir, "%s: cannot open", dirname) : dir;
}

int archive_put(int dir, int fd, const char *path, const struct archive_order *o, struct diag *d)
{
	__cleanup(freep) char *name = archive_name(path);
	struct stat st, have;

	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		return diag_errno(d, EINVAL, "%s: not a regular file", path);
	if (fstatat(dir, name, &have, AT_SYMLINK_NOFOLLOW) == 0 &&
	    (o->old == ARCHIVE_KEEP || (o->old == ARCHIVE_UPGRADE && have.st_size >= st.st_size)))
		return 0;
	return add_file(dir, fd, path, name, o, d);
}

int archive_again(int expdir, int fd, const char *path, const struct archive_order *o,
		  struct diag *d)
{
	const struct archive_order copy = { .mode = ARCHIVE_COPY, .old = ARCHIVE_KEEP,
					    .relief = o->relief, .ctx = o->ctx };
	__cleanup(closep) int dir = archive_dir(expdir, d);
	__cleanup(freep) char *name = archive_name(path);
	char self[64];

	if (dir < 0)
		return dir;
	snprintf(self, sizeof(self), "/proc/self/fd/%d", fd);
	if (linkat(AT_FDCWD, self, dir, name, AT_SYMLINK_FOLLOW) == 0 || errno == EEXIST)
		return 0;
	if (lseek(fd, 0, SEEK_SET) < 0)
		return diag_errno(d, errno, "archives/%s: cannot create", name);
	return archive_put(dir, fd, path, &copy, d);
}

int archive_link(int dir, const char *common, const char *path, struct diag *d)
{
	__cleanup(freep) char *name = archive_name(path);
	__cleanup(freep) char *target = xasprintf("%s/%s", common, name);

	if (unlinkat(dir, name, 0) < 0 && errno != ENOENT)
		return diag_errno(d, errno, "archives/%s: cannot replace", name);
	if (symlinkat(target, dir, name) < 0)
		return diag_errno(d, errno, "archives/%s: cannot create", name);
	return 0;
}

int archive_add(int expdir, int fd, const char *path, enum archive_mode mode, struct diag *d)
{
	const struct archive_order o = { .mode = mode, .old = ARCHIVE_KEEP };
	__cleanup(closep) int dir = archive_dir(expdir, d);

	return dir < 0 ? dir : archive_put(dir, fd, path, &o, d);
}
