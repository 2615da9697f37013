/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/symbols/datasyms.h"

#include <string.h>

#include "analysis/base/alloc.h"
#include "analysis/symbols/aliases.h"
#include "analysis/symbols/elfsyms.h"
#include "analysis/symbols/plt.h"

enum {
	SYMBOLS_MAX = 4 << 20,
	NAME_MAX_LEN = 4096,
	/* Of one file, for its archive. */
	WRITTEN_MAX = 1 << 17,
	WRITTEN_NAMES_MAX = 8 << 20,
};

struct datasyms {
	VEC(struct datasym) all; /* sorted by address, one at each */
	elf_segments segments;
	struct arena arena;
};

static bool is_variable(const GElf_Sym *s)
{
	return GELF_ST_TYPE(s->st_info) == STT_OBJECT && s->st_shndx != SHN_UNDEF &&
	       s->st_shndx != SHN_ABS && s->st_shndx != SHN_COMMON && s->st_size &&
	       s->st_value + s->st_size > s->st_value;
}

static void add_symbol(struct datasyms *d, Elf *elf, const GElf_Shdr *sh, const GElf_Sym *s)
{
	const char *name = elf_strptr(elf, sh->sh_link, s->st_name);
	size_t n = name ? strnlen(name, NAME_MAX_LEN) : 0;
	char *copy;

	if (!n || d->all.len == SYMBOLS_MAX)
		return;
	copy = arena_alloc(&d->arena, n + 1);
	memcpy(copy, name, n);
	copy[strcspn(copy, "@")] = '\0';
	vec_push(&d->all, (struct datasym){ s->st_value, s->st_size, copy });
}

static void add_table(struct datasyms *d, Elf *elf, unsigned type)
{
	size_t entry = gelf_fsize(elf, ELF_T_SYM, 1, EV_CURRENT);

	for (Elf_Scn *scn = NULL; (scn = elf_nextscn(elf, scn));) {
		GElf_Shdr sh;
		Elf_Data *data;
		GElf_Sym s;

		if (!gelf_getshdr(scn, &sh) || sh.sh_type != type || !entry)
			continue;
		data = elf_getdata(scn, NULL);
		for (size_t i = 1; data && data->d_buf && i < data->d_size / entry &&
				   gelf_getsym(data, i, &s); i++) {
			if (is_variable(&s))
				add_symbol(d, elf, &sh, &s);
		}
		return; /* the standard allows one table of a type */
	}
}

static void add_slots(struct datasyms *d, Elf *elf)
{
	rawsyms slots = { 0 };

	plt_add_slots(elf, &d->arena, &slots);
	vec_for_each(s, &slots) {
		if (d->all.len < SYMBOLS_MAX)
			vec_push(&d->all, (struct datasym){ s->addr, s->size, s->name });
	}
	vec_free(&slots);
}

static int by_addr(const void *a, const void *b)
{
	const struct datasym *da = a, *db = b;

	if (da->addr != db->addr)
		return da->addr < db->addr ? -1 : 1;
	return alias_cmp(da->name, db->name);
}

/* Keep one name of each address, chosen as for functions. */
static void sort_symbols(struct datasyms *d)
{
	size_t n = 0;

	vec_sort(&d->all, by_addr);
	vec_for_each(s, &d->all) {
		if (!n || d->all.data[n - 1].addr != s->addr)
			d->all.data[n++] = *s;
	}
	d->all.len = n;
}

struct datasyms *datasyms_open(int fd)
{
	struct datasyms *d;
	Elf *elf;

	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ, NULL);
	if (!elf || !elf_is_linked(elf)) {
		elf_end(elf);
		return NULL;
	}
	d = xcalloc(1, sizeof(*d));
	elf_get_segments(elf, &d->segments);
	add_table(d, elf, SHT_SYMTAB);
	add_table(d, elf, SHT_DYNSYM);
	add_slots(d, elf);
	sort_symbols(d);
	elf_end(elf);
	if (d->all.len)
		return d;
	datasyms_free(d);
	return NULL;
}

void datasyms_free(struct datasyms *d)
{
	if (!d)
		return;
	vec_free(&d->all);
	vec_free(&d->segments);
	arena_free(&d->arena);
	free(d);
}

size_t datasyms_count(const struct datasyms *d)
{
	return d->all.len;
}

const struct datasym *datasyms_find(const struct datasyms *d, uint64_t vaddr)
{
	size_t lo = 0, hi = d->all.len;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (d->all.data[mid].addr <= vaddr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo && vaddr - d->all.data[lo - 1].addr < d->all.data[lo - 1].size ?
		       &d->all.data[lo - 1] : NULL;
}

uint64_t datasyms_vaddr(const struct datasyms *d, uint64_t offset)
{
	vec_for_each(s, &d->segments) {
		if (offset >= s->offset && offset - s->offset < s->filesz)
			return s->vaddr + (offset - s->offset);
	}
	return (uint64_t)-1;
}

/* The range that is read-only once the program's relocations are done: C++'s vtables, mostly. */
static struct elf_region relro(Elf *elf)
{
	size_t n = 0;
	GElf_Phdr ph;

	if (elf_getphdrnum(elf, &n) < 0)
		return (struct elf_region){ 0 };
	for (size_t i = 0; i < n; i++)
		if (gelf_getphdr(elf, i, &ph) && ph.p_type == PT_GNU_RELRO)
			return (struct elf_region){ ph.p_vaddr, ph.p_vaddr + ph.p_memsz };
	return (struct elf_region){ 0 };
}

static bool is_written(Elf *elf, const GElf_Sym *s, const struct elf_region *constant)
{
	const uint64_t flags = SHF_ALLOC | SHF_WRITE;
	Elf_Scn *scn = is_variable(s) ? elf_getscn(elf, s->st_shndx) : NULL;
	GElf_Shdr sh;

	return scn && gelf_getshdr(scn, &sh) && (sh.sh_flags & flags) == flags &&
	       !(sh.sh_flags & SHF_TLS) &&
	       !(s->st_value >= constant->start && s->st_value < constant->end);
}

static void give_written(Elf *elf, const GElf_Shdr *sh, Elf_Data *data, size_t nsyms,
			 void (*fn)(void *ctx, const GElf_Sym *s, const char *name), void *ctx)
{
	struct elf_region constant = relro(elf);
	size_t given = 0, bytes = 0;
	GElf_Sym s;

	for (size_t i = 1; i < nsyms && given < WRITTEN_MAX && gelf_getsym(data, i, &s); i++) {
		const char *name = is_written(elf, &s, &constant) ?
					   elf_strptr(elf, sh->sh_link, s.st_name) : NULL;
		size_t n = name ? strnlen(name, NAME_MAX_LEN) : 0;

		if (!n || n == NAME_MAX_LEN || n > WRITTEN_NAMES_MAX - bytes)
			continue;
		fn(ctx, &s, name);
		given++;
		bytes += n;
	}
}

void datasyms_written(Elf *elf, void (*fn)(void *ctx, const GElf_Sym *s, const char *name),
		      void *ctx)
{
	size_t entry = gelf_fsize(elf, ELF_T_SYM, 1, EV_CURRENT);

	for (Elf_Scn *scn = NULL; (scn = elf_nextscn(elf, scn));) {
		GElf_Shdr sh;
		Elf_Data *data;

		if (!gelf_getshdr(scn, &sh) || sh.sh_type != SHT_SYMTAB || !entry)
			continue;
		data = elf_getdata(scn, NULL);
		if (data && data->d_buf)
			give_written(elf, &sh, data, data->d_size / entry, fn, ctx);
		return; /* the standard allows one table of a type */
	}
}
