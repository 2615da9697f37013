/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/symbols/textblocks.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "analysis/base/alloc.h"
#include "analysis/base/vec.h"

/* Small, so that little remains to be processed after the last block arrives. */
enum { BLOCK = 128 * 1024 };

struct textblocks {
	int fd;
	size_t most, total;
	/* Used by the reader only: bytes it read after the last newline. */
	char *rest;
	size_t nrest;
	bool threaded;
	pthread_t reader;
	pthread_mutex_t lock; /* protects all that follows */
	pthread_cond_t more;
	VEC(char *) blocks;
	size_t taken;
	bool done;
	int err;
};

/* Read up to `room` bytes; returns how many. Fewer at the end or after an error, stored in *err. */
static size_t fill(int fd, char *text, size_t room, int *err)
{
	size_t len = 0;

	while (len < room) {
		ssize_t n = read(fd, text + len, room - len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			*err = errno;
		if (n <= 0)
			break;
		len += n;
	}
	return len;
}

/* Cut a block after its last newline; the rest goes to the next block. */
static char *cut(struct textblocks *t, char *text, size_t len)
{
	char *end = memrchr(text, '\n', len);
	size_t whole = end ? (size_t)(end + 1 - text) : 0;

	t->nrest = len - whole;
	t->rest = memcpy(xmalloc(t->nrest), text + whole, t->nrest);
	if (!whole) {
		free(text);
		return NULL;
	}
	text[whole] = '\0';
	return text;
}

/* Read one more block. False: it was the last. */
static bool read_block(struct textblocks *t)
{
	size_t len = t->nrest + BLOCK;
	char *text = xrealloc_array(t->rest, len + 1, 1);
	int err = 0;
	size_t n = fill(t->fd, text + t->nrest, BLOCK, &err);
	bool last = n < BLOCK;

	len = t->nrest + n;
	t->total += n;
	t->rest = NULL;
	t->nrest = 0;
	if (!err && t->total > t->most)
		err = EFBIG;
	text[len] = '\0';
	if (!last && !err)
		text = cut(t, text, len);
	pthread_mutex_lock(&t->lock);
	if (text)
		vec_push(&t->blocks, text);
	t->err = err;
	t->done = last || err;
	pthread_cond_signal(&t->more);
	pthread_mutex_unlock(&t->lock);
	return !last && !err;
}

static void *read_all(void *arg)
{
	while (read_block(arg))
		;
	return NULL;
}

struct textblocks *textblocks_open(int fd, size_t most)
{
	struct textblocks *t = xcalloc(1, sizeof(*t));

	t->fd = fd;
	t->most = most;
	pthread_mutex_init(&t->lock, NULL);
	pthread_cond_init(&t->more, NULL);
	t->threaded = !pthread_create(&t->reader, NULL, read_all, t);
	return t;
}

char *textblocks_next(struct textblocks *t)
{
	char *text = NULL;

	while (!t->threaded && !t->done && t->taken == t->blocks.len)
		read_block(t);
	pthread_mutex_lock(&t->lock);
	while (t->taken == t->blocks.len && !t->done)
		pthread_cond_wait(&t->more, &t->lock);
	if (t->taken < t->blocks.len && !t->err)
		text = t->blocks.data[t->taken++];
	pthread_mutex_unlock(&t->lock);
	return text;
}

int textblocks_error(const struct textblocks *t)
{
	return t->err;
}

void textblocks_free(struct textblocks *t)
{
	if (!t)
		return;
	if (t->threaded)
		pthread_join(t->reader, NULL);
	vec_for_each(text, &t->blocks)
		free(*text);
	vec_free(&t->blocks);
	free(t->rest);
	pthread_cond_destroy(&t->more);
	pthread_mutex_destroy(&t->lock);
	free(t);
}
