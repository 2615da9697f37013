/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "user/record/lost.h"

#include <inttypes.h>

#include "analysis/base/buf.h"
#include "analysis/base/diag.h"

static const char *const effects[EFFECT_COUNT] = {
	"times and counts in reports are too small by that",
	"some time is under <Stack-lost> or has no stack",
	"some code is <Unknown>",
	"the user code of some processes is one frame, <NAME_PID_n>",
};

static void add(struct buf *b, const char *separator, const char *text)
{
	buf_printf(b, "%s%s", b->len ? separator : "", text);
}

/* A lost wait takes only its stack with it: its time is in the thread's total. */
static unsigned effect_of(int kind)
{
	return kind == ER_KIND_WAIT || kind == ER_KIND_STACK ? EFFECT_NO_STACK : EFFECT_TOO_SMALL;
}

/* "2 of 5 waits, 1 stack". Returns the effects on reports. */
static unsigned put_records(const struct record_counts *n, struct buf *b)
{
	unsigned means = 0;

	for (int kind = 0; kind < ER_KIND_COUNT; kind++) {
		const struct ring_desc *ring = data_kind(kind)->ring;
		const struct kind_count *c = &n->of[kind];

		if (!c->lost || !ring || !ring->one)
			continue;
		add(b, ", ", "");
		buf_printf(b, "%" PRIu64 " of %" PRIu64 " %s", c->lost, c->produced,
			   c->produced == 1 ? ring->one : ring->many);
		means |= effect_of(kind);
	}
	if (n->of[ER_KIND_STACK].lost) {
		add(b, ", ", "");
		buf_printf(b, "%" PRIu64 " stack%s", n->of[ER_KIND_STACK].lost,
			   n->of[ER_KIND_STACK].lost == 1 ? "" : "s");
		means |= effect_of(ER_KIND_STACK);
	}
	return means;
}

static unsigned put_drops(const struct drops *drops, struct buf *b)
{
	unsigned means = 0;

	for (int i = 0; i < DROP_COUNT; i++) {
		const struct drop_desc *drop = &drop_descs[i];

		if (!drops->n[i] || !drop->one)
			continue;
		add(b, ", ", "");
		buf_printf(b, "%" PRIu64 " %s", drops->n[i], drops->n[i] == 1 ? drop->one : drop->many);
		means |= drop->effects;
	}
	return means;
}

void lost_say(const char *path, const struct record_counts *n, const struct drops *drops,
	      struct diag *d)
{
	struct buf b = { 0 }, meaning = { 0 };
	unsigned means = put_records(n, &b);

	means |= put_drops(drops, &b);
	for (int i = 0; i < EFFECT_COUNT; i++) {
		if (means & 1u << i)
			add(&meaning, "; ", effects[i]);
	}
	if (b.len)
		diag_warn(d, "experiment '%s': lost: %s: %s: er_print -header says whose, and what helps",
			  path, b.data, meaning.data);
	buf_free(&b);
	buf_free(&meaning);
}
