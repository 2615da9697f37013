/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/symbols/lineinfo.h"

#include <dwarf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <elfutils/libdwelf.h>
#include <gelf.h>

#include "analysis/base/alloc.h"
#include "analysis/base/buf.h"
#include "analysis/symbols/debugfile.h"
#include "analysis/symbols/elfsyms.h"
#include "analysis/symbols/lineinfo_impl.h"
#include "analysis/symbols/symtab.h"

enum {
	/*
	 * Limits for the uncompressed size of sections. Compilers reach a tenth of
	 * this. For each byte of a line table, libdw uses up to fifty bytes.
	 */
	UNPACKED_FREE = 4 * 1024 * 1024,
	UNPACKED_RATIO = 16,
	BUILD_ID_MAX = 64,
};

/* --- finding the DWARF --- */

static bool has_dwarf(Elf *elf)
{
	Elf_Scn *s = elf_section(elf, ".debug_info");
	GElf_Shdr sh;

	if (!s)
		s = elf_section(elf, ".zdebug_info");
	return s && gelf_getshdr(s, &sh) && sh.sh_type != SHT_NOBITS && sh.sh_size;
}

/* Whether the debug sections' uncompressed sizes are plausible for a file of this size. */
static bool sizes_are_sane(Elf *elf, int fd)
{
	struct stat st;
	uint64_t max;
	GElf_Shdr sh;
	GElf_Chdr ch;

	if (fstat(fd, &st) < 0)
		return false;
	max = UNPACKED_FREE + UNPACKED_RATIO * (uint64_t)st.st_size;
	for (Elf_Scn *s = NULL; (s = elf_nextscn(elf, s));) {
		if (!gelf_getshdr(s, &sh) || !(sh.sh_flags & SHF_COMPRESSED))
			continue;
		if (!gelf_getchdr(s, &ch) || ch.ch_size > max)
			return false;
		max -= ch.ch_size;
	}
	return true;
}

/*
 * Takes ownership of fd. Returns the ELF handle if the file has DWARF; otherwise closes
 * fd and returns NULL. dwz files may have any ELF type.
 */
static Elf *open_dwarf(int fd, bool dwz, struct diag *d, const char *name)
{
	Elf *elf = elf_begin(fd, ELF_C_READ, NULL);

	if (elf && (dwz ? elf_kind(elf) == ELF_K_ELF : elf_is_linked(elf)) && has_dwarf(elf)) {
		if (sizes_are_sane(elf, fd))
			return elf;
		diag_warn(d,
			  "%s: its debug sections are not used: their uncompressed size is "
			  "implausible",
			  name);
	}
	elf_end(elf);
	close(fd);
	return NULL;
}

static const char *debug_root(const struct symtab_opts *o)
{
	return o->debug_root ? o->debug_root : "/usr/lib/debug";
}

/* A Go program has a table of its own, also without DWARF. */
static bool find_go(struct lineinfo *l, int fd, const char *name)
{
	l->fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	l->elf = l->fd < 0 ? NULL : elf_begin(l->fd, ELF_C_READ, NULL);
	l->source = xstrdup(name);
	if (l->elf && elf_is_linked(l->elf) && golines_open(l))
		return true;
	elf_end(l->elf);
	l->elf = NULL;
	if (l->fd >= 0)
		close(l->fd);
	l->fd = -1;
	free(l->source);
	l->source = NULL;
	return false;
}

/* Find DWARF in the object itself or in its debug file, or a Go program's table. */
static bool find_lines(struct lineinfo *l, int fd, const struct symtab_opts *o)
{
	const char *name = o->path ? o->path : "the file";
	__cleanup(freep) char *path = NULL, *id = NULL;
	Elf *elf;

	l->fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (l->fd >= 0 && (l->elf = open_dwarf(l->fd, false, l->diag, name))) {
		l->source = xstrdup(name);
		return true;
	}
	l->fd = -1;
	elf = elf_begin(fd, ELF_C_READ, NULL);
	if (elf && elf_is_linked(elf) && *debug_root(o)) {
		id = elf_build_id(elf);
		l->fd = debugfile_open(elf, debug_root(o), o->path, id, o->open, l->diag, &path);
	}
	elf_end(elf);
	if (l->fd >= 0 && (l->elf = open_dwarf(l->fd, false, l->diag, path))) {
		l->source = path;
		path = NULL;
		return true;
	}
	if (find_go(l, fd, name))
		return true;
	l->fd = o->ask && id ? o->ask(id, l->diag) : -1;
	if (l->fd >= 0 && (l->elf = open_dwarf(l->fd, false, l->diag, "debuginfod's file"))) {
		l->source = xasprintf("debuginfod's file of build id %s", id);
		return true;
	}
	l->fd = -1;
	return false;
}

/* Check that string sections end in a NUL: libdw 0.188 relies on it. */
static bool strings_end(Elf *elf)
{
	static const char *const names[] = { ".debug_str", ".debug_line_str", ".zdebug_str" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		Elf_Scn *s = elf_section(elf, names[i]);
		Elf_Data *d = s ? elf_getdata(s, NULL) : NULL;

		if (d && d->d_size && (!d->d_buf || ((char *)d->d_buf)[d->d_size - 1]))
			return false;
	}
	return true;
}

static Dwarf *begin(struct lineinfo *l, Elf *elf, const char *name)
{
	Dwarf *dwarf = elf ? dwarf_begin_elf(elf, DWARF_C_READ, NULL) : NULL;

	if (dwarf && strings_end(elf))
		return dwarf;
	if (elf)
		diag_warn(l->diag, "%s: its debug information cannot be read: %s", name,
			  dwarf ? "a string has no end" : dwarf_errmsg(-1));
	dwarf_end(dwarf);
	return NULL;
}

/*
 * Open the dwz file that holds shared DWARF. False: libdw must not be used, as it would
 * look for the file itself.
 */
static bool find_alt(struct lineinfo *l, const struct symtab_opts *o)
{
	const char *name, *slash = strrchr(l->source, '/');
	const unsigned char *id;
	ssize_t len = dwelf_dwarf_gnu_debugaltlink(l->dwarf, &name, (const void **)&id);
	__cleanup(freep) char *dir = NULL, *path = NULL;
	struct buf hex = { 0 };

	if (len <= 0)
		return true;
	dir = slash ? xstrndup(l->source, slash - l->source) : xstrdup(".");
	for (ssize_t i = 0; i < len && i < BUILD_ID_MAX; i++)
		buf_printf(&hex, "%02x", id[i]);
	l->alt_fd = debugfile_open_alt(debug_root(o), dir, name, hex.data, l->diag, &path);
	buf_free(&hex);
	if (l->alt_fd == -EINVAL) {
		diag_warn(l->diag,
			  "%s: its lines are not used: the dwz file '%s' is not a regular file",
			  l->source, name);
		return false;
	}
	if (l->alt_fd >= 0)
		l->alt_elf = open_dwarf(l->alt_fd, true, l->diag, path);
	l->alt = begin(l, l->alt_elf, path);
	if (l->alt)
		dwarf_setalt(l->dwarf, l->alt);
	else
		diag_warn(l->diag,
			  "%s: the dwz file '%s' is missing: some names of inlined "
			  "functions are not known",
			  l->source, name);
	return true;
}

/* --- units --- */

static int unit_range_cmp(const void *pa, const void *pb)
{
	const struct unit_range *a = pa, *b = pb;

	if (a->lo != b->lo)
		return a->lo < b->lo ? -1 : 1;
	return (a->unit > b->unit) - (a->unit < b->unit);
}

/* For a unit that does not name its code: take the ranges from its line table. */
static void ranges_of_rows(struct lineinfo *l, uint32_t unit)
{
	struct unit *u = &l->units.data[unit];
	uint64_t start = 0;
	bool open = false;

	unit_read(l, u);
	vec_for_each (r, &u->rows) {
		if (!open)
			start = r->addr;
		open = r->line;
		if (!r->line && r->addr > start)
			vec_push(&l->ranges, (struct unit_range){ start, r->addr, unit });
	}
}

static void add_unit(struct lineinfo *l, Dwarf_Off offset)
{
	Dwarf_Die die;
	int tag;

	if (!dwarf_offdie(l->dwarf, offset, &die))
		return;
	tag = dwarf_tag(&die);
	if (tag != DW_TAG_compile_unit && tag != DW_TAG_skeleton_unit)
		return;
	vec_push(&l->units, (struct unit){ .die = offset });
	if (!unit_add_ranges(l, l->units.len - 1))
		ranges_of_rows(l, l->units.len - 1);
}

static void list_units(struct lineinfo *l)
{
	Dwarf_Off at = 0, next;
	size_t header;

	while (!dwarf_next_unit(l->dwarf, at, &next, &header, NULL, NULL, NULL, NULL, NULL, NULL) &&
	       next > at) {
		add_unit(l, at + header);
		at = next;
	}
	vec_sort(&l->ranges, unit_range_cmp);
}

static size_t section_size(Dwarf *dwarf)
{
	Elf_Scn *s = elf_section(dwarf_getelf(dwarf), ".debug_info");
	GElf_Shdr sh;
	GElf_Chdr ch;

	if (!s || !gelf_getshdr(s, &sh))
		return 0;
	return sh.sh_flags & SHF_COMPRESSED && gelf_getchdr(s, &ch) ? ch.ch_size : sh.sh_size;
}

struct lineinfo *lineinfo_open(int fd, const struct symtab_opts *o, struct diag *d)
{
	struct lineinfo *l = xcalloc(1, sizeof(*l));

	l->diag = d;
	l->fd = l->alt_fd = -1;
	elf_version(EV_CURRENT);
	if (!find_lines(l, fd, o))
		goto fail;
	if (l->go)
		return l;
	l->dwarf = begin(l, l->elf, l->source);
	if (!l->dwarf || !find_alt(l, o))
		goto fail;
	l->budget = section_size(l->dwarf) + UNPACKED_FREE / 64;
	list_units(l);
	return l;
fail:
	lineinfo_free(l);
	return NULL;
}

void lineinfo_free(struct lineinfo *l)
{
	if (!l)
		return;
	vec_for_each (u, &l->units) {
		vec_free(&u->rows);
		inline_free(&u->calls);
	}
	vec_free(&l->units);
	vec_free(&l->ranges);
	map_free(&l->callees);
	arena_free(&l->arena);
	golines_free(l->go);
	strtab_free(&l->paths);
	dwarf_end(l->dwarf);
	dwarf_end(l->alt);
	elf_end(l->elf);
	elf_end(l->alt_elf);
	if (l->fd >= 0)
		close(l->fd);
	if (l->alt_elf)
		close(l->alt_fd);
	free(l->source);
	free(l);
}

/* --- files --- */

/* A path without empty parts, "." and "..", so that each file has one number. */
static char *clean_path(const char *dir, const char *path)
{
	char *full = *path == '/' || !dir ? xstrdup(path) : xasprintf("%s/%s", dir, path);
	bool absolute = *full == '/';
	char *to = full, *floor = full;

	for (char *from = full, *end; *from; from = end) {
		size_t n;

		from += strspn(from, "/");
		end = from + (n = strcspn(from, "/"));
		if (!n || (n == 1 && *from == '.'))
			continue;
		if (n == 2 && from[0] == '.' && from[1] == '.' && to > floor) {
			while (to > floor && *--to != '/')
				;
			continue;
		}
		if (to > full || absolute)
			*to++ = '/';
		memmove(to, from, n);
		to += n;
		if (n == 2 && from[0] == '.' && from[1] == '.')
			floor = to; /* a leading ".." stays */
	}
	*to = '\0';
	return full;
}

uint32_t lineinfo_file(struct lineinfo *l, const char *dir, const char *path)
{
	char *clean = clean_path(dir, path);
	uint32_t id = strtab_id(&l->paths, clean);

	free(clean);
	return id;
}

const char *lineinfo_path(const struct lineinfo *l, uint32_t file)
{
	return file < l->paths.len ? l->paths.strings[file] : "";
}

size_t lineinfo_nfiles(const struct lineinfo *l)
{
	return l->paths.len;
}

/* --- questions --- */

static void read_unit(struct lineinfo *l, struct unit *u)
{
	if (u->read)
		return;
	if (l->go)
		golines_read(l, u);
	else
		unit_read(l, u);
}

uint32_t lineinfo_unit(const struct lineinfo *l, uint64_t vaddr)
{
	size_t n = vec_upto(&l->ranges, lo, vaddr);
	const struct unit_range *r = n ? &l->ranges.data[n - 1] : NULL;

	return r && vaddr < r->hi ? r->unit : LINE_FILE_NONE;
}

static struct unit *unit_at(struct lineinfo *l, uint64_t vaddr)
{
	uint32_t unit = lineinfo_unit(l, vaddr);
	struct unit *u;

	if (unit == LINE_FILE_NONE)
		return NULL;
	u = &l->units.data[unit];
	read_unit(l, u);
	return u;
}

bool lineinfo_find(struct lineinfo *l, uint64_t vaddr, struct line_at *ret)
{
	const struct unit *u = unit_at(l, vaddr);
	size_t n = u ? vec_upto(&u->rows, addr, vaddr) : 0;
	const struct line_row *r = n ? &u->rows.data[n - 1] : NULL;

	if (!r || !r->line)
		return false;
	*ret = (struct line_at){ .line = r->line,
				 .file = r->file,
				 .start = r->addr,
				 .end = n < u->rows.len ? u->rows.data[n].addr : vaddr + 1 };
	return true;
}

size_t lineinfo_inlined(struct lineinfo *l, uint64_t vaddr, struct inlined *ret, size_t max)
{
	const struct unit *u = unit_at(l, vaddr);
	const struct inline_call *c = u ? inline_find(&u->calls, vaddr) : NULL;
	size_t n = c ? c->depth : 0;

	for (size_t i = n; c && i > 0; i--) {
		if (i <= max)
			ret[i - 1] = (struct inlined){ .name = c->callee->name,
						       .symbol = c->callee->symbol,
						       .declared = c->callee->file,
						       .file = c->file,
						       .line = c->line };
		c = c->outer ? &u->calls.calls.data[c->outer - 1] : NULL;
	}
	return n;
}

const struct line_row *lineinfo_rows(struct lineinfo *l, uint64_t from, uint64_t to, size_t *n)
{
	const struct unit *u = unit_at(l, from);
	size_t first, end;

	*n = 0;
	if (!u || !u->rows.len || from >= to)
		return NULL;
	first = from ? vec_upto(&u->rows, addr, from - 1) : 0;
	end = vec_upto(&u->rows, addr, to - 1);
	*n = end - first;
	return u->rows.data + first;
}

uint32_t lineinfo_unit_file(struct lineinfo *l, uint64_t vaddr)
{
	uint32_t unit = lineinfo_unit(l, vaddr);
	struct unit *u = unit == LINE_FILE_NONE ? NULL : &l->units.data[unit];
	struct line_at at;

	/* A package has many files. */
	if (l->go)
		return lineinfo_find(l, vaddr, &at) ? at.file : LINE_FILE_NONE;

	if (u && !u->named)
		unit_name(l, u);
	return u ? u->file : LINE_FILE_NONE;
}

const char *lineinfo_producer(struct lineinfo *l, uint64_t vaddr)
{
	const struct unit *u = unit_at(l, vaddr);

	return u ? u->producer : NULL;
}

void lineinfo_read_all(struct lineinfo *l)
{
	vec_for_each (u, &l->units)
		read_unit(l, u);
}
