/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "user/space/copies.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

void copies_free(struct copies *c)
{
	vec_for_each(one, &c->all)
		close(one->fd);
	vec_free(&c->all);
	c->bytes = 0;
}

static int give(struct copy *one)
{
	int fd = fcntl(one->fd, F_DUPFD_CLOEXEC, 0);

	if (fd < 0)
		return -errno;
	one->refs++;
	return fd;
}

int copies_find(struct copies *c, uint64_t dev, uint64_t ino)
{
	vec_for_each(one, &c->all) {
		if ((dev || ino) && one->dev == dev && one->ino == ino)
			return give(one);
	}
	return -ENOENT;
}

static void drop(struct copies *c, struct copy *one)
{
	close(one->fd);
	c->bytes -= one->size;
	*one = c->all.data[--c->all.len];
}

int copies_add(struct copies *c, int fd, uint64_t dev, uint64_t ino, uint64_t size)
{
	struct stat st;
	int own;

	if (fstat(fd, &st) < 0) {
		close(fd);
		return -errno;
	}
	vec_push(&c->all, (struct copy){ .dev = dev, .ino = ino, .id = st.st_ino, .size = size, .fd = fd });
	c->bytes += size;
	own = give(&c->all.data[c->all.len - 1]);
	if (own < 0)
		drop(c, &c->all.data[c->all.len - 1]);
	return own;
}

void copies_close(struct copies *c, int fd)
{
	struct stat st;

	if (c->all.len && fstat(fd, &st) == 0) {
		vec_for_each(one, &c->all) {
			struct stat copy;

			if (one->id != st.st_ino || fstat(one->fd, &copy) < 0 || copy.st_dev != st.st_dev)
				continue;
			if (!--one->refs)
				drop(c, one);
			break;
		}
	}
	close(fd);
}
