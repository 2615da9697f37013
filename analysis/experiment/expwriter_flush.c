/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes the buffers to the files. A buffer holds whole records, and a file grows only
 * by a whole buffer: if the disk fills up in the middle, the file is cut back to its
 * old size. So whenever the recorder is stopped, each file ends with a whole record and
 * refers to nothing missing.
 */
#include "analysis/experiment/expwriter_impl.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analysis/base/alloc.h"

enum { RESERVE = 256 << 10, MIN_RESERVE = 16 << 10 }; /* bytes; recorder.xml of a thousand programs */
enum { NEW_FILE = O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK };

/* 0 or -errno; *done is the number of bytes written. */
static int write_all(int fd, const char *p, size_t n, size_t *done)
{
	for (*done = 0; *done < n;) {
		ssize_t k = write(fd, p + *done, n - *done);

		if (k < 0 && errno == EINTR)
			continue;
		if (k < 0)
			return -errno;
		if (!k)
			return -EIO;
		*done += k;
	}
	return 0;
}

/* Remove the last `done` bytes, which are ours: only we append to the file. 0 or -errno. */
static int undo(int fd, size_t done)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return -errno;
	if ((uint64_t)st.st_size < done)
		return -ESTALE; /* another process cut the file */
	return ftruncate(fd, st.st_size - done) < 0 ? -errno : 0;
}

/* Open or create a regular file for appending. A descriptor or -errno. */
static int open_file(int dirfd, const char *file)
{
	int fd = openat(dirfd, file, NEW_FILE | O_APPEND, 0600);
	struct stat st;
	int err = 0;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) < 0)
		err = -errno;
	else if (!S_ISREG(st.st_mode))
		err = -EINVAL;
	if (err)
		close(fd);
	return err ? err : fd;
}

/*
 * The descriptor of the file, opened if necessary, or -errno. If *dirfd is -1, it is
 * set to the directory, opened here.
 */
static int get_file(struct expwriter *w, int *dirfd, struct out *o, struct tail **tail)
{
	int fd = out_fd(o, tail);

	if (fd >= 0)
		return fd;
	if (*dirfd < 0)
		*dirfd = open_dir(w);
	fd = *dirfd < 0 ? *dirfd : open_file(*dirfd, o->file);
	if (fd < 0)
		return fd;
	out_keep_open(o, fd);
	return out_fd(o, tail);
}

/*
 * Append the whole buffer or nothing. 0 or -errno; -ESTALE if the file then has an
 * unexpected size, because another process cut it or wrote to it.
 */
static int append(int fd, const struct out *o)
{
	size_t done;
	int err = write_all(fd, o->buf.data, o->buf.len, &done);
	int undone = err ? undo(fd, done) : 0;

	if (!err && (uint64_t)lseek(fd, 0, SEEK_CUR) != o->size + o->buf.len)
		return -ESTALE;
	return undone ? undone : err;
}

void expwriter_on_full(struct expwriter *founder, bool (*fn)(void *ctx), void *ctx)
{
	founder->on_full = fn;
	founder->full_ctx = ctx;
}

bool expwriter_is_full(int err)
{
	return err == -ENOSPC || err == -EDQUOT;
}

bool expwriter_made_room(const struct expwriter *w, int err)
{
	const struct expwriter *f = w->founder ? w->founder : w;

	return expwriter_is_full(err) && f->on_full && f->on_full(f->full_ctx);
}

/* Write the buffer to its file. 0, or -errno: the file is as before. */
static int write_out(struct expwriter *w, int *dirfd, struct out *o)
{
	struct tail *tail;
	int fd = get_file(w, dirfd, o, &tail), done;

	if (fd < 0)
		return fd;
	done = o->packets ? tail_append(tail, fd, o->size, o->buf.data, o->buf.len) : 0;
	if (!done)
		done = append(fd, o);
	return done < 0 ? done : 0;
}

/*
 * Another attempt is made here, where a failed one has left no trace: text is compressed only once,
 * and files that others refer to are not overtaken by those.
 */
static int flush_out(struct expwriter *w, int *dirfd, struct out *o)
{
	bool last = w->fixed[OUT_EXIT].buf.len;
	int err;

	if (!o->buf.len && !(last && out_has_end(o)))
		return 0;
	if (out_is_packed(o))
		out_pack(o, last);
	do {
		err = write_out(w, dirfd, o);
	} while (expwriter_made_room(w, err));
	if (err)
		return err;
	o->size += o->buf.len;
	w->bytes += o->buf.len;
	buf_clear(&o->buf);
	return 0;
}

static int flush_list(struct expwriter *w, int *dirfd, struct out *outs, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		int err = flush_out(w, dirfd, &outs[i]);

		if (err)
			return err;
	}
	return 0;
}

/* Write the exit event, after everything else, to the file that has the other events. */
static int flush_exit(struct expwriter *w, int *dirfd)
{
	struct buf *exit = out_buf(w, OUT_EXIT);

	if (!exit->len)
		return 0;
	buf_add(out_buf(w, OUT_LOG), exit->data, exit->len);
	buf_clear(exit);
	return flush_out(w, dirfd, &w->fixed[w->founder ? OUT_MAP : OUT_LOG]);
}

static int flush_all(struct expwriter *w, int *dirfd)
{
	int err = 0;

	for (int i = 0; i < OUT_EXIT && !err; i++) {
		if (i == OUT_TEXTS)
			err = flush_list(w, dirfd, w->texts.data, w->texts.len);
		else if (i == OUT_PACKETS)
			err = flush_list(w, dirfd, w->packets.data, w->packets.len);
		else
			err = flush_out(w, dirfd, &w->fixed[i]);
		if (i == OUT_LOG) /* the exit event is in the same file */
			w->fixed[OUT_EXIT].size = w->fixed[OUT_LOG].size;
	}
	return err ? err : flush_exit(w, dirfd);
}

static size_t list_pending(const struct out *outs, size_t n)
{
	size_t sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += outs[i].buf.len;
	return sum;
}

size_t expwriter_pending(const struct expwriter *w)
{
	return list_pending(w->fixed, OUT_COUNT) + list_pending(w->texts.data, w->texts.len) +
	       list_pending(w->packets.data, w->packets.len) + w->nheld;
}

static void drop_list(struct out *outs, size_t n)
{
	for (size_t i = 0; i < n; i++)
		buf_clear(&outs[i].buf);
}

static void drop_all(struct expwriter *w)
{
	w->held.len = w->nheld = 0;
	drop_list(w->fixed, OUT_COUNT);
	drop_list(w->texts.data, w->texts.len);
	drop_list(w->packets.data, w->packets.len);
}

/*
 * Detect that the directory was removed; an open descriptor does not tell. Only
 * directories that stay open are checked, such as the founder's: without it the
 * recording is lost.
 */
static int check_dir(const struct expwriter *w)
{
	struct stat st;

	if (w->dirfd < 0)
		return 0;
	if (fstat(w->dirfd, &st) < 0)
		return -errno;
	return st.st_nlink ? 0 : -ENOENT;
}

int expwriter_flush(struct expwriter *w)
{
	int dirfd = w->dirfd;

	if (w->err) {
		drop_all(w);
		return w->err;
	}
	if (!expwriter_pending(w))
		return 0;
	put_held_stacks(w);
	w->err = check_dir(w);
	if (!w->err)
		w->err = flush_all(w, &dirfd);
	if (dirfd >= 0 && dirfd != w->dirfd)
		close(dirfd);
	if (w->err)
		drop_all(w);
	return w->err;
}

int write_new(int dirfd, const char *file, const char *text)
{
	__cleanup(closep) int fd = -1;
	size_t done;

	if (unlinkat(dirfd, file, 0) < 0 && errno != ENOENT)
		return -errno;
	fd = openat(dirfd, file, NEW_FILE | O_EXCL, 0600);
	return fd < 0 ? -errno : write_all(fd, text, strlen(text), &done);
}

int reserve_space(int dirfd)
{
	int fd = openat(dirfd, ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);

	if (fd < 0)
		return -1;
	/* The file keeps its size of 0, so a limit of file sizes does not apply. */
	for (off_t size = RESERVE; size >= MIN_RESERVE; size /= 2)
		if (!fallocate(fd, FALLOC_FL_KEEP_SIZE, 0, size))
			return fd;
	close(fd);
	return -1;
}

/* Put the text into a new file that takes the place of the old one. 0 or -errno. */
static int exchange(int dirfd, const char *file, const char *text)
{
	__cleanup(freep) char *temp = xasprintf("%s.new", file);
	int err = write_new(dirfd, temp, text);

	if (!err && renameat(dirfd, temp, dirfd, file) < 0)
		err = -errno;
	if (err)
		unlinkat(dirfd, temp, 0);
	return err;
}

/*
 * Also works after a failed flush: the file may say how the recording ended. On a full disk the
 * reserve has room for the new file beside the old one. Then the old file's room is the reserve.
 */
int expwriter_replace(struct expwriter *w, const char *file, const char *text)
{
	int dirfd = w->dirfd >= 0 ? w->dirfd : open_dir(w);
	int err;

	if (dirfd < 0)
		return dirfd;
	err = exchange(dirfd, file, text);
	if (err && w->reserve >= 0) {
		close(w->reserve);
		err = exchange(dirfd, file, text);
		w->reserve = reserve_space(dirfd);
	}
	if (dirfd != w->dirfd)
		close(dirfd);
	return err;
}
