/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "analysis/base/json.h"
#include "analysis/export/export.h"
#include "analysis/export/firefox_impl.h"
#include "analysis/export/outfile.h"
#include "analysis/metrics/tally.h"
#include "analysis/model/source.h"
#include "analysis/symbols/symtab.h"
#include "analysis/views/columns.h"



/* Frames that represent a function of a hidden object have keys from here on. */
static const uint64_t MERGED = (uint64_t)1 << 32;
/* JavaScript represents integers exactly up to here. Kernel addresses are larger. */
static const uint64_t EXACT_MAX = (uint64_t)1 << 53;

void firefox_free(struct firefox *f)
{
	struct map *maps[] = { &f->frame_rows, &f->func_rows, &f->object_rows, &f->node_rows,
			       &f->stack_nodes };

	for (size_t i = 0; i < sizeof(maps) / sizeof(maps[0]); i++)
		map_free(maps[i]);
	strtab_free(&f->strings);
	strtab_free(&f->sources);
	vec_free(&f->frames);
	vec_free(&f->funcs);
	vec_free(&f->nodes);
	vec_free(&f->objects);
	vec_free(&f->path);
	vec_free(&f->path_frames);
}

uint32_t firefox_string(struct firefox *f, const char *s)
{
	struct buf text = { 0 };
	uint32_t id;

	buf_put_printable(&text, s ? s : "");
	id = strtab_id(&f->strings, text.data ? text.data : "");
	buf_free(&text);
	return id;
}

static int64_t object_row(struct firefox *f, const struct loadobj *o)
{
	uint64_t *row;

	if (o->pseudo && !o->kernel)
		return -1;
	row = map_put(&f->object_rows, o->id, NULL);
	if (!*row) {
		vec_push(&f->objects, o->id);
		*row = f->objects.len;
	}
	return *row - 1;
}

static uint32_t func_row(struct firefox *f, const struct func *func)
{
	uint64_t *row = map_put(&f->func_rows, func->id, NULL);

	if (!*row) {
		vec_push(&f->funcs, (struct firefox_func){
			.name = firefox_string(f, func_name(f->x->view, func)),
			.object = object_row(f, func->obj), .source = -1 });
		*row = f->funcs.len;
	}
	return *row - 1;
}

static enum firefox_category category(const struct func *func)
{
	if (func->obj->kernel)
		return FIREFOX_KERNEL;
	return func->flags & FUNC_PSEUDO ? FIREFOX_OTHER : FIREFOX_USER;
}

/* Fill in what is known about a frame of an object that is shown in full. */
static void locate(struct firefox *f, const struct frame *frame, struct firefox_frame *ret)
{
	uint64_t address = frame->body->addr + frame->offset;
	struct srcline at;

	ret->depth = frame->depth;
	if (frame->offset != FRAME_OUTLINED && !(frame->func->flags & FUNC_PSEUDO) &&
	    address < EXACT_MAX)
		ret->address = address;
	if (!frame_srcline(f->session, frame, &at))
		return;
	ret->line = at.line;
	if (f->funcs.data[ret->func].source < 0)
		f->funcs.data[ret->func].source = strtab_id(&f->sources, at.file);
}

static uint32_t frame_row(struct firefox *f, uint32_t frame_id, const struct func *func)
{
	bool merged = frame_id == SHOWN_MERGED;
	uint64_t *row = map_put(&f->frame_rows, merged ? MERGED | func->id : frame_id, NULL);
	struct firefox_frame new = { .address = -1, .category = category(func) };
	struct frame frame;

	if (*row)
		return *row - 1;
	new.func = func_row(f, func);
	if (!merged) {
		frame = frame_at(f->session, frame_id);
		locate(f, &frame, &new);
	}
	vec_push(&f->frames, new);
	*row = f->frames.len;
	return *row - 1;
}

int64_t firefox_stack(struct firefox *f, uint32_t stack)
{
	uint64_t *known = map_put(&f->stack_nodes, stack, NULL);
	uint32_t n = f->session->stacks.data[stack].n;
	int64_t node = -1;

	if (*known)
		return (int64_t)*known - 1;
	vec_reserve(&f->path, n);
	vec_reserve(&f->path_frames, n);
	n = shown_path(f->session, stack, f->path.data, f->path_frames.data);
	while (n-- > 0) {
		const struct func *func = f->session->funcs.data[f->path.data[n]];
		uint32_t frame = frame_row(f, f->path_frames.data[n], func);
		uint64_t *row = map_put(&f->node_rows, (uint64_t)(node + 1) << 32 | frame, NULL);

		if (!*row) {
			vec_push(&f->nodes, (struct firefox_node){ node, frame });
			*row = f->nodes.len;
		}
		node = *row - 1;
	}
	*map_put(&f->stack_nodes, stack, NULL) = node + 1;
	return node;
}

/* --- writing --- */

/* Append the value of row i, without a comma. */
typedef void (*put_value)(struct firefox *f, struct buf *b, size_t i);

static void put_column(struct firefox *f, const char *name, size_t n, put_value put)
{
	buf_printf(&f->out->buf, "\"%s\":[", name);
	for (size_t i = 0; i < n; i++) {
		buf_puts(&f->out->buf, i ? "," : "");
		put(f, &f->out->buf, i);
		outfile_flush(f->out, 1 << 16);
	}
	buf_puts(&f->out->buf, "],");
}

/* A column of one value. */
static void put_same(struct firefox *f, const char *name, size_t n, const char *value)
{
	buf_printf(&f->out->buf, "\"%s\":[", name);
	for (size_t i = 0; i < n; i++)
		buf_printf(&f->out->buf, "%s%s", i ? "," : "", value);
	buf_puts(&f->out->buf, "],");
}

static void begin_table(struct firefox *f, const char *name)
{
	buf_printf(&f->out->buf, "\n\"%s\":{", name);
}

static void end_table(struct firefox *f, size_t n)
{
	buf_printf(&f->out->buf, "\"length\":%zu},", n);
}

/* -1 becomes null. */
static void put_index(struct buf *b, int64_t index)
{
	if (index < 0)
		buf_puts(b, "null");
	else
		buf_printf(b, "%" PRId64, index);
}

static void put_node_frame(struct firefox *f, struct buf *b, size_t i)
{
	buf_printf(b, "%u", f->nodes.data[i].frame);
}

static void put_node_prefix(struct firefox *f, struct buf *b, size_t i)
{
	put_index(b, f->nodes.data[i].prefix);
}

static void put_frame_address(struct firefox *f, struct buf *b, size_t i)
{
	buf_printf(b, "%" PRId64, f->frames.data[i].address);
}

static void put_frame_depth(struct firefox *f, struct buf *b, size_t i)
{
	buf_printf(b, "%u", f->frames.data[i].depth);
}

static void put_frame_category(struct firefox *f, struct buf *b, size_t i)
{
	buf_printf(b, "%d", (int)f->frames.data[i].category);
}

static void put_frame_func(struct firefox *f, struct buf *b, size_t i)
{
	buf_printf(b, "%u", f->frames.data[i].func);
}

static void put_frame_line(struct firefox *f, struct buf *b, size_t i)
{
	put_index(b, f->frames.data[i].line ? (int64_t)f->frames.data[i].line : -1);
}

static void put_func_name(struct firefox *f, struct buf *b, size_t i)
{
	buf_printf(b, "%u", f->funcs.data[i].name);
}

static void put_func_object(struct firefox *f, struct buf *b, size_t i)
{
	buf_printf(b, "%" PRId64, f->funcs.data[i].object);
}

static void put_func_source(struct firefox *f, struct buf *b, size_t i)
{
	put_index(b, f->funcs.data[i].source);
}

static void put_row_number(struct firefox *f, struct buf *b, size_t i)
{
	buf_printf(b, "%zu", i);
}

static const struct loadobj *object_at(const struct firefox *f, size_t i)
{
	return f->session->objects.data[f->objects.data[i]];
}

static void put_object_name(struct firefox *f, struct buf *b, size_t i)
{
	buf_printf(b, "%u", firefox_string(f, base_name(object_at(f, i)->path)));
}

static void put_source_name(struct firefox *f, struct buf *b, size_t i)
{
	buf_printf(b, "%u", firefox_string(f, f->sources.strings[i]));
}

static void put_string(struct firefox *f, struct buf *b, size_t i)
{
	json_put_string(b, f->strings.strings[i]);
}

static void put_lib(struct firefox *f, struct buf *b, size_t i)
{
	const struct loadobj *o = object_at(f, i);
	const char *keys[] = { "path", "debugPath" }, *names[] = { "name", "debugName" };
	const char *id = o->symtab ? symtab_build_id(o->symtab) : NULL;

	buf_puts(b, "{\"arch\":");
	json_put_string(b, f->session->experiments.data[0]->arch);
	for (size_t k = 0; k < 2; k++) {
		buf_printf(b, ",\"%s\":", keys[k]);
		json_put_string(b, o->path);
		buf_printf(b, ",\"%s\":", names[k]);
		json_put_string(b, base_name(o->path));
	}
	buf_puts(b, ",\"breakpadId\":\"\",\"codeId\":");
	if (id)
		json_put_string(b, id);
	else
		buf_puts(b, "null");
	buf_puts(b, "}");
}

static void put_stacks(struct firefox *f)
{
	size_t n = f->nodes.len;

	begin_table(f, "stackTable");
	put_column(f, "frame", n, put_node_frame);
	put_column(f, "prefix", n, put_node_prefix);
	end_table(f, n);
	n = f->frames.len;
	begin_table(f, "frameTable");
	put_column(f, "address", n, put_frame_address);
	put_column(f, "inlineDepth", n, put_frame_depth);
	put_column(f, "category", n, put_frame_category);
	put_same(f, "subcategory", n, "0");
	put_column(f, "func", n, put_frame_func);
	put_same(f, "nativeSymbol", n, "null");
	put_same(f, "innerWindowID", n, "null");
	put_column(f, "line", n, put_frame_line);
	put_same(f, "column", n, "null");
	end_table(f, n);
}

static void put_funcs(struct firefox *f)
{
	size_t n = f->funcs.len;

	begin_table(f, "funcTable");
	put_column(f, "name", n, put_func_name);
	put_same(f, "isJS", n, "false");
	put_same(f, "relevantForJS", n, "false");
	put_column(f, "resource", n, put_func_object);
	put_column(f, "source", n, put_func_source);
	put_same(f, "lineNumber", n, "null");
	put_same(f, "columnNumber", n, "null");
	end_table(f, n);
	n = f->objects.len;
	begin_table(f, "resourceTable");
	put_column(f, "lib", n, put_row_number);
	put_column(f, "name", n, put_object_name);
	put_same(f, "host", n, "null");
	put_same(f, "type", n, "1"); /* a library */
	end_table(f, n);
	begin_table(f, "nativeSymbols");
	buf_puts(&f->out->buf, "\"libIndex\":[],\"address\":[],\"name\":[],\"functionSize\":[],");
	end_table(f, 0);
	begin_table(f, "sources");
	put_same(f, "uuid", f->sources.len, "null");
	put_column(f, "filename", f->sources.len, put_source_name);
	end_table(f, f->sources.len);
}

void firefox_put_tables(struct firefox *f)
{
	struct buf *b = &f->out->buf;

	put_column(f, "libs", f->objects.len, put_lib);
	buf_puts(b, "\n\"shared\":{");
	put_stacks(f);
	put_funcs(f);
	/* Last, because the tables above add names. */
	put_column(f, "stringArray", f->strings.len, put_string);
	b->data[b->len - 1] = '}'; /* replaces the last comma */
}
