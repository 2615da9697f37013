/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Group files: a fixed first line, then one experiment a line. */
#include "analysis/experiment/exp_group.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "analysis/base/buf.h"

const char group_first_line[] = "#analyzer experiment group";

/* A copy of the line at *p without its newline; *p moves behind it. NULL at the end. */
static char *next_line(const char **p, const char *end)
{
	const char *s = *p, *nl;
	size_t n;

	if (s >= end)
		return NULL;
	nl = memchr(s, '\n', end - s);
	n = (nl ? nl : end) - s;
	*p = nl ? nl + 1 : end;
	if (n && s[n - 1] == '\r')
		n--;
	return xstrndup(s, n);
}

static bool is_group(const struct file *f)
{
	size_t n = strlen(group_first_line);

	return f->size >= n && !memcmp(f->data, group_first_line, n) &&
	       (f->size == n || f->data[n] == '\n' || f->data[n] == '\r');
}

static int open_group(const char *path, struct file *f, struct diag *d)
{
	int err = file_open_at(AT_FDCWD, path, f);

	if (err) {
		diag_errno(d, -err, "group '%s': cannot open", path);
		return -1;
	}
	if (is_group(f))
		return 0;
	file_close(f);
	return diag_error(d, "group '%s': the first line is not '%s'", path, group_first_line);
}

/* Names are relative to the directory of the group file. */
static char *beside(const char *group, const char *name)
{
	const char *slash = strrchr(group, '/');

	if (name[0] == '/' || !slash)
		return xstrdup(name);
	return xasprintf("%.*s/%s", (int)(slash - group), group, name);
}

int group_read(const char *path, str_vec *ret, struct diag *d)
{
	const char *p, *end;
	struct file f;
	char *line;

	if (open_group(path, &f, d) < 0)
		return -1;
	p = (const char *)f.data;
	end = p + f.size;
	while ((line = next_line(&p, end))) {
		if (line[0] && line[0] != '#')
			vec_push(ret, beside(path, line));
		free(line);
	}
	file_close(&f);
	if (!ret->len)
		diag_warn(d, "group '%s': names no experiment", path);
	return 0;
}

int group_lacks(const char *path, const char *experiment, struct diag *d)
{
	const char *p, *end;
	int number = 0, found = 0;
	struct file f;
	char *line;

	if (open_group(path, &f, d) < 0)
		return -1;
	p = (const char *)f.data;
	end = p + f.size;
	while (!found && (line = next_line(&p, end))) {
		__cleanup(freep) char *full = beside(path, line);

		number++;
		found = strcmp(full, experiment) ? 0 : number;
		free(line);
	}
	file_close(&f);
	return diag_error(d, "experiment '%s': does not exist: remove line %d of the group file '%s'", experiment,
			  found, path);
}

/*
 * The bytes to append for this experiment: the first line if the file is new (empty), a
 * newline if its last line lacks one, and the entry.
 */
static void put_entry(struct buf *b, const struct file *f, const char *experiment)
{
	if (!f->size)
		buf_printf(b, "%s\n", group_first_line);
	else if (f->data[f->size - 1] != '\n')
		buf_puts(b, "\n");
	buf_printf(b, "%s\n", experiment);
}

/* Append the entry to the open group. 0 or -errno; -EPROTO if the file is not a group. */
static int add_entry(int fd, const char *experiment)
{
	struct buf b = { 0 };
	struct file f;
	ssize_t done;
	int err = file_open_fd(dup(fd), &f);

	if (err)
		return err;
	if (f.size && !is_group(&f)) {
		file_close(&f);
		return -EPROTO;
	}
	put_entry(&b, &f, experiment);
	file_close(&f);
	done = write(fd, b.data, b.len);
	err = done < 0 ? -errno : (size_t)done < b.len ? -ENOSPC : 0;
	buf_free(&b);
	return err;
}

int group_add(const char *path, const char *experiment, struct diag *d)
{
	int flags = O_RDWR | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK;
	__cleanup(closep) int fd = open(path, flags, 0666);
	int err = fd < 0 ? -errno : add_entry(fd, experiment);

	if (err == -EPROTO)
		return diag_error(d, "group '%s': the first line is not '%s'", path, group_first_line);
	if (err)
		diag_errno(d, -err, "group '%s': cannot add to it: choose another group", path);
	return err ? -1 : 0;
}

/* What is left of the group without the entry. */
static void put_others(struct buf *b, const struct file *f, const char *experiment)
{
	const char *p = (const char *)f->data, *end = p + f->size;

	while (p < end) {
		const char *begin = p;
		char *line = next_line(&p, end);

		if (strcmp(line, experiment))
			buf_add(b, begin, p - begin);
		free(line);
	}
}

static int remove_entry(int fd, const char *experiment)
{
	struct buf b = { 0 };
	struct file f;
	size_t size;
	int err = file_open_fd(dup(fd), &f);

	if (err)
		return err;
	size = f.size;
	if (is_group(&f))
		put_others(&b, &f, experiment);
	else
		err = -EPROTO;
	file_close(&f);
	if (!err && b.len < size)
		err = pwrite(fd, b.data, b.len, 0) != (ssize_t)b.len || ftruncate(fd, b.len) ? -errno : 0;
	buf_free(&b);
	return err;
}

int group_remove(const char *path, const char *experiment, struct diag *d)
{
	__cleanup(closep) int fd = open(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
	int err = fd < 0 ? -errno : remove_entry(fd, experiment);

	if (err && err != -ENOENT)
		return diag_errno(d, -err, "group '%s': cannot remove '%s' from it", path, experiment), -1;
	return 0;
}
