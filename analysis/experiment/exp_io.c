/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds the file of each I/O packet. In gprofng's experiments only the packet of an open
 * has a name; other packets have a descriptor, which means the file it was last opened for.
 * So packets are followed in order of time. An open with a name begins a file. An open of a
 * copied descriptor (IOOFD) begins another file with the same name. An open with neither is a
 * pipe or a socket. A close ends the descriptor's meaning.
 *
 * Our recorder also names the file at the first read or write of a descriptor whose open it has
 * not seen. That begins a file, too, unless the descriptor still is a standard stream; gprofng
 * ignores the name.
 */
#include "analysis/experiment/exp_io.h"

#include "analysis/experiment/exp_packets.h"
#include "analysis/experiment/experiment_impl.h"

enum io_type { IO_READ, IO_WRITE, IO_OPEN, IO_CLOSE, IO_OTHER, IO_ERRORS };

struct io_fields {
	struct field_ref time, type, fd, from, name;
};

struct timed {
	int64_t time;
	size_t order;
	struct packet packet;
};

struct follower {
	struct experiment *e;
	struct io_fields f;
	struct map by_fd; /* descriptor to index into io_files */
};

static uint32_t add_file(struct follower *fl, const char *name, int64_t fd)
{
	vec_push(&fl->e->io_files, (struct exp_io_file){ .name = name, .fd = fd });
	return fl->e->io_files.len - 1;
}

/* The fixed entries come first: their indexes are constants (IO_FILE_…). */
static void add_fixed(struct follower *fl)
{
	static const char *const names[] = { "<no file>", "<stdin>", "<stdout>", "<stderr>",
					     "<Other IO activity>" };

	for (int i = 0; i < (int)(sizeof(names) / sizeof(names[0])); i++) {
		uint32_t file = add_file(fl, names[i], i >= 1 && i <= 3 ? i - 1 : -1);

		if (i >= 1 && i <= 3)
			*map_put(&fl->by_fd, i - 1, NULL) = file;
	}
	/* gprofng, too, numbers files from 10. */
	while (fl->e->io_files.len < IO_FILE_FIRST)
		add_file(fl, "<no file>", -1);
}

static uint32_t file_of_fd(struct follower *fl, int64_t fd)
{
	bool fresh;
	uint64_t *file = map_put(&fl->by_fd, fd, &fresh);

	if (fresh)
		*file = add_file(fl, "<pipe(), socket(), or other fds>", fd);
	return *file;
}

/* The file's name that the packet has; NULL: none. */
static const char *name_in(struct follower *fl, const struct packet *p)
{
	const char *text;
	size_t n = packet_text(p, fl->f.name, &text);
	char *copy;

	if (!n)
		return NULL;
	copy = arena_alloc(&fl->e->arena, n + 1);
	memcpy(copy, text, n);
	return copy;
}

/* A read or write. */
static uint32_t used(struct follower *fl, const struct packet *p, int64_t fd)
{
	const uint64_t *known = map_get(&fl->by_fd, fd);
	const char *name;
	uint32_t file;

	if (known && *known < IO_FILE_FIRST)
		return *known;
	name = name_in(fl, p);
	if (!name || fd < 0)
		return file_of_fd(fl, fd);
	file = add_file(fl, name, fd);
	*map_put(&fl->by_fd, fd, NULL) = file;
	return file;
}

static uint32_t opened(struct follower *fl, const struct packet *p, int64_t fd)
{
	int64_t from = packet_int(p, fl->f.from);
	const char *name = name_in(fl, p);
	uint32_t file;

	if (!name && from <= 0)
		return file_of_fd(fl, fd);
	if (!name)
		name = fl->e->io_files.data[file_of_fd(fl, from)].name;
	file = add_file(fl, name, fd);
	if (fd >= 0)
		*map_put(&fl->by_fd, fd, NULL) = file;
	return file;
}

static uint32_t follow(struct follower *fl, const struct packet *p)
{
	int64_t type = packet_int(p, fl->f.type) % IO_ERRORS, fd = packet_int(p, fl->f.fd);
	uint32_t file;

	if (type == IO_OTHER)
		return IO_FILE_OTHER;
	if (type == IO_OPEN)
		return opened(fl, p, fd);
	if (type != IO_CLOSE)
		return used(fl, p, fd);
	file = file_of_fd(fl, fd);
	if (fd >= 0)
		map_remove(&fl->by_fd, fd);
	return file;
}

static int by_time(const void *a, const void *b)
{
	const struct timed *ta = a, *tb = b;

	if (ta->time != tb->time)
		return ta->time < tb->time ? -1 : 1;
	return (ta->order > tb->order) - (ta->order < tb->order);
}

static void follow_stream(struct experiment *e, const struct exp_stream *st)
{
	struct follower fl = { .e = e, .f = {
		.time = stream_field(st, "TSTAMP"), .type = stream_field(st, "IOTYPE"),
		.fd = stream_field(st, "IOFD"), .from = stream_field(st, "IOOFD"),
		.name = stream_field(st, "IOFNAME") } };
	VEC(struct timed) all = { 0 };
	struct packet_iter it;
	struct packet p;

	add_fixed(&fl);
	packet_iter_init(&it, e, st);
	while (packet_next(&it, &p))
		vec_push(&all, (struct timed){ packet_int(&p, fl.f.time), all.len, p });
	vec_sort(&all, by_time);
	vec_for_each(t, &all)
		*map_put(&e->io_by_packet, (uintptr_t)t->packet.p, NULL) = follow(&fl, &t->packet);
	vec_free(&all);
	map_free(&fl.by_fd);
}

uint32_t experiment_io_file(struct experiment *e, const struct packet *p)
{
	const uint64_t *file;

	for (size_t i = 0; !e->io_followed && i < e->streams.len; i++) {
		if (e->streams.data[i].kind == ER_PKT_IO)
			follow_stream(e, &e->streams.data[i]);
	}
	e->io_followed = true;
	file = map_get(&e->io_by_packet, (uintptr_t)p->p);
	return file ? *file : 0;
}
