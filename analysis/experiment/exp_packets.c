/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Walks data files. Each packet has a head {u16 size, u16 type}; files have no other
 * structure. Collectors that preallocate leave holes: a size of 0 means that nothing
 * more comes before the next 16 KiB boundary. An impossible size is skipped likewise,
 * and counted.
 */
#include "analysis/experiment/exp_packets.h"

#include "analysis/experiment/experiment_impl.h"

enum { HEAD = 4, BOUNDARY = 16 * 1024, WINDOW = 4 << 20 };

static inline uint16_t load16(const unsigned char *p, bool swap)
{
	uint16_t v;

	memcpy(&v, p, sizeof(v));
	return swap ? __builtin_bswap16(v) : v;
}

static inline bool next_packet(const unsigned char *data, uint64_t size, bool swap, uint64_t *pos,
			       uint64_t *nbad, struct packet *ret, unsigned *type)
{
	while (size - *pos >= HEAD && *pos < size) {
		const unsigned char *p = data + *pos;
		unsigned n = load16(p, swap);

		if (n >= HEAD && n <= size - *pos) {
			/*
			 * Packets are aligned, but the size of one that ends in a
			 * string may not be.
			 */
			*pos += (n + 3) & ~3u;
			*ret = (struct packet){ .p = p, .size = n, .swap = swap };
			*type = load16(p + 2, swap);
			return true;
		}
		*nbad += n != 0;
		*pos = (*pos / BOUNDARY + 1) * BOUNDARY;
	}
	/* Too few bytes for a head: they are zeros unless the file is damaged. */
	for (; *pos < size; ++*pos) {
		*nbad += data[*pos] != 0;
		if (data[*pos])
			*pos = size - 1;
	}
	return false;
}

bool raw_next(struct raw_iter *it, struct packet *ret, unsigned *type)
{
	return next_packet(it->data, it->size, it->swap, &it->pos, &it->nbad, ret, type);
}

void packet_iter_init(struct packet_iter *it, const struct experiment *e,
		      const struct exp_stream *s)
{
	*it = (struct packet_iter){ .stream = s, .swap = e->swap };
}

/* Whether the stream has packets of the kind; then ret gets the places of its fields. */
static inline bool belongs(const struct exp_stream *s, unsigned kind, struct packet *ret)
{
	if (kind == s->kind)
		return true;
	if (!is_packed_kind(kind))
		return s->waits && is_wait_kind(kind);
	if (!s->layouts || !s->layouts[kind - PACKED_FIRST].described)
		return false;
	ret->layout = &s->layouts[kind - PACKED_FIRST];
	return true;
}

size_t packet_batch(struct packet_iter *it, struct packet *ret, size_t max)
{
	const struct file *f = &it->stream->file;
	const struct exp_stream *s = it->stream;
	unsigned type;
	struct packet_iter at = *it; /* a copy, as ret might point into *it */
	size_t n = 0;

	while (n < max &&
	       next_packet(f->data, f->size, at.swap, &at.pos, &at.nbad, &ret[n], &type))
		n += belongs(s, type, &ret[n]);
	/* Give back what was read, so that a walk does not keep hundreds of megabytes in memory. */
	if (at.pos - at.released >= WINDOW) {
		file_release(f, at.released, at.pos);
		at.released = at.pos;
	}
	*it = at;
	return n;
}

void packet_iter_report(const struct packet_iter *it, struct experiment *e, struct exp_stream *s)
{
	if (it->nbad && !s->reported)
		diag_warn(&e->diag, "%s: %llu place%s cannot be read and %s skipped", s->fname,
			  (unsigned long long)it->nbad, it->nbad == 1 ? "" : "s",
			  it->nbad == 1 ? "was" : "were");
	s->reported = true;
}

void experiment_check_packets(struct experiment *e)
{
	vec_for_each(s, &e->streams) {
		struct packet_iter it;
		struct packet p;

		packet_iter_init(&it, e, s);
		while (!s->reported && packet_next(&it, &p))
			;
		packet_iter_report(&it, e, s);
	}
}

struct field_ref stream_field(const struct exp_stream *s, const char *name)
{
	vec_for_each(f, &s->fields) {
		if (!strcmp(f->name, name))
			return (struct field_ref){ .offset = f->offset, .type = f->type,
						   .number = f - s->fields.data };
	}
	return (struct field_ref){ 0 };
}

size_t packet_text(const struct packet *p, struct field_ref f, const char **ret)
{
	if (!f.offset || f.type != ER_STRING || f.offset >= p->size)
		return 0;
	*ret = (const char *)p->p + f.offset;
	return strnlen(*ret, p->size - f.offset);
}

void streams_open(struct experiment *e, int dirfd)
{
	vec_for_each(s, &e->streams) {
		if (s->fname[0])
			exp_file(e, dirfd, s->fname, &s->file);
	}
}
