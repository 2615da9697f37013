/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "user/record/pools.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <linux/types.h>

#include "analysis/base/alloc.h"
#include "bpf/frame.h"
#include "user/record/addresses.h"
#include "user/record/recording_impl.h"
#include "user/space/extent.h"

enum { MAX_POOLS = 1024 };

#define OTHER_PROGRAMS UINT64_MAX /* a key; no file has this number */

bool output_is_pool(const struct output *p)
{
	return p->pool;
}

/* --- the files that are mapped --- */

static struct pool_file *file_of(struct recording *b, uint32_t number)
{
	while (b->pool_files.len <= number)
		vec_push(&b->pool_files, (struct pool_file){ 0 });
	return &b->pool_files.data[number];
}

/*
 * Add the part [from, to) of a file, except what is already known. Parts never overlap, because
 * readers take a segment that overlaps an earlier one for its replacement.
 */
static void add_part(struct pool_file *f, uint64_t from, uint64_t to)
{
	for (unsigned i = 0; i < f->nparts; i++) {
		const struct pool_part *have = &f->parts[i];

		if (from >= have->to || to <= have->from)
			continue;
		if (from < have->from)
			add_part(f, from, have->from);
		from = have->to;
		if (from >= to)
			return;
	}
	if (f->nparts < POOL_PARTS)
		f->parts[f->nparts++] = (struct pool_part){ from, to };
}

void pool_map(struct recording *b, struct binaries *binaries, pid_t pid, const struct mapping *m)
{
	struct pool_file *f = m->file ? file_of(b, m->file) : NULL;

	if (!f)
		return;
	if (!f->known) {
		f->known = true;
		f->binary = binaries_get(binaries, pid, m);
		f->path = f->binary ? NULL : xstrdup(m->path);
	}
	add_part(f, m->pgoff, m->pgoff + m->len);
}

void pool_forget_file(struct recording *b, uint32_t file)
{
	struct pool_file *f = file_of(b, file);

	free(f->path);
	*f = (struct pool_file){ 0 };
}

void pool_keep_file(struct recording *b, uint32_t file)
{
	struct pool_file *f = file_of(b, file);

	if (f->binary)
		f->path = xstrdup(f->binary->name);
	f->binary = NULL;
}

/* --- pools --- */

/* "_cc1": the directory's name, before its number and suffix. */
static void pool_stem(const struct image *im, char *ret, size_t size)
{
	const char *name = image_file(im);
	size_t n = 1;

	*ret = '_';
	for (; *name && n + 1 < size; name++) {
		unsigned char c = *name;

		ret[n++] = isascii(c) && (isalnum(c) || strchr(".+-", c)) ? c : '_';
	}
	ret[n] = 0;
	if (n == 1)
		snprintf(ret, size, "_unknown");
}

/* `im` is one of the processes. NULL: the pool of programs that share. */
static struct output *make_pool(struct recording *b, const struct image *im)
{
	const struct mapping *program = im ? image_program(im) : NULL;
	char stem[64] = "_programs";
	struct output *p;

	if (im)
		pool_stem(im, stem, sizeof(stem));
	p = output_create(b, NULL, stem, program ? program->path : stem + 1);
	if (!p)
		return NULL;
	p->pool = true;
	b->segment->npools++;
	return p;
}

/*
 * A program is identified by its path and device. One that is built again has another inode, but a
 * build of many programs would have thousands of pools. In a pool each file has addresses of its own.
 */
static uint64_t key_of(const struct mapping *program)
{
	return program ? hash64(program->dev ^ hash_bytes(program->path, strlen(program->path))) : 0;
}

static struct output *find_pool(struct recording *b, const struct image *im)
{
	uint64_t *at, key = key_of(image_program(im));

	if (b->segment->npools >= MAX_POOLS && !map_get(&b->segment->pools, key))
		key = OTHER_PROGRAMS;
	at = map_put(&b->segment->pools, key, NULL);
	if (!*at)
		*at = (uintptr_t)make_pool(b, key == OTHER_PROGRAMS ? NULL : im);
	return (struct output *)(uintptr_t)*at;
}

struct output *recording_pool(struct recording *b, const struct image *im,
			      struct binaries *binaries)
{
	struct output *p = find_pool(b, im);

	if (!p) {
		b->drops->n[DROP_EXPERIMENT]++;
		return NULL;
	}
	vec_for_each(o, &im->space->old)
		pool_map(b, binaries, im->pid, &o->m);
	vec_for_each(m, &im->space->maps)
		pool_map(b, binaries, im->pid, m);
	return p;
}

/* --- addresses --- */

static void write_part(struct recording *b, struct output *p, uint32_t number, unsigned i)
{
	struct pool_file *f = &b->pool_files.data[number];
	const struct pool_part *part = &f->parts[i];
	bool fresh;

	map_put(&p->shown, (uint64_t)number * POOL_PARTS + i + POOL_BASE, &fresh);
	if (!fresh)
		return;
	expwriter_segment(p->w, &(struct exp_segment){
		.time_ns = b->segment->header.start_ns,
		.vaddr = address_in_pool(er_frame(number, part->from)),
		.size = part->to - part->from,
		.foffset = part->from,
		.modes = 5,
		.name = f->binary ? f->binary->name : f->path,
		.written = f->binary ? &f->binary->wanted : NULL });
}

static void write_segment(struct recording *b, struct output *p, uint64_t frame)
{
	uint32_t number = er_frame_file(frame);
	uint64_t offset = er_frame_offset(frame);
	const struct pool_file *f = number < b->pool_files.len ? &b->pool_files.data[number] : NULL;

	for (unsigned i = 0; f && i < f->nparts; i++)
		if (offset >= f->parts[i].from && offset < f->parts[i].to)
			write_part(b, p, number, i);
}

/* The address of an interpreted function's instruction. A new function is written first. */
static uint64_t code_address(struct recording *b, struct output *p, uint64_t frame)
{
	const struct exp_code *code = codes_find(b->codes, frame, &frame);
	struct exp_code shown = *code;
	bool fresh;

	shown.time_ns = b->segment->header.start_ns;
	shown.vaddr = address_in_pool(er_frame(er_frame_file(frame), 0));
	map_put(&p->shown, shown.vaddr, &fresh);
	if (fresh)
		expwriter_dynamic(p->w, &shown);
	return address_in_pool(frame);
}

uint64_t output_address(struct recording *b, struct output *p, uint64_t frame, uint64_t time_ns)
{
	if (p->image && !(frame & ER_FRAME_FILE) && b->generated)
		b->generated(b->generated_ctx, p, frame);
	if (er_frame_is_code(frame))
		return code_address(b, p, frame);
	if (p->image)
		return address_in_image(p->image, frame, time_ns);
	if (frame & ER_FRAME_FILE)
		write_segment(b, p, frame);
	return address_in_pool(frame);
}

/* The mapping of a file that is nearest below the address. */
static const struct mapping *mapping_below(const struct image *im, uint64_t address)
{
	const struct mapping *best = NULL;

	vec_for_each(m, &im->space->maps) {
		if (m->start <= address && (!best || m->start > best->start))
			best = m;
	}
	return best && best->file ? best : NULL;
}

uint64_t output_data(struct recording *b, struct output *p, const struct image *im,
		     uint64_t address)
{
	const struct mapping *m = p->pool ? mapping_below(im, address) : NULL;
	struct pool_file *f = m ? file_of(b, m->file) : NULL;

	if (!f || !f->known)
		return address;
	if (!f->has_extent)
		f->extent = extent_of_file(im->pid, m);
	f->has_extent = true;
	if (address - m->start + m->pgoff >= f->extent)
		return address;
	write_segment(b, p, er_frame(m->file, m->pgoff));
	return address_in_pool(er_frame(m->file, m->pgoff)) + (address - m->start);
}
