/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Load objects and their functions. The first address in an object makes its symbols be
 * read: from the archive of any founder, or from the recorded path, unless the file
 * there was modified after the recording ended.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analysis/base/buf.h"
#include "analysis/base/file.h"
#include "analysis/model/model.h"
#include "analysis/symbols/archive.h"
#include "analysis/symbols/code.h"
#include "analysis/symbols/debuginfod.h"
#include "analysis/symbols/demangle.h"
#include "analysis/symbols/elfsyms.h"
#include "analysis/symbols/lineinfo.h"
#include "analysis/symbols/relocate.h"
#include "analysis/symbols/symtab.h"
#include "analysis/symbols/unpack.h"

static struct loadobj *object_new(struct session *s, const char *path, const char *name)
{
	struct loadobj *o = arena_alloc(&s->arena, sizeof(*o));

	o->id = s->objects.len;
	o->path = strtab_intern(&s->names, path);
	o->name = strtab_intern(&s->names, name);
	vec_push(&s->objects, o);
	return o;
}

static struct loadobj *object_by_path(const struct session *s, const char *path)
{
	const struct intern *ids = &s->impl->object_ids;
	uint64_t hash = hash_bytes(path, strlen(path));
	struct intern_probe probe = intern_probe(hash);
	uint32_t id1;

	while ((id1 = intern_next(ids, &probe))) {
		if (!strcmp(s->objects.data[id1 - 1]->path, path))
			return s->objects.data[id1 - 1];
	}
	return NULL;
}

struct loadobj *object_pseudo(struct session *s, const char *path, const char *name)
{
	struct loadobj *o = object_by_path(s, path);

	if (o)
		return o;
	intern_add(&s->impl->object_ids, hash_bytes(path, strlen(path)));
	o = object_new(s, path, name);
	o->pseudo = true;
	return o;
}

static struct loadobj *object_made(struct session *s, const char *path)
{
	const char *base = strrchr(path, '/');
	struct loadobj *o;
	char *name;

	intern_add(&s->impl->object_ids, hash_bytes(path, strlen(path)));
	name = xasprintf("<%s>", base && base[1] ? base + 1 : path);
	o = object_new(s, path, name);
	free(name);
	return o;
}

struct loadobj *object_get(struct session *s, const char *path)
{
	struct loadobj *o = object_by_path(s, path);

	return o ? o : object_made(s, path);
}

static size_t count_founders(struct session *s)
{
	struct session_impl *im = s->impl;

	for (; im->nfounders_of < s->experiments.len; im->nfounders_of++)
		im->nfounders += !s->experiments.data[im->nfounders_of]->founder;
	return im->nfounders;
}

/* The build id of a path in the founder's archive; NULL: none. */
static const char *archived_build(struct session *s, const struct experiment *founder,
				  const char *path)
{
	bool fresh;
	uint64_t *known = map_put(&s->impl->builds,
				  hash_bytes(path, strlen(path)) ^ hash64(founder->id), &fresh);
	__cleanup(closep) int dir = -1, fd = -1;
	char *id;

	if (!fresh)
		return (const char *)(uintptr_t)*known;
	dir = open(founder->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	fd = dir < 0 ? -1 : archive_open(dir, path);
	id = fd < 0 ? NULL : elf_file_build_id(fd);
	*known = id ? (uintptr_t)strtab_intern(&s->names, id) : 0;
	free(id);
	return (const char *)(uintptr_t)*known;
}

/* An object of that build, or one that nothing was asked of yet; NULL: none. */
static struct loadobj *object_by_build(const struct session *s, const char *path, const char *build)
{
	struct intern_probe probe = intern_probe(hash_bytes(path, strlen(path)));
	uint32_t id1;

	while ((id1 = intern_next(&s->impl->object_ids, &probe))) {
		struct loadobj *o = s->objects.data[id1 - 1];

		if (!strcmp(o->path, path) && (o->build ? !strcmp(o->build, build) : !o->tried))
			return o;
	}
	return NULL;
}

struct loadobj *object_mapped(struct session *s, const struct experiment *e, const char *path)
{
	const struct experiment *founder = experiment_founder(e);
	const char *build = count_founders(s) > 1 ? archived_build(s, founder, path) : NULL;
	struct loadobj *o;

	if (!build)
		return object_get(s, path);
	o = object_by_build(s, path, build);
	if (!o)
		o = object_made(s, path);
	if (!o->build) {
		o->build = build;
		o->recording = founder;
	}
	o->met_again |= o->recording != founder;
	return o;
}

void object_free(struct loadobj *o)
{
	symtab_free(o->symtab);
	lineinfo_free(o->lines);
	code_free(o->code);
	map_free(&o->by_name);
	diag_free(&o->diag);
}

struct loadobj *session_find_object(struct session *s, const char *name)
{
	struct loadobj *o;

	session_load_objects(s);
	o = object_by_path(s, name);

	for (size_t i = 0; !o && i < s->objects.len; i++) {
		const char *shown = s->objects.data[i]->name;
		size_t n = strlen(name);

		if (!strcmp(shown, name) ||
		    (shown[0] == '<' && !strncmp(shown + 1, name, n) && !strcmp(shown + 1 + n, ">")))
			o = s->objects.data[i];
	}
	return o;
}

static void func_set_names(struct session *s, struct func *f, const char *name)
{
	char *full = demangle(name, 1), *brief = demangle(name, 0);

	f->mangled = strtab_intern(&s->names, name);
	f->long_name = full ? strtab_intern(&s->names, full) : f->mangled;
	f->name = brief ? strtab_intern(&s->names, brief) : f->long_name;
	free(full);
	free(brief);
}

/* Inlined functions are equal by name and source file, others by name and address. */
static bool is_same(const struct func *f, const struct func *want)
{
	return f->obj == want->obj && f->addr == want->addr && f->srcfile == want->srcfile &&
	       !((f->flags ^ want->flags) & FUNC_INLINED) && !strcmp(f->mangled, want->mangled);
}

static struct func *func_intern(struct session *s, const struct func *want)
{
	struct intern *ids = &s->impl->func_ids;
	uint64_t hash = hash64(want->addr ^ hash64(want->obj->id)) ^
			hash_bytes(want->mangled, strlen(want->mangled));
	struct intern_probe probe = intern_probe(hash);
	uint32_t id1;
	struct func *f;

	while ((id1 = intern_next(ids, &probe))) {
		f = s->funcs.data[id1 - 1];
		if (is_same(f, want))
			return f;
	}
	f = arena_alloc(&s->arena, sizeof(*f));
	*f = *want;
	f->id = intern_add(ids, hash);
	func_set_names(s, f, want->mangled);
	vec_push(&s->funcs, f);
	return f;
}

struct func *func_get(struct session *s, struct loadobj *o, uint64_t addr, uint64_t size,
		      const char *name, unsigned flags)
{
	return func_intern(s, &(struct func){ .obj = o,
					      .addr = addr,
					      .size = size,
					      .mangled = name,
					      .flags = flags });
}

/* "mix (inlined)", as in perf. */
static void mark_inlined(struct session *s, const char **name)
{
	__cleanup(freep) char *marked = xasprintf("%s (inlined)", *name);

	*name = strtab_intern(&s->names, marked);
}

struct func *func_get_inlined(struct session *s, struct loadobj *o, const char *name,
			      const char *srcfile)
{
	size_t nfuncs = s->funcs.len;
	struct func *f = func_intern(s, &(struct func){ .obj = o,
							.mangled = name,
							.srcfile = srcfile,
							.flags = FUNC_INLINED });

	if (s->funcs.len > nfuncs) {
		mark_inlined(s, &f->name);
		mark_inlined(s, &f->long_name);
	}
	return f;
}

/* Whether the file was modified after the last experiment ended. */
static bool changed_since(const struct session *s, const struct stat *st)
{
	int64_t end = s->experiments.len ? 0 : INT64_MAX;

	for (size_t i = 0; i < s->experiments.len; i++) {
		const struct experiment *e = s->experiments.data[i];
		int64_t e_end, took = e->end_ns / 1000000000 + 1;

		/* Times in the log may be any number; on overflow the file counts as unchanged. */
		if (__builtin_add_overflow(e->start_epoch, took, &e_end))
			e_end = INT64_MAX;
		end = e_end > end ? e_end : end;
	}
	return st->st_mtim.tv_sec > end;
}

static int open_archived(const struct session *s, const struct loadobj *o)
{
	for (size_t i = 0; i < s->experiments.len; i++) {
		const struct experiment *e = s->experiments.data[i];
		__cleanup(closep) int dir = -1;
		int fd;

		if (e->founder || (o->recording && o->recording != e))
			continue;
		dir = open(e->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		fd = dir < 0 ? -1 : archive_open(dir, o->path);
		if (fd >= 0)
			return fd;
	}
	return -1;
}

int session_open_recorded(const struct session *s, const char *path, const char **why)
{
	int fd = path[0] == '/' ? file_open_regular(path) : -1;
	struct stat st;

	*why = fd < 0 ? "no such file" :
	       fstat(fd, &st) < 0 ? "cannot be read" :
	       changed_since(s, &st) ? "changed after the experiment was recorded" : NULL;
	if (!*why)
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

static int open_recorded(const struct session *s, struct loadobj *o)
{
	const char *why;
	int fd = session_open_recorded(s, o->path, &why);

	if (fd < 0)
		diag_warn(&o->diag, "%s: no archive, and the file: %s: its functions have no names; "
			  "record with -A on", o->path, why);
	return fd;
}

/*
 * Takes ownership of fd. Object files and kernel modules, which may be compressed, are
 * converted so that they can be read as linked files.
 */
static int as_linked(struct loadobj *o, int fd)
{
	int linked;

	if (fd >= 0)
		fd = unpack_open(fd, o->path, &o->diag);
	linked = fd < 0 ? -1 : relocate_open(fd);

	if (linked < 0)
		return fd;
	close(fd);
	return linked;
}

static void object_open(struct session *s, struct loadobj *o)
{
	struct symtab_opts opts = { .path = o->path, .ask = debuginfod_open };
	__cleanup(closep) int fd = open_archived(s, o);
	bool archived = fd >= 0;
	size_t n = 0;

	o->tried = true;
	if (!archived)
		fd = open_recorded(s, o);
	fd = as_linked(o, fd);
	if (fd < 0)
		return;
	o->symtab = symtab_open(fd, &opts, &o->diag);
	if (!o->symtab)
		return;
	symtab_syms(o->symtab, &n);
	o->nsyms = n;
	o->opened_as = archived ? "archive" : o->path;
	if (!n)
		diag_warn(&o->diag, "%s: no symbols: its functions have no names", o->path);
}

/*
 * Whether the file has the build id of the object's symbols; without build ids, whether
 * it is unchanged.
 */
static bool same_build(const struct session *s, const struct loadobj *o, int fd)
{
	const char *id = o->symtab ? symtab_build_id(o->symtab) : NULL;
	__cleanup(freep) char *got = elf_file_build_id(fd);
	struct stat st;

	if (id && got)
		return !strcmp(id, got);
	return !fstat(fd, &st) && !changed_since(s, &st);
}

void object_load(struct session *s, struct loadobj *o)
{
	if (!o->tried && !o->pseudo)
		object_open(s, o);
}

bool object_files(struct session *s, struct loadobj *o,
		  bool (*use)(struct loadobj *o, int fd, void *ctx), void *ctx)
{
	__cleanup(closep) int archived = -1, recorded = -1;

	if (o->pseudo)
		return false;
	object_load(s, o);
	archived = open_archived(s, o);
	if (archived >= 0 && use(o, archived, ctx))
		return true;
	if (o->path[0] == '/')
		recorded = file_open_regular(o->path);
	if (recorded < 0 || !same_build(s, o, recorded))
		return false;
	recorded = as_linked(o, recorded);
	return recorded >= 0 && use(o, recorded, ctx);
}

/*
 * A function without a symbol, named by its file offset. `known`: its bounds are from
 * call frame information; otherwise it is all the code between its neighbours.
 */
static struct func *static_func(struct session *s, struct loadobj *o, uint64_t addr, uint64_t size,
				uint64_t offset, bool known)
{
	char *name = xasprintf("<static>@0x%" PRIx64 " (%s)%s", offset, o->name,
			       o->nsyms || known ? "" : " --  no functions found");
	struct func *f = func_get(s, o, addr, size, name, FUNC_STATIC);

	free(name);
	return f;
}

struct func *object_symbol_func(struct session *s, struct loadobj *o, const struct sym *sym)
{
	struct func *f = func_get(s, o, sym->addr, sym->size, sym->name, 0);

	if (sym->aliases && !f->aliases)
		f->aliases = strtab_intern(&s->names, sym->aliases);
	if (!f->outline && outlined_from(sym->name)) {
		f->outline = arena_alloc(&s->arena, sizeof(*f->outline));
		s->impl->outlined++;
	}
	return f;
}

struct func *object_func(struct session *s, const struct mapping *m, uint64_t offset,
			 uint64_t *addr)
{
	struct loadobj *o = m->obj;
	uint64_t start = m->foffset, end = m->foffset + m->size;
	const struct sym *sym;
	bool known = false;

	object_load(s, o);
	*addr = o->symtab ? symtab_vaddr(o->symtab, offset) : offset;
	if (!o->symtab || *addr == (uint64_t)-1) {
		*addr = offset;
		return static_func(s, o, start, m->size, start, false);
	}
	sym = symtab_find(o->symtab, *addr);
	if (sym)
		return object_symbol_func(s, o, sym);
	if (!symtab_gap(o->symtab, *addr, &start, &end, &known)) {
		start = *addr - (offset - m->foffset);
		end = start + m->size;
	}
	return static_func(s, o, start, end - start, offset - (*addr - start), known);
}

struct func *session_hidden_func(struct session *s, struct loadobj *o)
{
	if (!o->hidden)
		o->hidden = func_get(s, o, 0, 0, o->name, FUNC_PSEUDO);
	return o->hidden;
}

struct loadobj *session_add_object(struct session *s, const char *path)
{
	struct loadobj *o = object_get(s, path);

	object_all_funcs(s, o);
	return o;
}
