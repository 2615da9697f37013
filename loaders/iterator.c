/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "loaders/iterator.h"

#include <errno.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "analysis/base/alloc.h"
#include "analysis/base/buf.h"

enum {
	/*
	 * Leaves room in the iterator's own 32 KiB for all records of one thread, with a raw
	 * stack, beside records that are not read yet.
	 */
	ITER_READ = 4 << 10,
};

int iterator_make(struct bpf_program *prog, struct bpf_link **link, int *fd)
{
	*link = bpf_program__attach_iter(prog, NULL);
	if (!*link)
		return -errno;
	*fd = bpf_iter_create(bpf_link__fd(*link));
	return *fd < 0 ? -errno : 0;
}

int iterator_run(const struct bpf_link *link, int *fd, struct buf *out)
{
	char bytes[ITER_READ];
	ssize_t n;
	int err;

	if (*fd < 0)
		*fd = bpf_iter_create(bpf_link__fd(link));
	if (*fd < 0)
		return -errno;
	do {
		n = read(*fd, bytes, sizeof(bytes));
		if (n > 0)
			buf_add(out, bytes, n);
	} while (n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR)));
	err = n < 0 ? -errno : 0;
	closep(fd);
	*fd = -1;
	return err;
}
