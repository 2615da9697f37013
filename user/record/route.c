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

#include "user/jit/runtime.h"
#include "user/record/drain_impl.h"
#include "user/record/pools.h"
#include "user/record/schedule.h"
#include "user/space/opener.h"
#include "user/unwind/tablesource.h"
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

	if (dr->jit)
		jit_names_forget(dr->jit, im);
	late_lines_forget(&dr->late_lines, dr->parts.recording, im);
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

/*
 * A stack can be kept for longer than its process lives: the stack of a waker until the thread that
 * it woke gets a CPU, the last stack of a state until the thread's total. In a later segment its
 * frames must not become those of another file.
 */
static bool on_forget_file(void *ctx, uint32_t file)
{
	struct drain *dr = ctx;
	bool held = stacks_has_file(dr->stacks, file);

	if (held)
		pool_keep_file(dr->parts.recording, file);
	else
		pool_forget_file(dr->parts.recording, file);
	return !held;
}

static bool is_family(pid_t parent, const struct image *im)
{
	return parent && (im->pid == parent || im->ppid == parent);
}

/*
 * The recorder's own processes: itself, two with children for unwind tables, one with children that
 * open files. A child whose parent has ended has another parent, but these three end last. The process
 * of a program is the recorder's until it executes the program.
 */
static bool is_recorder(const struct drain *dr, const struct image *im)
{
	const struct drain_parts *p = &dr->parts;

	return im->launcher || (p->recorder && im->pid == p->recorder) || is_family(opener_pid(), im) ||
	       is_family(p->worker ? unwind_worker_pid(p->worker) : 0, im) ||
	       is_family(p->tables ? table_source_pid(p->tables) : 0, im);
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
	if (!im->launcher)
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

static bool is_founder(const struct image *im)
{
	return im->lineage && !*im->lineage;
}

/* The line is written before the first packet, so it can name the main thread. */
static void note_process(struct drain *dr, struct output *output, const struct image *im,
			 uint64_t start_time, const char *command)
{
	uint64_t start = recording_start(dr->parts.recording);
	uint64_t begin = im->begin_ns > start ? im->begin_ns : start;
	struct process_line line = { .image = im, .start_time = start_time, .command = command };

	line.named = start_time &&
		     thread_names_process(dr->names, im->pid, start_time, im->comm, begin);
	process_note(dr->parts.recording, output, &line);
}

/*
 * As process_command, but first look for the command line that BPF sent. The log of an `own` output has
 * more of a long one than that.
 */
static bool find_command(struct drain *dr, const struct image *im, uint64_t start_time, bool own, struct buf *ret)
{
	const char *sent = NULL;
	bool whole = false;

	if (im->executed)
		sent = commands_find(dr->commands, im->pid, start_time, im->begin_ns, im->end_ns, &whole);
	if (!sent || !*sent || (own && !whole && !im->end_ns))
		return process_command(im, ret);
	buf_puts(ret, sent);
	return true;
}

/* Each segment has a table of processes of its own. */
static uint64_t table_mark(const struct drain *dr)
{
	return recording_start(dr->parts.recording) + 1;
}

static void set_listed(struct drain *dr, struct image *im)
{
	dr->nprograms += !im->noted;
	im->noted = true;
	im->listed = table_mark(dr);
}

/*
 * Find an output for the image; its own if that is wanted and possible. NULL: no directory could be
 * made.
 */
static struct output *adopt(struct drain *dr, struct image *im, uint64_t start_time, bool own)
{
	const struct drain_parts *p = &dr->parts;
	struct buf command = { 0 };
	struct output *output = NULL;
	bool known = find_command(dr, im, start_time, own, &command);
	char stem[64];

	follow_stem(im, stem, sizeof(stem));
	if (is_founder(im))
		output = recording_adopt(p->recording, im, p->binaries);
	else if (own)
		output = recording_add(p->recording, im, p->binaries, stem, command.data);
	if (!output)
		output = recording_pool(p->recording, im, p->binaries);
	if (output) {
		if (known) {
			/* The next segment names the process, too, and it may have ended by then. */
			if (dr->cuts)
				process_keep_command(im, command.data);
			note_process(dr, output, im, start_time, command.data);
		} else {
			process_note_late(&dr->late_lines, output, im, start_time);
		}
		set_listed(dr, im);
	}
	buf_free(&command);
	return output;
}

/* A program without descendants is followed from one exec to the next. */
static bool is_followed(const struct drain *dr, const struct image *im)
{
	const struct follow *follow = dr->parts.follow;

	if (is_recorder(dr, im))
		return false;
	return is_founder(im) || (dr->parts.program && follow->mode == FOLLOW_OFF) ||
	       follow_wants(follow, im);
}

/* Of a process that is not followed no user frames are shown. */
static void on_any(void *ctx, struct image *im, const struct mapping *m)
{
	struct drain *dr = ctx;

	if (dr->jit && runtime_is_java(m) && is_followed(dr, im))
		unwinder_await_vm(dr->unwinder, im, true);
}

const struct procmap_hooks drain_hooks = {
	.mapped = on_mapped,
	.unmapped = on_unmapped,
	.changed = on_changed,
	.any = on_any,
	.forget = on_forget,
	.unmapped_file = on_unmapped_file,
	.forget_file = on_forget_file,
};

static void make_output(struct drain *dr, struct image *im, uint64_t start_time)
{
	bool own = dr->parts.follow->mode != FOLLOW_SHARED || dr->parts.program;
	struct output *output = NULL;

	if (is_followed(dr, im))
		output = adopt(dr, im, start_time, own);
	im->owner = output ? (void *)output : &not_followed;
}

bool route_may_make(struct drain *dr, const struct actor *a, uint64_t time_ns)
{
	const struct image *im;

	if (!dr->parts.program)
		return true;
	im = procmap_image(dr->procmap, a->task->tgid, a->task->start_time, time_ns);
	return im && im->lineage;
}

/* A program's founder has only the program's own time, and that of its start. */
struct output *route_rest(struct drain *dr, const struct actor *a, bool on_cpu)
{
	bool founder = dr->parts.program ? a->recorder : on_cpu;

	return founder ? recording_founder(dr->parts.recording) :
			 recording_others(dr->parts.recording);
}

struct output *route_own(struct drain *dr, const struct actor *a, uint64_t time_ns)
{
	struct image *im = procmap_image(dr->procmap, a->task->tgid, a->task->start_time, time_ns);
	struct output *output = own_output(im);

	if (!output || !output_is_pool(output) || recording_is_crowded(dr->parts.recording))
		return output;
	return im->owner = adopt(dr, im, a->task->start_time, true);
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

/* Whether a process without a packet in this segment is listed, too. */
static bool wants_line(struct drain *dr, const struct image *im, const struct er_total *t)
{
	bool ended = t->flags & ER_TOTAL_ENDED;

	if (dr->parts.each_thread && t->flags & (ER_TOTAL_BORN | ER_TOTAL_ENDED))
		return true;
	/* One that an earlier segment lists would seem to go on. */
	return ended && (im->noted || (t->exit_status && recording_list_failed(dr->parts.recording)));
}

bool route_list(struct drain *dr, const struct actor *a, const struct er_total *t)
{
	struct buf command = { 0 };
	struct image *im;

	if (a->kthread || a->recorder)
		return false;
	im = procmap_image(dr->procmap, a->task->tgid, a->task->start_time, t->end_ns);
	if (!im || !is_followed(dr, im))
		return false;
	if (im->listed == table_mark(dr))
		return true;
	if (!wants_line(dr, im, t))
		return false;
	find_command(dr, im, a->task->start_time, false, &command);
	note_process(dr, NULL, im, a->task->start_time, command.data);
	set_listed(dr, im);
	buf_free(&command);
	return true;
}

struct output *route_output(struct drain *dr, const struct actor *a, uint64_t time_ns, bool make)
{
	struct image *im;

	if (a->kthread)
		return NULL;
	im = procmap_image(dr->procmap, a->task->tgid, a->task->start_time, time_ns);
	if (im && !im->owner && (make || has_listed_program(im)))
		make_output(dr, im, a->task->start_time);
	return own_output(im);
}

void route_count_end(struct drain *dr, const struct actor *a, uint64_t time_ns, enum ends_kind kind,
		     uint64_t stack, uint64_t weight_ns)
{
	struct image *im;

	if (a->kthread || !stack)
		return;
	im = procmap_image(dr->procmap, a->task->tgid, a->task->start_time, time_ns);
	if (im)
		ends_count(dr->ends, im, kind, stacks_end(dr->stacks, stack, im), weight_ns);
}

void route_pseudo_name(const struct actor *a, char *ret, size_t size)
{
	if (a->recorder)
		snprintf(ret, size, "%s", RECORDING);
	else
		snprintf(ret, size, "<%.*s_PID_%u>", (int)strnlen(a->comm, sizeof(a->task->comm)),
			 a->comm, a->task->tgid);
}
