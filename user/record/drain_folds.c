/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writes the time of folded threads that no record represents: a packet for many threads. */
#include <string.h>

#include "analysis/experiment/mstate.h"
#include "user/record/drain_impl.h"
#include "user/record/schedule.h"

/* What a killed recorder may lose of folded threads. Reports show CPU time by seconds. */
#define FOLD_NS 10000000000ULL
#define FOLD_CPU_NS 1000000000ULL

/* Threads that the user has chosen are shown one by one. */
static struct folds *new_folds(const struct drain_parts *p)
{
	return p->each_thread || p->targets ? NULL : folds_new(p->recording);
}

/* Sums are packets like all others, of a thread that has the fold's number and name. */
static void put_sum(void *ctx, const struct fold_sum *sum)
{
	struct drain *dr = ctx;
	const struct actor a = { .task = &sum->task, .comm = sum->task.comm };
	struct clock_packet packet = sum->packet;
	struct wait_info info = sum->info;

	if (recording_full(dr->parts.recording)) {
		drops_limit(dr->parts.drops, packet.time_ns);
		return;
	}
	info.length_ns = sum->ns;
	packet.wait = mstate_descs[packet.state].on_cpu ? NULL : &info;
	drain_packet(dr, sum->output, &a, &packet, sum->ns);
}

void drain_begin_folds(struct drain *dr)
{
	dr->folds = new_folds(&dr->parts);
	if (!dr->folds)
		return;
	dr->unsampled_cpu = fold_sums_new(put_sum, dr);
	dr->unsampled_waits = fold_sums_new(put_sum, dr);
}

void drain_free_folds(struct drain *dr)
{
	folds_free(dr->folds);
	fold_sums_free(dr->unsampled_cpu);
	fold_sums_free(dr->unsampled_waits);
}

void drain_write_folds(struct drain *dr, bool all)
{
	uint64_t now = now_ns();

	if (!dr->folds)
		return;
	fold_sums_write(dr->unsampled_cpu, all ? UINT64_MAX : now - FOLD_CPU_NS);
	fold_sums_write(dr->unsampled_waits, all ? UINT64_MAX : now - FOLD_NS);
	folds_write(dr->folds, all ? UINT64_MAX : now - FOLD_NS);
}

bool drain_fold(struct drain *dr, struct output *p, const struct actor *a, uint32_t fold,
		const struct clock_packet *c, uint64_t weight_ns, bool *joined)
{
	bool main_thread = a->task->tid == a->task->tgid;
	struct fold_sum one = {
		.output = p,
		.task = { .tgid = main_thread ? fold : a->task->tgid, .tid = fold,
			  .start_time = main_thread ? 0 : a->task->start_time },
		.packet = *c,
		.ns = weight_ns,
	};

	if (output_is_process(p))
		return false;
	memcpy(one.task.comm, a->comm, strnlen(a->comm, sizeof(one.task.comm)));
	if (c->wait)
		one.info = *c->wait;
	one.packet.wait = NULL;
	*joined = fold_sums_add(c->wait ? dr->unsampled_waits : dr->unsampled_cpu, &one);
	return true;
}
