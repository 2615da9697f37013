/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads `dyntext`, where an experiment has functions without a file: their code, source
 * file and line table. A record gives a function's address; the records after it belong
 * to that function.
 */
#include <elf.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "analysis/base/cursor.h"
#include "analysis/base/file.h"
#include "analysis/experiment/exp_map.h"
#include "analysis/model/model.h"
#include "analysis/symbols/disasm.h"

enum { DYN_HEADER = 1, DYN_CODE = 2, DYN_LINES = 3, DYN_SOURCE = 4 };
enum { DYN_HEAD_SIZE = 8, DYN_HEADER_SIZE = 24 };

/* The data of one function; pointers into the file. */
struct dynamic {
	const unsigned char *code;
	size_t size;
	const unsigned char *lines;
	size_t nlines;
	const char *source;
	size_t source_max;
	bool swap;
};

static void take(struct dynamic *dyn, uint32_t type, const unsigned char *p, size_t n)
{
	switch (type) {
	case DYN_CODE:
		dyn->code = p;
		dyn->size = n;
		break;
	case DYN_LINES:
		dyn->lines = p;
		dyn->nlines = n / 8;
		break;
	case DYN_SOURCE:
		dyn->source = (const char *)p;
		dyn->source_max = n;
		break;
	}
}

/*
 * Memory for code is reused. True if the map has another function there since exactly this time,
 * which is that of a record.
 */
static bool is_of_another(const struct experiment *e, const struct func *f, int64_t time_ns)
{
	bool another = false;

	vec_for_each (m, &e->maps) {
		if (m->what != EXP_MAP_FUNCTION || m->vaddr != f->addr || m->time_ns != time_ns)
			continue;
		another = m->size != f->size || strcmp(m->name, f->mangled);
		if (!another)
			break;
	}
	return another;
}

/* Whether the record's head is of this function. */
static bool is_head_of(const struct experiment *e, const struct func *f, const unsigned char *p,
		       size_t n)
{
	struct cursor c = { .p = p, .end = p + n, .swap = e->swap };
	int64_t time_ns = cursor_u64(&c);

	return n >= DYN_HEADER_SIZE - DYN_HEAD_SIZE && cursor_u64(&c) == f->addr &&
	       !is_of_another(e, f, time_ns);
}

/* Read the records of the function. If it has several, the last ones are used. */
static bool read_records(const struct file *file, const struct experiment *e, const struct func *f,
			 struct dynamic *ret)
{
	struct cursor c = { .p = file->data, .end = file->data + file->size, .swap = e->swap };
	bool ours = false, any = false;

	while (cursor_left(&c) >= DYN_HEAD_SIZE) {
		uint32_t type = cursor_u32(&c), size = cursor_u32(&c);
		const unsigned char *p;

		if (size < DYN_HEAD_SIZE || !(p = cursor_bytes(&c, size - DYN_HEAD_SIZE)))
			break;
		if (type == DYN_HEADER) {
			ours = is_head_of(e, f, p, size - DYN_HEAD_SIZE);
			if (ours)
				*ret = (struct dynamic){ .swap = e->swap };
			any |= ours;
		} else if (ours) {
			take(ret, type, p, size - DYN_HEAD_SIZE);
		}
	}
	return any;
}

/* Whether any experiment has dyntext, checked once: most do not. */
static bool any_dyntext(struct session *s)
{
	if (s->impl->dyntext == DYNTEXT_UNKNOWN) {
		s->impl->dyntext = DYNTEXT_NONE;
		vec_for_each (e, &s->experiments) {
			char *path = xasprintf("%s/dyntext", (*e)->path);

			if (!access(path, R_OK))
				s->impl->dyntext = DYNTEXT_SOME;
			free(path);
		}
	}
	return s->impl->dyntext == DYNTEXT_SOME;
}

/* Other recordings may have another function at this address. */
static bool has_function(const struct experiment *e, const struct func *f)
{
	for (size_t i = 0; i < e->maps.len; i++) {
		const struct exp_map *m = &e->maps.data[i];

		if (m->vaddr == f->addr && m->name && !strcmp(m->name, f->mangled))
			return true;
	}
	return false;
}

static bool is_dynamic(struct session *s, const struct func *f)
{
	return !(f->flags & FUNC_PSEUDO) && !strcmp(f->obj->path, "DYNAMIC_FUNCTIONS") && any_dyntext(s);
}

/* Find the function's records in any experiment. *file stays open until file_close. */
static const struct experiment *find(struct session *s, const struct func *f, struct file *file,
				     struct dynamic *ret)
{
	if (!is_dynamic(s, f))
		return NULL;
	vec_for_each (e, &s->experiments) {
		char *path;
		int rc;

		if (!has_function(*e, f))
			continue;
		path = xasprintf("%s/dyntext", (*e)->path);
		rc = file_open_plain_at(AT_FDCWD, path, file);

		free(path);
		if (rc)
			continue;
		if (read_records(file, *e, f, ret))
			return *e;
		file_close(file);
	}
	return NULL;
}

size_t dynamic_code(struct session *s, const struct func *f, uint64_t offset, void *to, size_t n)
{
	struct dynamic dyn;
	struct file file;

	if (!find(s, f, &file, &dyn))
		return 0;
	n = offset >= dyn.size ? 0 : n < dyn.size - offset ? n : dyn.size - offset;
	if (n)
		memcpy(to, dyn.code + offset, n);
	file_close(&file);
	return n;
}

/* Translate the log's machine names ("x86_64", "aarch64"). */
const struct machine *dynamic_machine(struct session *s, const struct func *f)
{
	static const struct machine x86 = { .elf_machine = EM_X86_64, .wide = true };
	static const struct machine arm = { .elf_machine = EM_AARCH64, .wide = true };
	struct dynamic dyn;
	struct file file;
	const struct experiment *e = find(s, f, &file, &dyn);
	bool known = e && dyn.size;

	if (e)
		file_close(&file);
	if (!known)
		return NULL;
	return !strcmp(e->arch, "aarch64")					     ? &arm
	       : !strcmp(e->arch, "i386") || !*e->arch || !strcmp(e->arch, "x86_64") ? &x86
										     : NULL;
}

static bool has_source(const struct dynamic *dyn)
{
	return dyn->nlines && dyn->source && dyn->source_max && *dyn->source;
}

static const char *source_of(struct session *s, const struct dynamic *dyn)
{
	__cleanup(freep) char *path = xstrndup(dyn->source, dyn->source_max);

	return strtab_intern(&s->names, path);
}

bool dynamic_srcline(struct session *s, const struct func *f, uint64_t offset, struct srcline *ret)
{
	struct cursor c = { 0 };
	struct dynamic dyn;
	struct file file;
	uint32_t line = 0;

	if (!find(s, f, &file, &dyn))
		return false;
	c = (struct cursor){ .p = dyn.lines, .end = dyn.lines + dyn.nlines * 8, .swap = dyn.swap };
	for (size_t i = 0; i < dyn.nlines; i++) {
		uint32_t at = cursor_u32(&c), number = cursor_u32(&c);

		if (at <= offset)
			line = number;
	}
	line = has_source(&dyn) ? line : 0;
	if (line)
		*ret = (struct srcline){ source_of(s, &dyn), line };
	file_close(&file);
	return line;
}

static const char *read_source(struct session *s, const struct func *f)
{
	const char *source = NULL;
	struct dynamic dyn;
	struct file file;

	if (!find(s, f, &file, &dyn))
		return NULL;
	if (has_source(&dyn))
		source = source_of(s, &dyn);
	file_close(&file);
	return source;
}

/* Asked about pairs of functions, so the answer is kept. */
const char *dynamic_source(struct session *s, const struct func *f)
{
	uint64_t *slot;
	bool fresh;

	if (!is_dynamic(s, f))
		return NULL;
	slot = map_put(&s->impl->dyntext_sources, f->id, &fresh);
	if (fresh)
		*slot = (uintptr_t)read_source(s, f);
	return (const char *)(uintptr_t)*slot;
}

void dynamic_lines(struct session *s, const struct func *f, line_code_vec *ret)
{
	struct cursor c = { 0 };
	struct dynamic dyn;
	struct file file;

	if (!find(s, f, &file, &dyn))
		return;
	c = (struct cursor){ .p = dyn.lines, .end = dyn.lines + dyn.nlines * 8, .swap = dyn.swap };
	for (size_t i = 0; has_source(&dyn) && i < dyn.nlines; i++) {
		uint32_t at = cursor_u32(&c), line = cursor_u32(&c);

		if (line)
			vec_push(ret, (struct line_code){ .src = { source_of(s, &dyn), line }, .offset = at });
	}
	file_close(&file);
}
