/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/model/source.h"

#include <string.h>

#include "analysis/model/dataobj.h"
#include "analysis/model/dynscopes.h"
#include "analysis/model/kernel_boot.h"
#include "analysis/model/model.h"
#include "analysis/symbols/code.h"
#include "analysis/symbols/debuginfod.h"
#include "analysis/symbols/lineinfo.h"
#include "analysis/symbols/symtab.h"

enum { INLINED_MAX = 64 };

static bool use_lines(struct loadobj *o, int fd, void *ctx)
{
	struct symtab_opts opts = { .path = o->path, .ask = debuginfod_open };

	o->lines = lineinfo_open(fd, &opts, &o->diag);
	return o->lines;
}

static bool use_code(struct loadobj *o, int fd, void *ctx)
{
	o->code = code_open(fd);
	return o->code;
}

/* Ask the debuginfod server for an object whose file is not here, if its build id is known. */
static void ask_for_code(struct loadobj *o)
{
	const char *id = o->symtab ? symtab_build_id(o->symtab) : NULL;
	__cleanup(closep) int fd = id ? debuginfod_open_executable(id, &o->diag) : -1;

	if (fd >= 0)
		use_code(o, fd, NULL);
}

/* The line table of the function's object; *addr is the function's address in it. */
static struct lineinfo *lines_of(struct session *s, const struct func *f, uint64_t *addr)
{
	struct loadobj *o = f->obj;

	*addr = f->addr;
	if (f->flags & (FUNC_PSEUDO | FUNC_INLINED))
		return NULL;
	if (o->kernel)
		return kernel_lines(s, f, addr);
	if (!o->lines_tried)
		object_files(s, o, use_lines, NULL);
	o->lines_tried = true;
	return o->lines;
}

static struct code *code_of(struct session *s, const struct func *f, uint64_t *addr)
{
	struct loadobj *o = f->obj;

	*addr = f->addr;
	if (f->flags & (FUNC_PSEUDO | FUNC_INLINED))
		return NULL;
	if (o->kernel)
		return kernel_code(s, f, addr);
	if (!o->code_tried)
		object_files(s, o, use_code, NULL);
	if (!o->code && !o->code_tried && !o->pseudo)
		ask_for_code(o);
	o->code_tried = true;
	return o->code;
}

/* --- lines --- */

static const char *path_of(struct session *s, const struct lineinfo *l, uint32_t file)
{
	return strtab_intern(&s->names, lineinfo_path(l, file));
}

static struct srcline srcline_of(struct session *s, const struct lineinfo *l, uint32_t file,
				 uint32_t line)
{
	if (file == LINE_FILE_NONE)
		return (struct srcline){ 0 };
	return (struct srcline){ .file = path_of(s, l, file), .line = line };
}

static bool scope_line(const struct dynscope *at, struct srcline *ret)
{
	bool known = at->source && at->line;

	*ret = known ? (struct srcline){ .file = at->source, .line = at->line } : (struct srcline){ 0 };
	return known;
}

/* The line of the outermost method at an offset, or of the innermost one. */
static bool dynamic_line(struct session *s, const struct func *f, uint64_t offset, bool innermost,
			 struct srcline *ret)
{
	struct dynscope at[INLINED_MAX + 1];
	size_t n = dynscopes_at(s, f, offset, at, INLINED_MAX + 1);

	if (!n)
		return dynamic_srcline(s, f, offset, ret);
	return scope_line(&at[innermost ? n - 1 : 0], ret);
}

static size_t dynamic_inlined(struct session *s, const struct func *f, uint64_t offset, struct inlined_at *ret,
			      size_t max)
{
	struct dynscope at[INLINED_MAX + 1];
	size_t n = dynscopes_at(s, f, offset, at, INLINED_MAX + 1);

	for (size_t i = 0; i + 1 < n && i < max; i++) {
		ret[i] = (struct inlined_at){ .name = at[i + 1].name, .declared = at[i + 1].source };
		scope_line(&at[i], &ret[i].call);
	}
	return n ? n - 1 : 0;
}

static void lines_in_no_file(struct session *s, const struct func *f, line_code_vec *ret)
{
	struct srcline at;
	uint64_t offset;
	size_t i;

	for (i = 0; (offset = dynscopes_part(s, f, i)) != UINT64_MAX; i++) {
		if (dynamic_line(s, f, offset, true, &at))
			vec_push(ret, (struct line_code){ .src = at, .offset = offset });
	}
	if (!i)
		dynamic_lines(s, f, ret);
}

static const char *source_in_no_file(struct session *s, const struct func *f)
{
	const char *source = dynscopes_source(s, f);

	return source ? source : dynamic_source(s, f);
}

bool func_written(struct session *s, const struct func *f, uint64_t offset, struct srcline *ret)
{
	uint64_t addr;
	struct lineinfo *l = lines_of(s, f, &addr);
	struct line_at at;

	if (offset == FRAME_OUTLINED)
		return false;
	if (!l)
		return dynamic_line(s, f, offset, true, ret);
	if (!lineinfo_find(l, addr + offset, &at) || at.file == LINE_FILE_NONE)
		return false;
	*ret = srcline_of(s, l, at.file, at.line);
	return true;
}

bool func_srcline(struct session *s, const struct func *f, uint64_t offset, struct srcline *ret)
{
	uint64_t addr;
	struct lineinfo *l = lines_of(s, f, &addr);
	struct inlined outermost;

	if (offset == FRAME_OUTLINED)
		return false;
	if (l && lineinfo_inlined(l, addr + offset, &outermost, 1) && outermost.line &&
	    outermost.file != LINE_FILE_NONE) {
		*ret = srcline_of(s, l, outermost.file, outermost.line);
		return true;
	}
	if (!l)
		return dynamic_line(s, f, offset, false, ret);
	return func_written(s, f, offset, ret);
}

size_t func_inlined(struct session *s, const struct func *f, uint64_t offset,
		    struct inlined_at *ret, size_t max)
{
	struct inlined calls[INLINED_MAX];
	uint64_t addr;
	struct lineinfo *l = lines_of(s, f, &addr);
	bool code = l && offset != FRAME_OUTLINED;
	size_t n = code ? lineinfo_inlined(l, addr + offset, calls, INLINED_MAX) : 0;

	if (!l)
		return dynamic_inlined(s, f, offset, ret, max);
	if (n > INLINED_MAX)
		n = INLINED_MAX;
	for (size_t i = 0; i < n && i < max; i++)
		ret[i] = (struct inlined_at){
			.name = calls[i].name,
			.symbol = calls[i].symbol,
			.declared = calls[i].declared == LINE_FILE_NONE ?
					    NULL : path_of(s, l, calls[i].declared),
			.call = srcline_of(s, l, calls[i].file, calls[i].line),
		};
	return n;
}

bool frame_srcline(struct session *s, const struct frame *frame, struct srcline *ret)
{
	struct inlined_at calls[INLINED_MAX];
	size_t n;

	if (!frame->depth)
		return func_srcline(s, frame->func, frame->offset, ret);
	n = func_inlined(s, frame->body, frame->offset, calls, INLINED_MAX);
	if (frame->depth >= n)
		return func_written(s, frame->body, frame->offset, ret);
	*ret = calls[frame->depth].call;
	return ret->line;
}

const char *func_source(struct session *s, const struct func *f)
{
	uint64_t addr;
	struct lineinfo *l = lines_of(s, f, &addr);
	uint32_t file = l ? lineinfo_unit_file(l, addr) : LINE_FILE_NONE;

	if (!l && !f->srcfile)
		return source_in_no_file(s, f);
	return file == LINE_FILE_NONE ? f->srcfile : path_of(s, l, file);
}

const char *func_aliases(struct session *s, const struct func *f)
{
	return f->aliases ? f->aliases : kernel_aliases(s, f);
}

bool func_same_unit(struct session *s, const struct func *a, const struct func *b)
{
	uint64_t addr_a, addr_b;
	struct lineinfo *l = lines_of(s, a, &addr_a), *lb = lines_of(s, b, &addr_b);
	uint32_t unit;

	if (!l && !lb)
		return source_in_no_file(s, a) && source_in_no_file(s, a) == source_in_no_file(s, b);
	unit = l && l == lb ? lineinfo_unit(l, addr_a) : LINE_FILE_NONE;

	return unit != LINE_FILE_NONE && unit == lineinfo_unit(l, addr_b);
}

const char *func_producer(struct session *s, const struct func *f)
{
	uint64_t addr;
	struct lineinfo *l = lines_of(s, f, &addr);

	return l ? lineinfo_producer(l, addr) : NULL;
}

void func_lines(struct session *s, const struct func *f, line_code_vec *ret)
{
	uint64_t addr;
	struct lineinfo *l = lines_of(s, f, &addr);
	const struct line_row *rows;
	size_t n = 0;

	if (!l)
		lines_in_no_file(s, f, ret);
	rows = l ? lineinfo_rows(l, addr, addr + f->size, &n) : NULL;
	for (size_t i = 0; i < n; i++) {
		if (rows[i].line && rows[i].file != LINE_FILE_NONE)
			vec_push(ret, (struct line_code){
					      .src = srcline_of(s, l, rows[i].file, rows[i].line),
					      .offset = rows[i].addr - addr });
	}
}

/* --- code --- */

size_t func_code(struct session *s, const struct func *f, uint64_t offset, void *to, size_t n)
{
	uint64_t addr;
	struct code *c = code_of(s, f, &addr);

	if (offset >= f->size)
		return 0;
	n = n < f->size - offset ? n : f->size - offset;
	return c ? code_read(c, addr + offset, to, n) : dynamic_code(s, f, offset, to, n);
}

const struct machine *func_machine(struct session *s, const struct func *f)
{
	uint64_t addr;
	struct code *c = code_of(s, f, &addr);

	return c ? code_machine(c) : dynamic_machine(s, f);
}

/* --- functions --- */

/* Parts of kernel functions are recognized by their name alone. */
static bool is_kernel_part(const struct func *part, const struct func *f)
{
	size_t n = strlen(f->mangled);

	return !strncmp(part->mangled, f->mangled, n) && outlined_from(part->mangled) == n;
}

bool func_is_part_of(struct session *s, const struct func *part, const struct func *f)
{
	if (part->obj != f->obj)
		return false;
	if (part->obj->kernel && part != f)
		return is_kernel_part(part, f);
	while (part && part != f)
		part = func_parent(s, part);
	return part;
}

void object_all_funcs(struct session *s, struct loadobj *o)
{
	const struct sym *syms;
	size_t n = 0;

	object_load(s, o);
	syms = o->symtab ? symtab_syms(o->symtab, &n) : NULL;
	for (size_t i = o->nsyms_met; i < n; i++) {
		if (!syms[i].elsewhere)
			object_symbol_func(s, o, &syms[i]);
	}
	o->nsyms_met = n;
}

const char *func_name_at(struct session *s, const struct func *near, uint64_t addr,
			 uint64_t *offset)
{
	struct loadobj *o = near->obj;
	const struct sym *sym;

	if (o->kernel)
		return kernel_name_at(s, near, addr, offset);
	object_load(s, o);
	sym = o->symtab ? symtab_find(o->symtab, addr) : NULL;
	if (!sym)
		return object_data_name(s, o, addr, offset);
	*offset = addr - sym->addr;
	return sym->name;
}

const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

bool path_is_named(const char *path, const char *name)
{
	size_t n = strlen(name), len = strlen(path);

	if (!n || n > len || strcmp(path + len - n, name))
		return false;
	return n == len || path[len - n - 1] == '/';
}
