/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Numbers threads and LWPs of user experiments from 1. */
#include "analysis/experiment/exp_numbers.h"

#include "analysis/experiment/exp_packets.h"
#include "analysis/experiment/experiment_impl.h"

static void number(struct map *numbers, int64_t id)
{
	bool fresh;
	uint64_t *at = map_put(numbers, id, &fresh);

	if (fresh)
		*at = numbers->len;
}

static void number_stream(struct experiment *e, const struct exp_stream *st)
{
	struct field_ref thread = stream_field(st, "THRID"), lwp = stream_field(st, "LWPID");
	struct packet_iter it;
	struct packet p;

	packet_iter_init(&it, e, st);
	while (packet_next(&it, &p)) {
		number(&e->thread_numbers, packet_int(&p, thread));
		number(&e->lwp_numbers, packet_int(&p, lwp));
	}
}

static bool is_clock(const struct exp_stream *st)
{
	return st->kind == ER_PKT_CLOCK || st->kind == ER_PKT_PROF;
}

/* gprofng reads clock packets before all others. */
static void number_all(struct experiment *e)
{
	for (int clock = 1; clock >= 0; clock--) {
		vec_for_each(st, &e->streams) {
			if (is_clock(st) == clock)
				number_stream(e, st);
		}
	}
}

static int64_t number_of(struct experiment *e, const struct map *numbers, int64_t id)
{
	const uint64_t *at;

	if (!e->numbered)
		number_all(e);
	e->numbered = true;
	at = map_get(numbers, id);
	return at ? (int64_t)*at : 0;
}

int64_t experiment_thread_number(struct experiment *e, int64_t thrid)
{
	return number_of(e, &e->thread_numbers, thrid);
}

int64_t experiment_lwp_number(struct experiment *e, int64_t lwpid)
{
	return number_of(e, &e->lwp_numbers, lwpid);
}
