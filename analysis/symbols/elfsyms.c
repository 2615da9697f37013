/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/symbols/elfsyms.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/base/buf.h"

enum {
	SECTIONS_MAX = 4096, /* linked files have a few dozen */
	SECTION_NAMES_MAX = 1024 * 1024,
	NOTE_SIZE_MAX = 1024 * 1024,
	TABLE_SIZE_MAX = 512 * 1024 * 1024, /* a sparse file may claim any size */
	FUNCTIONS_MAX = 4 << 20, /* of a table; more would fill the memory. A browser has 1 << 20 */
	NAME_MAX_LEN = 32 * 1024,
	BUILD_ID_MAX = 64,
	/*
	 * Names may share their tails in a string table, so their lengths add up to
	 * more than the table, but hardly twice. In a hostile file all names could
	 * overlap, for work quadratic in its size.
	 */
	NAME_SHARING_MAX = 8,
};

static bool tables_fit(Elf *elf)
{
	GElf_Shdr sh;

	for (Elf_Scn *s = NULL; (s = elf_nextscn(elf, s));) {
		if (!gelf_getshdr(s, &sh) || sh.sh_size <= TABLE_SIZE_MAX)
			continue;
		if (sh.sh_type == SHT_SYMTAB || sh.sh_type == SHT_DYNSYM ||
		    sh.sh_type == SHT_STRTAB || sh.sh_type == SHT_RELA)
			return false;
	}
	return true;
}

bool elf_is_linked(Elf *elf)
{
	size_t n, strndx;
	GElf_Ehdr eh;
	GElf_Shdr sh;
	Elf_Scn *names;

	if (elf_kind(elf) != ELF_K_ELF || !gelf_getehdr(elf, &eh) ||
	    (eh.e_type != ET_EXEC && eh.e_type != ET_DYN))
		return false;
	if (elf_getshdrnum(elf, &n) < 0 || n > SECTIONS_MAX)
		return false;
	names = elf_getshdrstrndx(elf, &strndx) == 0 ? elf_getscn(elf, strndx) : NULL;
	if (names && gelf_getshdr(names, &sh) && sh.sh_size > SECTION_NAMES_MAX)
		return false;
	return tables_fit(elf);
}

bool elf_is_cut(Elf *elf)
{
	GElf_Ehdr eh;
	size_t n;

	return gelf_getehdr(elf, &eh) && eh.e_shoff && !elf_getshdrnum(elf, &n) && !n;
}

static int region_cmp(const void *pa, const void *pb)
{
	const struct elf_region *a = pa, *b = pb;

	return a->start < b->start ? -1 : a->start > b->start;
}

static void add_region(elf_regions *r, uint64_t start, uint64_t size)
{
	if (size && start + size > start)
		vec_push(r, (struct elf_region){ .start = start, .end = start + size });
}

/* Merge overlapping regions. Adjacent ones stay apart, because functions end with their section. */
static void merge_regions(elf_regions *r)
{
	size_t n = 0;

	vec_sort(r, region_cmp);
	for (size_t i = 0; i < r->len; i++) {
		if (n && r->data[i].start < r->data[n - 1].end) {
			if (r->data[i].end > r->data[n - 1].end)
				r->data[n - 1].end = r->data[i].end;
		} else {
			r->data[n++] = r->data[i];
		}
	}
	r->len = n;
}

void elf_get_regions(Elf *elf, elf_regions *ret)
{
	const uint64_t code = SHF_ALLOC | SHF_EXECINSTR;
	GElf_Shdr sh;
	GElf_Phdr ph;
	size_t n = 0;

	for (Elf_Scn *s = NULL; (s = elf_nextscn(elf, s));)
		if (gelf_getshdr(s, &sh) && (sh.sh_flags & code) == code)
			add_region(ret, sh.sh_addr, sh.sh_size);
	if (!ret->len && elf_getphdrnum(elf, &n) == 0)
		for (size_t i = 0; i < n; i++)
			if (gelf_getphdr(elf, i, &ph) && ph.p_type == PT_LOAD && ph.p_flags & PF_X)
				add_region(ret, ph.p_vaddr, ph.p_memsz);
	merge_regions(ret);
}

void elf_get_segments(Elf *elf, elf_segments *ret)
{
	size_t n = 0;
	GElf_Phdr ph;

	if (elf_getphdrnum(elf, &n) < 0)
		return;
	for (size_t i = 0; i < n; i++)
		if (gelf_getphdr(elf, i, &ph) && ph.p_type == PT_LOAD)
			vec_push(ret, (struct elf_segment){
					      .vaddr = ph.p_vaddr,
					      .offset = ph.p_offset,
					      .filesz = ph.p_filesz,
					      .exec = ph.p_flags & PF_X,
				      });
}

const struct elf_region *elf_find_region(const elf_regions *r, uint64_t vaddr)
{
	size_t n = vec_upto(r, start, vaddr);

	return n && vaddr < r->data[n - 1].end ? &r->data[n - 1] : NULL;
}

/* Symbols that linkers define around sections; not functions. */
static bool is_linker_mark(const char *name)
{
	static const char *const marks[] = { "etext", "_etext", "__etext", "__executable_start" };

	for (size_t i = 0; i < sizeof(marks) / sizeof(*marks); i++)
		if (!strcmp(name, marks[i]))
			return true;
	return !strncmp(name, "__start_", 8) || !strncmp(name, "__stop_", 7);
}

static bool is_function(const GElf_Sym *s)
{
	if (s->st_shndx == SHN_UNDEF || s->st_shndx == SHN_ABS || s->st_shndx == SHN_COMMON)
		return false;
	switch (GELF_ST_TYPE(s->st_info)) {
	case STT_FUNC:
	case STT_GNU_IFUNC:
		return true;
	case STT_NOTYPE: /* local ones are labels within functions */
		return GELF_ST_BIND(s->st_info) != STB_LOCAL;
	}
	return false;
}

/* A copy of a string table, as names outlive the open file. */
struct strings {
	char *data;
	size_t len;    /* up to and including its last NUL */
	size_t budget; /* limit for the sum of the names' lengths */
};

static struct strings copy_strings(Elf *elf, size_t index, struct arena *a)
{
	Elf_Scn *scn = elf_getscn(elf, index);
	struct strings s = { 0 };
	GElf_Shdr sh;
	Elf_Data *d;

	if (!scn || !gelf_getshdr(scn, &sh) || sh.sh_type != SHT_STRTAB)
		return s;
	d = elf_getdata(scn, NULL);
	if (!d || !d->d_buf)
		return s;
	for (s.len = d->d_size; s.len && ((char *)d->d_buf)[s.len - 1];)
		s.len--;
	s.budget = s.len * NAME_SHARING_MAX;
	s.data = arena_alloc(a, s.len);
	memcpy(s.data, d->d_buf, s.len);
	return s;
}

/* The name at this offset, without its version ("memcpy@@GLIBC_2.14"); NULL if it is invalid. */
static const char *string_at(struct strings *s, size_t offset)
{
	char *name, *version;
	size_t len;

	if (offset >= s->len)
		return NULL;
	name = s->data + offset;
	len = strnlen(name, NAME_MAX_LEN);
	if (!len || len == NAME_MAX_LEN || len > s->budget)
		return NULL;
	s->budget -= len;
	version = memchr(name + 1, '@', len - 1);
	if (version && strcmp(version, "@plt")) /* @plt is part of a symbol file's names */
		*version = '\0'; /* also cuts names that share this tail, at the same place */
	return name;
}

/* The section with symbols of other files; SHN_UNDEF if there is none, as in linked files. */
static size_t elsewhere_section(Elf *elf)
{
	const uint64_t flags = SHF_ALLOC | SHF_EXECINSTR | SHF_EXCLUDE;
	GElf_Shdr sh;

	for (Elf_Scn *s = NULL; (s = elf_nextscn(elf, s));) {
		if (gelf_getshdr(s, &sh) && sh.sh_type == SHT_NOBITS &&
		    (sh.sh_flags & flags) == flags)
			return elf_ndxscn(s);
	}
	return SHN_UNDEF;
}

static size_t add_table(Elf *elf, Elf_Scn *scn, const GElf_Shdr *sh, const elf_regions *regions,
			struct arena *a, rawsyms *ret, size_t *nbad)
{
	Elf_Data *d = elf_getdata(scn, NULL);
	size_t entry = gelf_fsize(elf, ELF_T_SYM, 1, EV_CURRENT), before = ret->len;
	size_t elsewhere = elsewhere_section(elf);
	struct strings strings = { 0 };
	GElf_Sym s;

	if (!d || !d->d_buf || !entry) {
		++*nbad;
		return 0;
	}
	strings = copy_strings(elf, sh->sh_link, a);
	for (size_t i = 1; i < d->d_size / entry && gelf_getsym(d, i, &s); i++) {
		bool untyped = GELF_ST_TYPE(s.st_info) == STT_NOTYPE;
		const char *name;

		if (!is_function(&s) || !elf_find_region(regions, s.st_value))
			continue;
		if (ret->len - before == FUNCTIONS_MAX) {
			++*nbad;
			continue;
		}
		name = string_at(&strings, s.st_name);
		if (!name) {
			++*nbad;
			continue;
		}
		if (untyped && is_linker_mark(name))
			continue;
		vec_push(ret,
			 (struct rawsym){
				 .addr = s.st_value,
				 .size = s.st_size,
				 .name = name,
				 .flags = (GELF_ST_BIND(s.st_info) == STB_LOCAL ? 0 : RAW_GLOBAL) |
					  (untyped ? RAW_UNTYPED : 0) |
					  (s.st_shndx == elsewhere ? RAW_ELSEWHERE : 0),
			 });
	}
	return ret->len - before;
}

/*
 * The first table of a type. The standard allows one; reading more would let a file
 * have one read a thousand times.
 */
static Elf_Scn *find_table(Elf *elf, unsigned type, GElf_Shdr *sh)
{
	Elf_Scn *s = NULL;

	while ((s = elf_nextscn(elf, s)))
		if (gelf_getshdr(s, sh) && sh->sh_type == type && !(sh->sh_flags & SHF_COMPRESSED))
			return s;
	return NULL;
}

size_t elfsyms_add(Elf *elf, unsigned type, const elf_regions *regions, struct arena *a,
		   rawsyms *ret, size_t *nbad)
{
	GElf_Shdr sh;
	Elf_Scn *s = find_table(elf, type, &sh);

	return s ? add_table(elf, s, &sh, regions, a, ret, nbad) : 0;
}

Elf_Scn *elf_section(Elf *elf, const char *name)
{
	size_t strndx;
	GElf_Shdr sh;

	if (elf_getshdrstrndx(elf, &strndx) < 0)
		return NULL;
	for (Elf_Scn *s = NULL; (s = elf_nextscn(elf, s));) {
		const char *got = gelf_getshdr(s, &sh) ? elf_strptr(elf, strndx, sh.sh_name) : NULL;

		if (got && !strcmp(got, name))
			return s;
	}
	return NULL;
}

static char *note_build_id(Elf_Data *d)
{
	size_t at = 0, name, desc;
	struct buf hex = { 0 };
	GElf_Nhdr n;

	while (d && at < d->d_size && (at = gelf_getnote(d, at, &n, &name, &desc)) > 0) {
		const unsigned char *id = (unsigned char *)d->d_buf + desc;

		if (n.n_type != NT_GNU_BUILD_ID || n.n_namesz != 4 ||
		    memcmp((char *)d->d_buf + name, "GNU", 4) || !n.n_descsz ||
		    n.n_descsz > BUILD_ID_MAX)
			continue;
		for (size_t i = 0; i < n.n_descsz; i++)
			buf_printf(&hex, "%02x", id[i]);
		return hex.data;
	}
	return NULL;
}

char *elf_build_id(Elf *elf)
{
	char *id = NULL;
	size_t n = 0;
	GElf_Shdr sh;
	GElf_Phdr ph;

	/* Sections first: in a symbol file only they locate the note. */
	for (Elf_Scn *s = NULL; !id && (s = elf_nextscn(elf, s));)
		if (gelf_getshdr(s, &sh) && sh.sh_type == SHT_NOTE && sh.sh_size <= NOTE_SIZE_MAX)
			id = note_build_id(elf_getdata(s, NULL));
	if (id || elf_getphdrnum(elf, &n) < 0)
		return id;
	for (size_t i = 0; !id && i < n; i++)
		if (gelf_getphdr(elf, i, &ph) && ph.p_type == PT_NOTE && ph.p_filesz &&
		    ph.p_filesz <= NOTE_SIZE_MAX)
			id = note_build_id(
				elf_getdata_rawchunk(elf, ph.p_offset, ph.p_filesz,
						     ph.p_align == 8 ? ELF_T_NHDR8 : ELF_T_NHDR));
	return id;
}

char *elf_file_build_id(int fd)
{
	Elf *elf;
	char *id;

	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ, NULL);
	id = elf && elf_kind(elf) == ELF_K_ELF ? elf_build_id(elf) : NULL;
	elf_end(elf);
	return id;
}

bool elf_file(int fd)
{
	char magic[SELFMAG];

	return pread(fd, magic, sizeof(magic), 0) == sizeof(magic) &&
	       !memcmp(magic, ELFMAG, sizeof(magic));
}
