/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/experiment/expwriter_impl.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analysis/base/alloc.h"
#include "analysis/base/diag.h"

static const char *const fixed_files[OUT_COUNT] = {
	[OUT_FRAMES] = "data.frameinfo", [OUT_MAP] = "map.xml", [OUT_KSYMS] = "kallmodsyms",
	[OUT_USAGE] = "overview",	 [OUT_LOG] = "log.xml",
};

static bool good_name(const char *name)
{
	size_t n = strlen(name);

	return n > 3 && !strchr(name, '/') && !strcmp(name + n - 3, ".er");
}

int open_dir(const struct expwriter *w)
{
	int fd = openat(w->parent, w->name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) < 0 || st.st_dev != w->dev || st.st_ino != w->ino) {
		close(fd);
		return -ESTALE;
	}
	return fd;
}

/* Create the directory and remember its device and inode. Returns its descriptor or -errno. */
static int make_dir(struct expwriter *w)
{
	struct stat st;
	int fd;

	if (mkdirat(w->parent, w->name, 0700) < 0)
		return -errno;
	fd = openat(w->parent, w->name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) < 0 || st.st_uid != geteuid()) {
		close(fd);
		return -ESTALE;
	}
	w->dev = st.st_dev;
	w->ino = st.st_ino;
	return fd;
}

/* Remove all that was created, after an error in expwriter_create. */
static void unmake_dir(struct expwriter *w)
{
	for (int i = 0; i < OUT_COUNT; i++) {
		if (fixed_files[i])
			unlinkat(expwriter_dirfd(w), fixed_files[i], 0);
	}
	unlinkat(w->parent, w->name, AT_REMOVEDIR);
	closep(&w->dirfd);
	w->bytes = 0;
}

static int out_free(struct out *o)
{
	int err = out_close(o);

	packer_free(o->packer);
	free(o->file);
	buf_free(&o->buf);
	return err;
}

/* 0, or -errno of the last file that could not be closed. */
static int writer_free(struct expwriter *w)
{
	int err = 0, e;

	for (int i = 0; i < OUT_COUNT; i++)
		err = (e = out_free(&w->fixed[i])) ? e : err;
	vec_for_each(o, &w->texts)
		err = (e = out_free(o)) ? e : err;
	vec_for_each(o, &w->packets)
		err = (e = out_free(o)) ? e : err;
	vec_free(&w->texts);
	vec_free(&w->packets);
	vec_free(&w->held);
	vec_for_each(h, &w->segments)
		free((char *)h->s.name);
	vec_free(&w->segments);
	map_free(&w->ksyms);
	map_free(&w->tails);
	buf_free(&w->common);
	closep(&w->dirfd);
	closep(&w->reserve);
	free(w->name);
	free(w);
	return err;
}

static struct expwriter *writer_new(int dirfd, const char *name, const struct exp_header *h)
{
	struct expwriter *w = xcalloc(1, sizeof(*w));

	w->name = xstrdup(name);
	w->parent = dirfd;
	w->dirfd = -1;
	w->reserve = -1;
	w->start_ns = h->start_ns;
	for (int i = 0; i < OUT_COUNT; i++)
		w->fixed[i].file = fixed_files[i] ? xstrdup(fixed_files[i]) : NULL;
	w->fixed[OUT_FRAMES].packets = true;
	return w;
}

/* Create the files that every experiment has, even one without data. 0 or -errno. */
static int make_compulsory(int dirfd)
{
	int err = write_new(dirfd, fixed_files[OUT_MAP], "");

	return err ? err : write_new(dirfd, fixed_files[OUT_USAGE], "");
}

/*
 * Create the directory and the files that exist from the start. 0, or -errno: nothing is left of them,
 * and they may be created again.
 */
static int begin(struct expwriter *w)
{
	__cleanup(closep) int fd = make_dir(w);
	int err;

	if (fd < 0)
		return fd;
	err = w->founder ? parts_share(w, fd) : make_compulsory(fd);
	if (!err && !w->founder)
		err = expwriter_flush(w);
	if (err)
		unmake_dir(w);
	else if (!w->founder)
		w->reserve = reserve_space(fd);
	return err;
}

static int create(struct expwriter *founder, int dirfd, const char *name,
		  const struct exp_header *h, struct diag *d, struct expwriter **ret)
{
	struct expwriter *w;
	int err;

	if (!good_name(name))
		return diag_errno(d, EINVAL, "experiment '%s': the name does not end in .er", name);
	w = writer_new(dirfd, name, h);
	w->founder = founder;
	expwriter_forget(w);
	log_header(w, h);
	do {
		err = begin(w);
	} while (expwriter_made_room(w, err));
	if (err) {
		writer_free(w);
		return err == -EEXIST ? err :
			diag_errno(d, -err, "experiment '%s': cannot create: choose another place", name);
	}
	*ret = w;
	return 0;
}

int expwriter_create(int dirfd, const char *name, const struct exp_header *h, struct diag *d,
		     struct expwriter **ret)
{
	return create(NULL, dirfd, name, h, d, ret);
}

int expwriter_create_part(struct expwriter *founder, const char *name, const struct exp_header *h,
			  struct diag *d, struct expwriter **ret)
{
	int dirfd = expwriter_dirfd(founder);

	if (dirfd < 0)
		return diag_errno(d, -dirfd, "experiment '%s': cannot create", name);
	return create(founder, dirfd, name, h, d, ret);
}

int expwriter_close(struct expwriter *w)
{
	int err, unclosed;

	if (!w)
		return 0;
	err = expwriter_flush(w);
	unclosed = writer_free(w);
	return err ? err : unclosed;
}

uint64_t expwriter_bytes(const struct expwriter *w)
{
	return w->bytes;
}

const char *expwriter_name(const struct expwriter *w)
{
	return w->name;
}

int expwriter_dirfd(struct expwriter *w)
{
	if (w->dirfd < 0)
		w->dirfd = open_dir(w);
	return w->dirfd;
}

struct buf *out_find(struct expwriter *w, enum out_id list, const char *file)
{
	__typeof__(&w->texts) outs = list == OUT_TEXTS ? &w->texts : (void *)&w->packets;

	vec_for_each(o, outs) {
		if (!strcmp(o->file, file))
			return &o->buf;
	}
	vec_push(outs, (struct out){ .file = xstrdup(file), .packets = list == OUT_PACKETS });
	return &outs->data[outs->len - 1].buf;
}

void expwriter_text(struct expwriter *w, const char *file, const char *line)
{
	struct buf *b = out_find(w, OUT_TEXTS, file);

	buf_puts(b, line);
	buf_puts(b, "\n");
}
