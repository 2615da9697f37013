/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "user/record/recording.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/base/alloc.h"
#include "analysis/base/diag.h"
#include "analysis/experiment/span.h"
#include "user/record/kinds.h"
#include "user/record/ksymtab.h"
#include "user/record/recording_impl.h"
#include "user/record/schedule.h"

enum {
	RELIEF_NS = 4 * 1000 * 1000,
	LITTLE = 8192, /* bytes; an output with less to write waits, if more may come */
};

void recording_set_relief(struct recording *b, void (*fn)(void *ctx), void *ctx)
{
	b->relief = fn;
	b->relief_ctx = ctx;
}

void recording_on_full(struct recording *b, bool (*fn)(void *ctx), void *ctx)
{
	b->on_full = fn;
	b->full_ctx = ctx;
	expwriter_on_full(b->segment->founder.w, fn, ctx);
}

void recording_set_generated(struct recording *b,
			     void (*fn)(void *ctx, struct output *p, uint64_t pc), void *ctx)
{
	b->generated = fn;
	b->generated_ctx = ctx;
}

void recording_relieve(struct recording *b)
{
	uint64_t t = b->relief ? now_ns() : 0;

	if (t < b->relieved_ns + RELIEF_NS)
		return;
	b->relieved_ns = t;
	b->relief(b->relief_ctx);
}

/* The founder lists the CPUs; on some machines there are hundreds. */
static void announce_parts(struct segment *s, const struct plan *plan)
{
	struct exp_header h = s->header;

	h.ncpus = 0;
	expwriter_parts_begin(s->founder.w, &h);
	kinds_announce(plan, s->founder.w, true);
	expwriter_parts_end(s->founder.w);
}

static void segment_free(struct segment *s)
{
	vec_free(&s->dirty);
	vec_free(&s->open);
	map_free(&s->pools);
	strtab_free(&s->stems);
	vec_free(&s->used);
	map_free(&s->callers);
	free(s);
}

/* Create an empty experiment. 0, or -errno after reporting. */
static int segment_open(const struct plan *plan, int dirfd, const char *name,
			const struct exp_header *h, struct diag *d, struct segment **ret)
{
	struct segment *s = xcalloc(1, sizeof(*s));
	int err = expwriter_create(dirfd, name, h, d, &s->founder.w);

	if (err) {
		segment_free(s);
		return err;
	}
	s->header = *h;
	s->max_subs = plan->max_subs;
	s->founder.program = plan->program;
	kinds_announce(plan, s->founder.w, plan->program);
	announce_parts(s, plan);
	for (size_t i = 0; i < plan->ncomments; i++)
		expwriter_text(s->founder.w, "notes", plan->comments[i]);
	*ret = s;
	return 0;
}

static void recording_free(struct recording *b)
{
	vec_for_each(f, &b->pool_files)
		free(f->path);
	vec_free(&b->pool_files);
	ksymtab_close(b->ksyms);
	codes_free(b->codes);
	free(b);
}

int recording_open(int dirfd, const char *name, const struct exp_header *h, const struct plan *plan,
	      struct drops *drops, struct diag *d, struct recording **ret)
{
	struct recording *b = xcalloc(1, sizeof(*b));
	int err;

	b->drops = drops;
	b->plan = plan;
	b->codes = codes_new();
	b->ksyms = plan_sees_kernel(plan) ? ksymtab_open(plan->kallsyms, d) : NULL;
	err = plan_sees_kernel(plan) && !b->ksyms ? -EPERM :
						    segment_open(plan, dirfd, name, h, d, &b->segment);
	if (err) {
		recording_free(b);
		return err;
	}
	*ret = b;
	return 0;
}

static int output_close(struct output *p)
{
	int err = expwriter_close(p->w);

	map_free(&p->stacks);
	map_free(&p->shown);
	strtab_free(&p->pseudo);
	return err;
}

/* An image that ended shortly before the recording does has not expired yet. */
static uint64_t end_of(const struct output *p, uint64_t time_ns)
{
	uint64_t end = p->image ? p->image->end_ns : 0;

	return end && end < time_ns ? end : time_ns;
}

int recording_finish(struct recording *b, uint64_t time_ns)
{
	int err;

	while (b->segment->open.len) {
		struct output *last = b->segment->open.data[b->segment->open.len - 1];

		recording_end(b, last, end_of(last, time_ns));
	}
	expwriter_exit(b->segment->founder.w, time_ns);
	err = expwriter_flush(b->segment->founder.w);
	return b->segment->error ? b->segment->error : err;
}

static int segment_close(struct segment *s)
{
	int err = output_close(&s->founder);

	segment_free(s);
	return err;
}

int recording_close(struct recording *b)
{
	int err = segment_close(b->segment);

	recording_free(b);
	return err;
}

/* The founder has only files: nothing is recorded yet, so there is no sub-experiment. */
static void remove_files(int dirfd, const char *name)
{
	int fd = openat(dirfd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);

	for (struct dirent *e; dir && (e = readdir(dir));)
		unlinkat(fd, e->d_name, 0);
	if (dir)
		closedir(dir);
	unlinkat(dirfd, name, AT_REMOVEDIR);
}

void recording_discard(struct recording *b, int dirfd, const char *name)
{
	recording_close(b);
	remove_files(dirfd, name);
}

int recording_prepare(struct recording *b, int dirfd, const char *name, const struct exp_header *h,
		      struct diag *d)
{
	int err = segment_open(b->plan, dirfd, name, h, d, &b->next);

	if (!err)
		expwriter_on_full(b->next->founder.w, b->on_full, b->full_ctx);
	return err;
}

int recording_switch(struct recording *b)
{
	int err = segment_close(b->segment);

	b->segment = b->next;
	b->next = NULL;
	return err;
}

struct output *recording_founder(struct recording *b)
{
	return &b->segment->founder;
}

struct image *output_image(const struct output *p)
{
	return p->image;
}

struct expwriter *output_writer(struct output *p)
{
	return p->w;
}

/* Buffers count, too: on a busy machine megabytes come between two flushes. */
static void count_bytes(struct recording *b, struct output *p)
{
	uint64_t bytes = expwriter_bytes(p->w) + expwriter_pending(p->w);

	b->segment->bytes += bytes - p->bytes;
	p->bytes = bytes;
}

void recording_touch(struct recording *b, struct output *p)
{
	if (b->plan->limit_bytes)
		count_bytes(b, p);
	if (p->dirty)
		return;
	p->dirty = true;
	vec_push(&b->segment->dirty, p);
}

/* --- sub-experiments --- */

/* Only this code makes names there, so the next number of a stem is known without a search. */
static void next_name(struct recording *b, const char *stem, char *ret, size_t size)
{
	uint32_t id = strtab_id(&b->segment->stems, stem);

	if (id == b->segment->used.len)
		vec_push(&b->segment->used, 0);
	snprintf(ret, size, "%s.%u.er", stem, ++b->segment->used.data[id]);
}

struct output *output_create(struct recording *b, struct image *im, const char *stem,
			     const char *command)
{
	struct output *p = xcalloc(1, sizeof(*p));
	struct exp_header h = b->segment->header;
	struct diag quiet = { 0 };
	char name[NAME_MAX + 1];
	int err = b->segment->error;

	h.pid = im ? im->pid : 0;
	h.ppid = im ? im->ppid : 0;
	h.pgrp = h.sid = 0;
	h.cwd = "";
	h.command = command;
	p->image = im;
	if (im && im->lineage)
		snprintf(name, sizeof(name), "%s.er", im->lineage);
	else
		next_name(b, stem, name, sizeof(name));
	if (!err)
		err = expwriter_create_part(b->segment->founder.w, name, &h, &quiet, &p->w);
	diag_free(&quiet);
	if (err < 0) {
		free(p);
		return NULL;
	}
	vec_push(&b->segment->open, p);
	recording_touch(b, p);
	return p;
}

struct output *recording_others(struct recording *b)
{
	if (b->segment->others || b->segment->no_others)
		return b->segment->others ? b->segment->others : &b->segment->founder;
	b->segment->others = output_create(b, NULL, "_others_PID_0", "others");
	b->segment->no_others = !b->segment->others;
	return b->segment->others ? b->segment->others : &b->segment->founder;
}

bool recording_is_crowded(const struct recording *b)
{
	return b->segment->nsubs >= b->segment->max_subs;
}

/* Write the mappings of the image, and those that are gone: records from before may still come. */
static void map_all(struct recording *b, struct output *p, const struct image *im,
		    struct binaries *binaries)
{
	vec_for_each(o, &im->space->old) {
		if (o->until_ns <= im->begin_ns)
			continue;
		output_map(b, p, binaries, im->pid, &o->m);
		output_unmap(b, p, &o->m, o->until_ns);
	}
	vec_for_each(m, &im->space->maps)
		output_map(b, p, binaries, im->pid, m);
	recording_relieve(b);
}

struct output *recording_add(struct recording *b, struct image *im, struct binaries *binaries,
		      const char *stem, const char *command)
{
	struct output *p = NULL;

	if (!recording_is_crowded(b))
		p = output_create(b, im, stem, command);
	if (!p) {
		b->segment->max_subs = b->segment->nsubs; /* do not try again: there is no room on the disk */
		return NULL;
	}
	b->segment->nsubs++;
	map_all(b, p, im, binaries);
	return p;
}

struct output *recording_adopt(struct recording *b, struct image *im,
			       struct binaries *binaries)
{
	struct output *p = &b->segment->founder;

	p->image = im;
	map_all(b, p, im, binaries);
	return p;
}

bool output_is_process(const struct output *p)
{
	return p->image || p->program;
}

static int flush_output(struct recording *b, struct output *p)
{
	int err;

	if (p == &b->segment->founder)
		b->segment->fresh_ksyms = false;
	else if (b->segment->fresh_ksyms)
		flush_output(b, &b->segment->founder);
	err = expwriter_flush(p->w);
	count_bytes(b, p);
	p->dirty = p->waited = false;
	if (err && !b->segment->error)
		b->segment->error = err;
	recording_relieve(b);
	return err;
}

void recording_end(struct recording *b, struct output *p, uint64_t time_ns)
{
	int err;

	if (p == &b->segment->founder) {
		p->image = NULL;
		return;
	}
	expwriter_exit(p->w, time_ns);
	flush_output(b, p);
	for (size_t i = 0; i < b->segment->dirty.len; i++) {
		if (b->segment->dirty.data[i] == p)
			b->segment->dirty.data[i--] = b->segment->dirty.data[--b->segment->dirty.len];
	}
	for (size_t i = 0; i < b->segment->open.len; i++) {
		if (b->segment->open.data[i] == p)
			b->segment->open.data[i--] = b->segment->open.data[--b->segment->open.len];
	}
	b->segment->nknown -= p->stacks.len;
	err = output_close(p);
	if (err && !b->segment->error)
		b->segment->error = err;
	free(p);
}

void output_map(struct recording *b, struct output *p, struct binaries *binaries, pid_t pid,
	      const struct mapping *m)
{
	struct binary *file = binaries_get(binaries, pid, m);
	uint64_t start = b->segment->header.start_ns;

	expwriter_segment(p->w, &(struct exp_segment){
					.time_ns = m->time_ns > start ? m->time_ns : start,
					.vaddr = m->start,
					.size = m->len,
					.foffset = m->pgoff,
					.modes = 5,
					.name = file ? file->name : m->path,
					.written = file ? &file->wanted : NULL });
	recording_touch(b, p);
}

void output_unmap(struct recording *b, struct output *p, const struct mapping *m, uint64_t time_ns)
{
	uint64_t start = b->segment->header.start_ns;

	output_forget_stacks(b, p);
	expwriter_unmap(p->w, time_ns > start ? time_ns : start, m->start);
	recording_touch(b, p);
}

void output_packet(struct recording *b, struct output *p, enum er_packet kind, const int64_t *values,
		   const char *string)
{
	expwriter_packet(p->w, kind, values, string);
	recording_touch(b, p);
}

void output_span(struct recording *b, struct output *p, const struct span_packet *span)
{
	expwriter_span(p->w, span);
	recording_touch(b, p);
}

void output_clock(struct recording *b, struct output *p, const struct clock_packet *c)
{
	expwriter_clock(p->w, c);
	recording_touch(b, p);
}

/* Most processes are short and have ended by the second flush: one write instead of two. */
static bool can_wait(struct output *p)
{
	if (p->waited || expwriter_pending(p->w) > LITTLE)
		return false;
	p->waited = true;
	return true;
}

int recording_flush(struct recording *b)
{
	size_t n = 0;

	flush_output(b, &b->segment->founder);
	/* Outputs do not refer to each other, so they are flushed in any order. */
	vec_for_each(p, &b->segment->dirty) {
		if (*p == &b->segment->founder)
			continue;
		if (can_wait(*p))
			b->segment->dirty.data[n++] = *p;
		else
			flush_output(b, *p);
	}
	b->segment->dirty.len = n;
	return b->segment->error;
}

struct codes *recording_codes(struct recording *b)
{
	return b->codes;
}

const struct ksymtab *recording_ksyms(const struct recording *b)
{
	return b->ksyms;
}

const char *recording_ksym_name(struct recording *b, uint64_t pc)
{
	const struct ksym *s = ksymtab_find(b->ksyms, pc);

	return s ? s->name : NULL;
}

void recording_thread(struct recording *b, const char *line)
{
	expwriter_text(b->segment->founder.w, "threads.xml.gz", line);
}

void recording_snapshot(struct recording *b, const char *line)
{
	expwriter_text(b->segment->founder.w, "snapshots.xml.gz", line);
}

void recording_name(struct recording *b, const char *line)
{
	expwriter_text(b->segment->founder.w, "names.xml.gz", line);
}

void recording_process(struct recording *b, const char *line)
{
	expwriter_text(b->segment->founder.w, "processes.xml.gz", line);
	b->segment->nprocesses++;
}

void recording_process_exit(struct recording *b, const char *line)
{
	expwriter_text(b->segment->founder.w, "processes.xml.gz", line);
}

bool recording_list_failed(struct recording *b)
{
	bool room = b->segment->nfailed < FAILED_MAX;

	b->segment->nfailed += room;
	b->drops->n[DROP_FAILED] += !room;
	return room;
}

uint64_t recording_start(const struct recording *b)
{
	return b->segment->header.start_ns;
}

uint64_t recording_bytes(const struct recording *b)
{
	return b->segment->bytes;
}

size_t recording_nsubs(const struct recording *b)
{
	return b->segment->nsubs + b->segment->npools;
}

size_t recording_nprocesses(const struct recording *b)
{
	return b->segment->nprocesses;
}

bool recording_full(const struct recording *b)
{
	return b->plan->limit_bytes && b->segment->bytes >= b->plan->limit_bytes;
}
