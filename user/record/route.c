/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Chooses the one experiment for a record: the image's sub-experiment if -F selects the image, or
 * its program's. Otherwise it is the founder for time on the CPU, and _others for time off the
 * CPU. Kernel threads and idle CPUs have no image. Packets of a process that is not followed have
 * its kernel stacks, and one frame <comm_PID_n> instead of user frames.
 * Packets of the recorder's own processes have only the frame <Recording>, so that a reader does
 * not take them for load.
 *
 * The drain owns the outputs only through image->owner; procmap_expire or the recording
 * ends them.
 */
#include <stdio.h>
#include <string.h>

#include "user/record/drain_impl.h"
#include "user/record/pools.h"
#include "user/record/processes.h"
#include "user/record/schedule.h"
#include "user/unwind/worker.h"

/* Marks an image that -F does not select, the recorder's, or one for which there was no room. */
static char not_followed;

static struct output *own_output(const struct image *im)
{
	return im && im->owner != &not_followed ? im->owner : NULL;
}

static void on_mapped(void *ctx, struct image *im, const struct mapping *m)
{
	struct drain *dr = ctx;

	if (!own_output(im))
		return;
	if (output_is_pool(im->owner))
		pool_map(dr->parts.recording, dr->parts.binaries, im->pid, m);
	else
		output_map(dr->parts.recording, im->owner, dr->parts.binaries, im->pid, m);
}

static void on_unmapped(void *ctx, struct image *im, const struct mapping *m, uint64_t time_ns)
{
	struct drain *dr = ctx;

	if (own_output(im) && !output_is_pool(im->owner))
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

	if (own_output(im) && !output_is_pool(im->owner))
		recording_end(dr->parts.recording, im->owner, im->end_ns);
	im->owner = NULL;
	if (dr->unwinder)
		unwinder_forget(dr->unwinder, im, now_ns());
}

static bool on_unmapped_file(void *ctx, uint32_t file)
{
	struct drain *dr = ctx;

	if (dr->unwinder && !unwinder_forget_file(dr->unwinder, file))
		return false;
	binaries_unmapped(dr->parts.binaries, file);
	return true;
}

static void on_forget_file(void *ctx, uint32_t file)
{
	struct drain *dr = ctx;

	pool_forget_file(dr->parts.recording, file);
}

const struct procmap_hooks drain_hooks = {
	.mapped = on_mapped,
	.unmapped = on_unmapped,
	.changed = on_changed,
	.forget = on_forget,
	.unmapped_file = on_unmapped_file,
	.forget_file = on_forget_file,
};

/*
 * The recorder's own processes: itself, and for unwind tables a supervisor with a child. A child
 * whose parent has ended has another parent, but the supervisor ends last.
 */
static bool is_recorder(const struct drain *dr, const struct image *im)
{
	const struct drain_parts *p = &dr->parts;
	pid_t supervisor = p->worker ? unwind_worker_pid(p->worker) : 0;

	return (p->recorder && im->pid == p->recorder) ||
	       (supervisor && (im->pid == supervisor || im->ppid == supervisor));
}

static bool is_recorder_task(struct drain *dr, const struct er_task *task, uint64_t time_ns)
{
	const struct image *im;

	vec_for_each(known, &dr->recorders) {
		if (known->tgid == task->tgid && known->start_time == task->start_time)
			return true;
	}
	im = procmap_image(dr->procmap, task->tgid, task->start_time, time_ns);
	if (!im || !is_recorder(dr, im))
		return false;
	vec_push(&dr->recorders, *task);
	return true;
}

struct actor route_actor(struct drain *dr, const struct er_task *task, bool kthread,
			 uint64_t time_ns)
{
	bool recorder = !kthread && is_recorder_task(dr, task, time_ns);

	return (struct actor){ .task = task, .comm = recorder ? RECORDING : task->comm,
			       .kthread = kthread, .recorder = recorder };
}

/*
 * Find an output for the image; its own if that is wanted and possible. NULL: no directory could be
 * made.
 */
static struct output *adopt(struct drain *dr, struct image *im, bool own)
{
	const struct drain_parts *p = &dr->parts;
	struct buf command = { 0 };
	struct output *output = NULL;
	char stem[64];

	process_command(im, &command);
	follow_stem(im, stem, sizeof(stem));
	if (own)
		output = recording_add(p->recording, im, p->binaries, stem, command.data);
	if (!output)
		output = recording_pool(p->recording, im, p->binaries);
	if (output) {
		process_note(p->recording, output, im, command.data);
		dr->nprograms += !im->noted;
		im->noted = true;
	}
	buf_free(&command);
	return output;
}

static void make_output(struct drain *dr, struct image *im)
{
	const struct follow *follow = dr->parts.follow;
	struct output *output = NULL;

	if (!is_recorder(dr, im) && follow_wants(follow, im))
		output = adopt(dr, im, follow->mode != FOLLOW_SHARED);
	im->owner = output ? (void *)output : &not_followed;
}

struct output *route_own(struct drain *dr, const struct actor *a, uint64_t time_ns)
{
	struct image *im = procmap_image(dr->procmap, a->task->tgid, a->task->start_time, time_ns);
	struct output *output = own_output(im);

	if (!output || !output_is_pool(output) || recording_is_crowded(dr->parts.recording))
		return output;
	return im->owner = adopt(dr, im, true);
}

uint64_t route_data(struct drain *dr, const struct actor *a, uint64_t time_ns, struct output *p,
		    uint64_t address)
{
	const struct image *im = NULL;

	if (address && output_is_pool(p))
		im = procmap_image(dr->procmap, a->task->tgid, a->task->start_time, time_ns);
	return im ? output_data(dr->parts.recording, p, im, address) : address;
}

/* Whether processes.xml lists a program that the process ran before. */
static bool has_listed_program(const struct image *im)
{
	for (im = im->older; im; im = im->older)
		if (im->noted)
			return true;
	return false;
}

struct output *route_output(struct drain *dr, const struct actor *a, uint64_t time_ns, bool make)
{
	struct image *im;

	if (a->kthread)
		return NULL;
	im = procmap_image(dr->procmap, a->task->tgid, a->task->start_time, time_ns);
	if (im && !im->owner && (make || has_listed_program(im)))
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
	if (a->recorder)
		snprintf(ret, size, "%s", RECORDING);
	else
		snprintf(ret, size, "<%.*s_PID_%u>", (int)strnlen(a->comm, sizeof(a->task->comm)),
			 a->comm, a->task->tgid);
}
