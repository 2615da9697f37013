/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Chooses the one experiment for a record: the image's sub-experiment if -F selects the image and
 * there is room. Otherwise it is the founder for time on the CPU, and _others for time off the
 * CPU. Kernel threads and idle CPUs have no image. Packets of a process that is not followed have
 * its kernel stacks, and one frame <comm_PID_n> instead of user frames.
 *
 * The drain owns the outputs only through image->owner; procmap_expire or the recording
 * ends them.
 */
#include <stdio.h>
#include <string.h>

#include "user/record/drain_impl.h"
#include "user/record/schedule.h"

/* Marks an image that -F does not select, or for which there was no room. */
static char not_followed;

static struct output *own_output(const struct image *im)
{
	return im && im->owner != &not_followed ? im->owner : NULL;
}

static void on_mapped(void *ctx, struct image *im, const struct mapping *m)
{
	struct drain *dr = ctx;

	if (own_output(im))
		output_map(dr->parts.recording, im->owner, dr->parts.binaries, im->pid, m);
}

static void on_unmapped(void *ctx, struct image *im, const struct mapping *m, uint64_t time_ns)
{
	struct drain *dr = ctx;

	if (own_output(im))
		output_unmap(dr->parts.recording, im->owner, m, time_ns);
}

static void on_changed(void *ctx, struct image *im)
{
	struct drain *dr = ctx;

	if (dr->unwinder)
		unwinder_changed(dr->unwinder, im);
}

static void on_forget(void *ctx, struct image *im)
{
	struct drain *dr = ctx;

	if (own_output(im))
		recording_end(dr->parts.recording, im->owner, im->end_ns);
	im->owner = NULL;
	if (dr->unwinder)
		unwinder_forget(dr->unwinder, im, now_ns());
}

const struct procmap_hooks drain_hooks = {
	.mapped = on_mapped,
	.unmapped = on_unmapped,
	.changed = on_changed,
	.forget = on_forget,
};

static void make_output(struct drain *dr, struct image *im)
{
	const struct drain_parts *p = &dr->parts;
	struct output *output = NULL;
	char stem[64];

	follow_stem(im, stem, sizeof(stem));
	if (follow_wants(p->follow, im))
		output = recording_add(p->recording, im, p->binaries, stem);
	im->owner = output ? (void *)output : &not_followed;
}

struct output *route_output(struct drain *dr, const struct actor *a, uint64_t time_ns, bool make)
{
	struct image *im;

	if (a->kthread)
		return NULL;
	im = procmap_image(dr->procmap, a->task->tgid, a->task->start_time, time_ns);
	if (im && !im->owner && make)
		make_output(dr, im);
	return own_output(im);
}

void route_count_end(struct drain *dr, const struct actor *a, uint64_t time_ns, enum ends_kind kind,
		     uint64_t stack, uint64_t weight_ns)
{
	enum er_end end = stack ? stacks_end(dr->stacks, stack) : ER_END_NOT;
	struct image *im;

	if (a->kthread || end == ER_END_NOT)
		return;
	im = procmap_image(dr->procmap, a->task->tgid, a->task->start_time, time_ns);
	if (im)
		ends_count(dr->ends, im, kind, end, weight_ns);
}

void route_pseudo_name(const struct actor *a, char *ret, size_t size)
{
	snprintf(ret, size, "<%.*s_PID_%u>", (int)strnlen(a->task->comm, sizeof(a->task->comm)),
		 a->task->comm, a->task->tgid);
}
