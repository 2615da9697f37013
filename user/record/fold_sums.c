/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "user/record/fold_sums.h"

#include <stdlib.h>

#include "analysis/base/alloc.h"
#include "analysis/base/intern.h"
#include "analysis/base/map.h"
#include "analysis/base/vec.h"

enum { MAX_SUMS = 4096 }; /* 0.8 MB */

struct fold_sums {
	fold_sum_put *put;
	void *ctx;
	uint64_t first_ns; /* time of the first record of the oldest sum */
	struct intern ids;
	VEC(struct fold_sum) sums;
};

struct fold_sums *fold_sums_new(fold_sum_put *put, void *ctx)
{
	struct fold_sums *f = xcalloc(1, sizeof(*f));

	f->put = put;
	f->ctx = ctx;
	return f;
}

void fold_sums_free(struct fold_sums *f)
{
	if (!f)
		return;
	intern_free(&f->ids);
	vec_free(&f->sums);
	free(f);
}

static uint64_t hash_of(const struct fold_sum *s)
{
	uint64_t thread = hash64((uint64_t)s->task.tgid << 32 | s->task.tid);

	return hash64((uintptr_t)s->output ^ hash64(thread ^ s->task.start_time) ^
		      hash64((uint64_t)s->packet.stack << 32 | s->packet.state << 16 |
			     s->info.reason) ^ hash64(s->packet.cpu));
}

static bool same(const struct fold_sum *a, const struct fold_sum *b)
{
	return a->output == b->output && a->task.tid == b->task.tid &&
	       a->task.tgid == b->task.tgid && a->task.start_time == b->task.start_time &&
	       a->packet.stack == b->packet.stack && a->packet.state == b->packet.state &&
	       a->packet.cpu == b->packet.cpu &&
	       a->info.reason == b->info.reason;
}

static struct fold_sum *find(struct fold_sums *f, const struct fold_sum *one, uint64_t hash)
{
	struct intern_probe probe = intern_probe(hash);
	uint32_t id1;

	while ((id1 = intern_next(&f->ids, &probe))) {
		if (same(&f->sums.data[id1 - 1], one))
			return &f->sums.data[id1 - 1];
	}
	return NULL;
}

bool fold_sums_add(struct fold_sums *f, const struct fold_sum *one)
{
	uint64_t hash = hash_of(one);
	struct fold_sum *s = find(f, one, hash);

	if (s) {
		s->ns += one->ns;
		if (one->packet.time_ns > s->packet.time_ns)
			s->packet.time_ns = one->packet.time_ns;
		return true;
	}
	if (f->sums.len == MAX_SUMS)
		fold_sums_write(f, UINT64_MAX);
	if (!f->sums.len)
		f->first_ns = one->packet.time_ns;
	vec_push(&f->sums, *one);
	intern_add(&f->ids, hash);
	return false;
}

void fold_sums_write(struct fold_sums *f, uint64_t before_ns)
{
	if (!f->sums.len || f->first_ns >= before_ns)
		return;
	vec_for_each(s, &f->sums)
		f->put(f->ctx, s);
	intern_free(&f->ids);
	f->sums.len = 0;
}
