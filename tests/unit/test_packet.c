/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Every kind of packet, written and read back, driven by the packet tables. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "analysis/experiment/exp_packets.h"
#include "analysis/experiment/experiment.h"
#include "analysis/experiment/usage.h"
#include "tests/fixtures/exp_builder.h"
#include "tests/fixtures/tempdir.h"

/* gprofng rejects a log with any other name. */
static bool gprofng_knows(const char *profile)
{
	static const char *const names[] = { "profile", "synctrace", "hwcounter", "heaptrace",
					     "iotrace", "omptrace" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (!strcmp(names[i], profile))
			return true;
	}
	return false;
}

/* Whether the field before is in the same place: they are equal. */
static bool same_place(const struct packet_desc *d, size_t i)
{
	return i && d->fields[i].offset == d->fields[i - 1].offset;
}

static void tables_are_sound(void **state)
{
	for (size_t k = 0; k < npacket_descs; k++) {
		const struct packet_desc *d = &packet_descs[k];
		char taken[65536] = "";

		assert_ptr_equal(packet_desc(d->kind), d);
		assert_int_equal(d->size % 4, 0);
		assert_true(gprofng_knows(d->profile));
		for (size_t i = 0; i < d->nfields; i++) {
			const struct field_desc *f = &d->fields[i];
			size_t size = er_type_size(f->type);

			assert_int_equal(er_type_parse(er_type_name(f->type)), f->type);
			if (is_packed_kind(d->kind) && (!f->offset || same_place(d, i)))
				continue;
			assert_true(f->offset >= 4 && f->offset + size <= d->size);
			assert_true(size || i == d->nfields - 1);
			for (size_t b = 0; b < size; b++)
				assert_int_equal(taken[f->offset + b]++, 0);
		}
	}
	assert_null(packet_desc(ER_PKT_CLOSED));
	assert_int_equal(er_type_parse("INT31"), -1);
}

/* Each state has the names that it needs, and no two states share a name. */
static void states_are_sound(void **state)
{
	uint64_t letters = 0, usages = 0;

	for (int i = 0; i < MS_COUNT; i++) {
		const struct mstate_desc *m = &mstate_descs[i];

		assert_int_equal(m->state, i);
		assert_true(m->name && m->uname && m->metric_uname);
		assert_int_equal(!m->on_cpu, m->unsampled && m->rest && m->count_attr);
		assert_true(m->on_cpu || (m->attr && m->metric && m->usage));
		assert_int_equal(!m->letter, !m->title[0]);
		for (int k = 0; k < i; k++) {
			assert_true(!m->letter || m->letter != mstate_descs[k].letter);
			assert_true(!m->usage || m->usage != mstate_descs[k].usage);
			assert_string_not_equal(m->name, mstate_descs[k].name);
		}
		letters += m->letter != 0;
		usages += m->usage != 0;
	}
	assert_int_equal(letters, 11); /* KERNEL_CPU is shown as SYSTEM */
	assert_int_equal(usages, STATES_ALL);
}

/* A value that no other field of any packet has, using all bits of the type. */
static int64_t value_of(const struct field_desc *f, int n)
{
	int64_t wide = (int64_t)hash64((uint64_t)f->offset << 8 | n);

	switch (f->offset ? f->type : ER_STRING) {
	case ER_STRING:
		return 0; /* the kind lacks the field */
	case ER_INT32:
		return (int32_t)wide;
	case ER_UINT32:
		return (uint32_t)wide;
	default:
		return wide;
	}
}

enum { NPACKETS = 100 };

static const char *const strings[] = { "", "a", "/etc/passwd", "seven77", "/a/longer/name" };

static const char *string_of(const struct packet_desc *d, int n)
{
	return d->fields[d->nfields - 1].type == ER_STRING ?
		       strings[n % (sizeof(strings) / sizeof(strings[0]))] : NULL;
}

static void write_kind(const char *dir, const struct packet_desc *d)
{
	struct exp_builder *b = exp_builder_new(dir, "t.1.er");

	if (d->kind != ER_PKT_CLOCK)
		expwriter_profile(exp_builder_writer(b), d->kind, NULL);
	for (int n = 0; n < NPACKETS; n++) {
		int64_t values[32];

		for (size_t i = 0; i < d->nfields; i++)
			values[i] = value_of(&d->fields[i], n);
		expwriter_packet(exp_builder_writer(b), d->kind, values, string_of(d, n));
	}
	exp_builder_close(b);
}

static void check_packet(const struct packet_desc *d, const struct exp_stream *s,
			 const struct packet *p, int n)
{
	for (size_t i = 0; i < d->nfields; i++) {
		const struct field_desc *f = &d->fields[i];
		struct field_ref ref = stream_field(s, f->name);
		const char *text = NULL;

		assert_true(ref.offset);
		ref = packet_place(p, ref);
		assert_int_equal(ref.offset, f->offset);
		assert_int_equal(f->offset ? ref.type : f->type, f->type);
		ref = stream_field(s, f->name);
		if (f->type != ER_STRING) {
			assert_int_equal(packet_int(p, ref), value_of(f, n));
			continue;
		}
		assert_int_equal(packet_int(p, ref), 0);
		assert_int_equal(packet_text(p, ref, &text), strlen(string_of(d, n)));
		assert_memory_equal(text, string_of(d, n), strlen(string_of(d, n)));
	}
}

static const struct exp_stream *find_stream(const struct experiment *e, enum er_packet kind)
{
	vec_for_each(s, &e->streams) {
		if (s->kind == (is_clock_kind(kind) ? ER_PKT_CLOCK : kind))
			return s;
	}
	return NULL;
}

static void check_kind(const char *dir, const struct packet_desc *d)
{
	__cleanup(freep) char *path = xasprintf("%s/t.1.er", dir);
	struct experiment *e = experiment_open(path, NULL);
	const struct exp_stream *s = find_stream(e, d->kind);
	struct packet_iter it;
	struct packet p;
	int n = 0;

	assert_non_null(s);
	assert_string_equal(s->fname, d->fname);
	assert_string_equal(s->uname, d->uname);
	for (packet_iter_init(&it, e, s); packet_next(&it, &p); n++)
		check_packet(d, s, &p, n);
	assert_int_equal(n, NPACKETS);
	assert_int_equal(it.nbad, 0);
	assert_int_equal(e->diag.nmsgs, 0);
	experiment_close(e);
}

static void every_kind_comes_back_as_written(void **state)
{
	for (size_t k = 0; k < npacket_descs; k++) {
		char *dir = tempdir_new();

		write_kind(dir, &packet_descs[k]);
		check_kind(dir, &packet_descs[k]);
		tempdir_remove(dir);
	}
}

static void missing_fields_read_as_nothing(void **state)
{
	const unsigned char bytes[16] = { 16, 0, 8, 0, 1, 1, 1, 1, 1, 1, 1, 1, 0xff, 0xff, 0xff, 0xff };
	struct packet p = { .p = bytes, .size = sizeof(bytes) };
	const char *text;

	assert_int_equal(packet_int(&p, (struct field_ref){ .offset = 0, .type = ER_INT64 }), 0);
	assert_int_equal(packet_int(&p, (struct field_ref){ .offset = 12, .type = ER_INT64 }), 0);
	assert_int_equal(packet_int(&p, (struct field_ref){ .offset = UINT32_MAX, .type = ER_INT32 }), 0);
	assert_int_equal(packet_int(&p, (struct field_ref){ .offset = 12, .type = ER_INT32 }), -1);
	assert_int_equal(packet_int(&p, (struct field_ref){ .offset = 12, .type = ER_UINT32 }), UINT32_MAX);
	assert_int_equal(packet_int(&p, (struct field_ref){ .offset = 4, .type = ER_INT64 }), 0x0101010101010101);
	assert_int_equal(packet_text(&p, (struct field_ref){ .offset = 16, .type = ER_STRING }, &text), 0);
	p.swap = true;
	assert_int_equal(packet_int(&p, (struct field_ref){ .offset = 10, .type = ER_INT32 }), 0x0101ffff);
}

static void usage_comes_back_as_written(void **state)
{
	struct exp_usage u, got;
	unsigned char rec[USAGE_SIZE];
	uint64_t *words = (uint64_t *)&u;

	memset(&u, 0, sizeof(u));
	for (size_t i = 0; i < offsetof(struct exp_usage, nthreads) / 8; i++)
		words[i] = 1000000000 * i + 999999999 - i;
	u.nthreads = 77;
	usage_encode(&u, rec);
	memset(&got, 0, sizeof(got));
	usage_decode(rec, 64, false, &got);
	assert_memory_equal(&got, &u, offsetof(struct exp_usage, nthreads) + 4);
	assert_int_equal(usage_record_size(64), 504);
	assert_int_equal(usage_record_size(32), 256);
}

static void usage_of_others_is_understood(void **state)
{
	unsigned char rec[256] = { 0 };
	struct exp_usage u;

	/* Big-endian words of 32 bits: utime is 2 s and 3 ns. */
	rec[8 + (72 - 8) / 2 + 3] = 2;
	rec[8 + (80 - 8) / 2 + 3] = 3;
	rec[8 + (416 - 8) / 2 + 2] = 1;
	usage_decode(rec, 32, true, &u);
	assert_int_equal(u.user_ns, 2000000003);
	assert_int_equal(u.ioch, 256);
	assert_int_equal(u.system_ns, 0);
}

/* tests/lib/query.pl shares no code with us, so it has its own numbers of states. */
static void queries_have_the_names(void **state)
{
	static const struct {
		unsigned flag;
		const char *name;
	} flags[] = {
		{ WFLAG_TRACED, "TRACED" },       { WFLAG_OPEN_START, "OPEN_START" },
		{ WFLAG_OPEN_END, "OPEN_END" },   { WFLAG_IO, "IO" },
		{ WFLAG_WAKER_IRQ, "WAKER_IRQ" }, { WFLAG_REST, "REST" },
		{ WFLAG_STACK_EARLY, "STACK_EARLY" }, { WFLAG_WAKER_TIMER, "WAKER_TIMER" },
	}, span_flags[] = {
		{ SPAN_RETURNED, "RETURNED" },	   { SPAN_THREAD_END, "THREAD_END" },
		{ SPAN_EXEC, "EXEC" },		   { SPAN_LEFT, "LEFT" },
		{ SPAN_OPEN_START, "OPEN_START" }, { SPAN_OPEN_END, "OPEN_END" },
		{ SPAN_SPLIT, "SPLIT" },	   { SPAN_SAMPLED, "SAMPLED" },
		{ SPAN_OVER, "OVER" },
	};
	size_t nflags = sizeof(flags) / sizeof(*flags);
	FILE *f;
	char kind[16], name[32];

	if (access("tests/lib/query.pl", R_OK) || system("command -v perl >/dev/null"))
		skip();
	f = popen("perl tests/lib/query.pl --names", "r");
	assert_non_null(f);
	for (size_t i = 0; i < MS_COUNT + REASON_COUNT + nflags; i++) {
		size_t reason = i - MS_COUNT, flag = reason - REASON_COUNT;

		assert_int_equal(fscanf(f, "%15s %31s", kind, name), 2);
		if (i < MS_COUNT) {
			assert_string_equal(kind, "MSTATE");
			assert_string_equal(name, mstate_descs[i].name);
		} else if (reason < REASON_COUNT) {
			assert_string_equal(kind, "REASON");
			assert_string_equal(name, reason_descs[reason].name);
		} else {
			assert_string_equal(kind, "WFLAGS");
			assert_string_equal(name, flags[flag].name);
			assert_int_equal(flags[flag].flag, 1 << flag);
		}
	}
	for (size_t i = 0; i < sizeof(span_flags) / sizeof(*span_flags); i++) {
		assert_int_equal(fscanf(f, "%15s %31s", kind, name), 2);
		assert_string_equal(kind, "SPANFLAGS");
		assert_string_equal(name, span_flags[i].name);
		assert_int_equal(span_flags[i].flag, 1 << i);
	}
	assert_int_equal(fscanf(f, "%15s", kind), EOF);
	assert_int_equal(pclose(f), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tables_are_sound),
		cmocka_unit_test(states_are_sound),
		cmocka_unit_test(every_kind_comes_back_as_written),
		cmocka_unit_test(missing_fields_read_as_nothing),
		cmocka_unit_test(usage_comes_back_as_written),
		cmocka_unit_test(usage_of_others_is_understood),
		cmocka_unit_test(queries_have_the_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
