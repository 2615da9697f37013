/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/export/outfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "analysis/base/alloc.h"
#include "analysis/base/copy.h"
#include "analysis/base/diag.h"

/* Level 6 took half of the time of an export and saved 9 to 14 % of the size. */
enum { GZIP_WINDOW = 15 + 16 /* zlib: with a gzip header */, GZIP_LEVEL = 2, CHUNK = 1 << 16 };

static int open_gzip(struct outfile *o)
{
	o->gz = xcalloc(1, sizeof(*o->gz));
	return deflateInit2(o->gz, GZIP_LEVEL, Z_DEFLATED, GZIP_WINDOW, 8, Z_DEFAULT_STRATEGY) ==
	       Z_OK ? 0 : -1;
}

/* The permissions of a program's new file. */
static mode_t new_mode(void)
{
	mode_t mask = umask(0);

	umask(mask);
	return 0666 & ~mask;
}

/*
 * An existing file is replaced if the kernel lets us open it for writing: it refuses links of
 * other users in /tmp (fs.protected_symlinks), which realpath follows. A symbolic link stays:
 * the file that it leads to is replaced. 0 or -errno.
 */
static int resolve(struct outfile *o)
{
	__cleanup(closep) int fd = open(o->path, O_WRONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	struct stat opened, found;
	char *final;

	if (fd < 0)
		return errno == ENOENT ? 0 : -errno;
	final = realpath(o->path, NULL);
	if (!final)
		return -errno;
	free(o->path);
	o->path = final;
	if (fstat(fd, &opened) < 0 || stat(final, &found) < 0)
		return -errno;
	return opened.st_dev == found.st_dev && opened.st_ino == found.st_ino ? 0 : -ESTALE;
}

static char *directory_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? xstrndup(path, slash == path ? 1 : slash - path) : xstrdup(".");
}

/*
 * The file has no name until it is complete, so nothing is left when the program is killed.
 * Some file systems, such as NFS, have no files without a name: then it has a temporary one.
 */
static int open_temp(struct outfile *o)
{
	__cleanup(freep) char *dir = NULL;
	int err = resolve(o);

	if (err)
		return err;
	o->temp = xasprintf("%s.XXXXXX", o->path);
	dir = directory_of(o->path);
	o->fd = open(dir, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
	o->nameless = o->fd >= 0;
	if (o->nameless)
		return 0;
	o->fd = mkostemp(o->temp, O_CLOEXEC);
	if (o->fd >= 0 && fchmod(o->fd, new_mode()) == 0)
		return 0;
	return -errno;
}

static int open_path(struct outfile *o)
{
	struct stat st;

	if (!strcmp(o->path, "-")) {
		o->fd = STDOUT_FILENO;
		return 0;
	}
	o->closes = true;
	if (!stat(o->path, &st) && S_ISDIR(st.st_mode))
		return -EISDIR;
	if (stat(o->path, &st) || S_ISREG(st.st_mode))
		return open_temp(o);
	o->fd = open(o->path, O_WRONLY | O_CLOEXEC);
	return o->fd < 0 ? -errno : 0;
}

int outfile_open(struct outfile *o, const char *path, bool gzip, struct diag *d)
{
	int err;

	*o = (struct outfile){ .path = xstrdup(path), .fd = -1 };
	err = open_path(o);
	if (!err && gzip && open_gzip(o))
		err = -ENOMEM;
	if (!err)
		return 0;
	outfile_abandon(o);
	return diag_error(d, "output '%s': cannot be written: %s: choose another file", path,
			  strerror(-err));
}

static void put(struct outfile *o, const void *p, size_t n)
{
	int err = o->err || !n ? 0 : fd_write(o->fd, p, n);

	if (err)
		o->err = -err;
}

static void put_gzip(struct outfile *o, int how)
{
	unsigned char chunk[CHUNK];

	o->gz->next_in = (unsigned char *)o->buf.data;
	o->gz->avail_in = o->buf.len;
	do {
		o->gz->next_out = chunk;
		o->gz->avail_out = sizeof(chunk);
		deflate(o->gz, how);
		put(o, chunk, sizeof(chunk) - o->gz->avail_out);
	} while (!o->gz->avail_out);
}

bool outfile_flush(struct outfile *o, size_t at_least)
{
	/* zlib's counts have 32 bits. */
	if (o->buf.len < at_least || !o->buf.len)
		return !o->err;
	if (o->gz && !o->err)
		put_gzip(o, Z_NO_FLUSH);
	else
		put(o, o->buf.data, o->buf.len);
	buf_clear(&o->buf);
	return !o->err;
}

static void outfile_free(struct outfile *o)
{
	if (o->gz)
		deflateEnd(o->gz);
	free(o->gz);
	free(o->path);
	free(o->temp);
	buf_free(&o->buf);
	*o = (struct outfile){ .fd = -1 };
}

/* Give the file a temporary name. 0 or errno. */
static int name_temp(struct outfile *o)
{
	enum { TRIES = 100 };
	char self[32];

	snprintf(self, sizeof(self), "/proc/self/fd/%d", o->fd);
	for (int i = 0; i < TRIES; i++) {
		free(o->temp);
		o->temp = xasprintf("%s.%ld.%d", o->path, (long)getpid(), i);
		if (!linkat(AT_FDCWD, self, AT_FDCWD, o->temp, AT_SYMLINK_FOLLOW)) {
			o->nameless = false;
			return 0;
		}
		if (errno != EEXIST)
			break;
	}
	return errno;
}

int outfile_commit(struct outfile *o, struct diag *d)
{
	int err;

	outfile_flush(o, 0);
	if (o->gz)
		put_gzip(o, Z_FINISH);
	if (!o->err && o->nameless)
		o->err = name_temp(o);
	if (o->closes && close(o->fd) && !o->err)
		o->err = errno;
	o->closes = false;
	if (!o->err && o->temp && rename(o->temp, o->path))
		o->err = errno;
	err = o->err == EPIPE && !o->temp ? 0 : o->err;
	if (err)
		diag_errno(d, err, "output '%s': cannot be written", o->path);
	if (err && o->temp && !o->nameless)
		unlink(o->temp);
	outfile_free(o);
	return err ? -1 : 0;
}

void outfile_abandon(struct outfile *o)
{
	if (o->closes && o->fd >= 0)
		close(o->fd);
	if (o->temp && o->fd >= 0 && !o->nameless)
		unlink(o->temp);
	outfile_free(o);
}
