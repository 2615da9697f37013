/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The packets of an experiment: which kinds there are (streams), where their fields are, and a
 * walk over them. Nothing that a packet contains is trusted; no access leaves the file.
 */
#ifndef EXPERIMENT_EXP_PACKETS_H
#define EXPERIMENT_EXP_PACKETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "analysis/base/file.h"
#include "analysis/base/vec.h"
#include "analysis/experiment/packet.h"

struct experiment;

struct exp_field {
	const char *name, *uname;
	uint32_t offset;
	enum er_type type;
};

/* One <profile name="hwcounter"/> element; `tag` identifies it. */
struct exp_counter {
	bool probe;  /* a probe: its packets are of their own kind, and each counts 1 */
	int tag;
	const char *name, *int_name, *metric; /* alias, internal name, label (NULL: none) */
	int64_t interval;
	int timecvt; /* > 0: counts are clock ticks; < 0: units of -timecvt ps; 0: counts */
	const char *modstr;
	bool data;   /* its packets have addresses of data */
};

/* A field found by name in a stream. offset 0: the stream has no such field. */
struct field_ref {
	uint32_t offset;
	enum er_type type;
	uint32_t number; /* index in the stream's fields */
};

/*
 * Where packets of a packed kind have the stream's fields, by their numbers. Fields that only packed kinds have
 * are in the stream from FIELD_BEYOND on: no packet is so long.
 */
enum { LAYOUT_FIELDS = 24, FIELD_BEYOND = UINT16_MAX + 1 };
struct exp_layout {
	bool described;
	struct field_ref at[LAYOUT_FIELDS];
};

/*
 * The packets of one kind. The CLOCK stream also has the packets of waits, which have
 * more fields, and those of packed kinds.
 */
struct exp_stream {
	enum er_packet kind;
	bool waits; /* the stream also has the kinds for which is_wait_kind is true */
	struct exp_layout *layouts; /* of packed kinds, PACKED_KINDS of them; NULL: it has none */
	const char *fname, *uname;
	VEC(struct exp_field) fields;
	int64_t ptimer_us;    /* clock: one NTICK in microseconds */
	int numstates;        /* clock: enum er_stateset */
	int64_t threshold_us; /* synchronization: shorter waits were not recorded */
	int64_t sampled;      /* heap: mean number of bytes between two samples; 0: all is recorded */
	VEC(struct exp_counter) counters;
	struct file file;
	bool reported; /* unreadable parts of the file were reported */
};

struct field_ref stream_field(const struct exp_stream *s, const char *name);

/* A borrowed view of a packet; it lies entirely in the file. */
struct packet {
	const unsigned char *p;
	uint32_t size;
	bool swap;
	const struct exp_layout *layout; /* of a packed kind; NULL: fields are where the stream has them */
};

/* Where this packet has a field of its stream; offset 0: it lacks it. */
static inline struct field_ref packet_place(const struct packet *p, struct field_ref f)
{
	if (!p->layout || !f.offset)
		return f;
	return f.number < LAYOUT_FIELDS ? p->layout->at[f.number] : (struct field_ref){ 0 };
}

/*
 * The value of an integer field. 0 if the packet is too short, has no such field, or
 * the field is not an integer.
 */
static inline int64_t packet_int(const struct packet *p, struct field_ref f)
{
	f = packet_place(p, f);
	if (!f.offset)
		return 0;
	if (f.type == ER_INT64 || f.type == ER_UINT64) {
		uint64_t v;

		if (f.offset + sizeof(v) > p->size)
			return 0;
		memcpy(&v, p->p + f.offset, sizeof(v));
		return p->swap ? __builtin_bswap64(v) : v;
	}
	if (f.type == ER_INT32 || f.type == ER_UINT32) {
		uint32_t v;

		if (f.offset + sizeof(v) > p->size)
			return 0;
		memcpy(&v, p->p + f.offset, sizeof(v));
		v = p->swap ? __builtin_bswap32(v) : v;
		return f.type == ER_INT32 ? (int64_t)(int32_t)v : (int64_t)v;
	}
	return 0;
}

/* The bytes of a STRING field, not NUL-terminated, and their number. 0: there is none. */
size_t packet_text(const struct packet *p, struct field_ref f, const char **ret);

struct packet_iter {
	const struct exp_stream *stream;
	uint64_t pos, released; /* data before `released` was given back to the kernel */
	uint64_t nbad; /* unreadable places that were skipped */
	bool swap;
};

void packet_iter_init(struct packet_iter *it, const struct experiment *e,
		      const struct exp_stream *s);
/*
 * At the end of a walk: warn about the places it skipped, once a stream.
 * experiment_check_packets does this for all streams; it walks those not walked yet.
 */
void packet_iter_report(const struct packet_iter *it, struct experiment *e, struct exp_stream *s);
void experiment_check_packets(struct experiment *e);
/* Get up to max of the stream's next packets. Returns how many; 0 only at the end. */
size_t packet_batch(struct packet_iter *it, struct packet *ret, size_t max);

/* Get the next packet; false at the end. */
static inline bool packet_next(struct packet_iter *it, struct packet *ret)
{
	return packet_batch(it, ret, 1);
}

#endif
