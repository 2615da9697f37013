/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "analysis/export/export.h"
#include "analysis/export/perfetto_impl.h"
#include "analysis/export/protobuf.h"
#include "analysis/metrics/tally.h"
#include "analysis/model/source.h"
#include "analysis/symbols/symtab.h"
#include "analysis/views/columns.h"

enum {
	INTERNED_FUNCTION = 5, INTERNED_FRAME = 6, INTERNED_STACK = 7, INTERNED_BUILD_ID = 16,
	INTERNED_PATH = 17, INTERNED_SOURCE = 18, INTERNED_MAPPING = 19,
	STRING_ID = 1, STRING_BYTES = 2,
	MAPPING_ID = 1, MAPPING_BUILD_ID = 2, MAPPING_PATH = 7,
	FRAME_ID = 1, FRAME_FUNCTION = 2, FRAME_MAPPING = 3, FRAME_ADDRESS = 4, FRAME_SOURCE = 5,
	FRAME_LINE = 6,
	STACK_ID = 1, STACK_FRAMES = 2,
};

/* Frames that represent a function of a hidden object have ids from here on. */
static const uint64_t MERGED = (uint64_t)1 << 32;

static void define_string(struct perfetto *p, unsigned field, uint64_t id, const void *s, size_t n)
{
	pb_uint(&p->inner, STRING_ID, id);
	pb_bytes(&p->inner, STRING_BYTES, s, n);
	pb_message(&p->interned, field, &p->inner);
}

static void define_text(struct perfetto *p, unsigned field, uint64_t id, const char *s)
{
	const char *text = perfetto_text(p, s);

	define_string(p, field, id, text, strlen(text));
}

static int hex_digit(char c)
{
	const char *digits = "0123456789abcdef", *at = c ? strchr(digits, c) : NULL;

	return at ? at - digits : -1;
}

/* Append a build id in bytes, as Perfetto requires. Returns whether there is one. */
static bool define_build_id(struct perfetto *p, const struct loadobj *o)
{
	const char *hex = o->symtab ? symtab_build_id(o->symtab) : NULL;
	unsigned char id[64];
	size_t n = 0;

	for (; hex && n < sizeof(id) && hex_digit(hex[0]) >= 0 && hex_digit(hex[1]) >= 0; hex += 2)
		id[n++] = hex_digit(hex[0]) << 4 | hex_digit(hex[1]);
	if (n)
		define_string(p, INTERNED_BUILD_ID, o->id + 1, id, n);
	return n;
}

/* The id of an object's mapping. Perfetto puts a / before each component of a path. */
static uint64_t mapping(struct perfetto *p, const struct loadobj *o)
{
	bool fresh, build_id;

	map_put(&p->objects, o->id, &fresh);
	if (!fresh)
		return o->id + 1;
	build_id = define_build_id(p, o);
	define_text(p, INTERNED_PATH, o->id + 1, o->path + (*o->path == '/'));
	pb_uint(&p->inner, MAPPING_ID, o->id + 1);
	if (build_id)
		pb_uint(&p->inner, MAPPING_BUILD_ID, o->id + 1);
	pb_uint(&p->inner, MAPPING_PATH, o->id + 1);
	pb_message(&p->interned, INTERNED_MAPPING, &p->inner);
	return o->id + 1;
}

static uint64_t function(struct perfetto *p, const struct func *f)
{
	bool fresh;

	map_put(&p->funcs, f->id, &fresh);
	if (fresh)
		define_text(p, INTERNED_FUNCTION, f->id + 1, func_name(p->x->view, f));
	return f->id + 1;
}

static uint64_t source(struct perfetto *p, const char *file)
{
	size_t before = p->sources.len;
	uint32_t id = strtab_id(&p->sources, file);

	if (id == before)
		define_text(p, INTERNED_SOURCE, id + 1, file);
	return id + 1;
}

/* frame NULL: the function of an object that is not shown in full. */
static uint64_t define_frame(struct perfetto *p, uint32_t frame_id, const struct func *f)
{
	bool merged = frame_id == SHOWN_MERGED, fresh;
	struct frame whole = merged ? (struct frame){ 0 } : frame_at(p->session, frame_id);
	const struct frame *frame = merged ? NULL : &whole;
	uint64_t id = 1 + (merged ? MERGED | f->id : frame_id), in, name, file = 0;
	struct srcline at;

	map_put(&p->frames, id, &fresh);
	if (!fresh)
		return id;
	in = mapping(p, f->obj);
	name = function(p, f);
	if (frame && frame_srcline(p->session, frame, &at))
		file = source(p, at.file);
	pb_uint(&p->inner, FRAME_ID, id);
	pb_uint(&p->inner, FRAME_FUNCTION, name);
	pb_uint(&p->inner, FRAME_MAPPING, in);
	if (frame && frame->offset != FRAME_OUTLINED && !(f->flags & FUNC_PSEUDO))
		pb_uint(&p->inner, FRAME_ADDRESS, frame->body->addr + frame->offset);
	if (file) {
		pb_uint(&p->inner, FRAME_SOURCE, file);
		pb_uint(&p->inner, FRAME_LINE, at.line);
	}
	pb_message(&p->interned, INTERNED_FRAME, &p->inner);
	return id;
}

/* Frames go from the root to the leaf. */
uint64_t perfetto_stack(struct perfetto *p, uint32_t stack)
{
	uint32_t n = p->session->stacks.data[stack].n;
	uint64_t id = (uint64_t)stack + 1;
	bool fresh;

	map_put(&p->stacks, id, &fresh);
	if (!fresh)
		return id;
	vec_reserve(&p->path, n);
	vec_reserve(&p->path_frames, n);
	n = shown_path(p->session, stack, p->path.data, p->path_frames.data);
	p->ids.len = 0;
	while (n-- > 0)
		vec_push(&p->ids, define_frame(p, p->path_frames.data[n],
					       p->session->funcs.data[p->path.data[n]]));
	pb_uint(&p->inner, STACK_ID, id);
	for (size_t i = 0; i < p->ids.len; i++)
		pb_uint(&p->inner, STACK_FRAMES, p->ids.data[i]);
	pb_message(&p->interned, INTERNED_STACK, &p->inner);
	return id;
}
