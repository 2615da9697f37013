/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/symbols/gosyms.h"

#include <string.h>

enum {
	HEADER_SIZE = 72,
	FUNCTIONS_MAX = 4 << 20,
	NAME_MAX_LEN = 4096,
	TABLE_SIZE_MAX = 1024 * 1024 * 1024,
};

/* Indexes of words in the header, after its first eight bytes. */
enum { W_NFUNCS = 0, W_TEXT = 2, W_NAMES = 3, W_FUNCTIONS = 7 };

struct table {
	const unsigned char *p;
	size_t size;
	uint64_t n, text, names, functions; /* offsets from p, except text */
};

static uint32_t u32(const unsigned char *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static uint64_t word(const struct table *t, unsigned i)
{
	uint64_t v;

	memcpy(&v, t->p + 8 + 8 * i, sizeof(v));
	return v;
}

/* Checks the magic number (Go 1.18 or 1.20), two zeros, the smallest pc step, and the word size. */
static bool is_header(const unsigned char *p)
{
	uint32_t magic = u32(p);

	return (magic == 0xfffffff0 || magic == 0xfffffff1) && !p[4] && !p[5] &&
	       (p[6] == 1 || p[6] == 4) && p[7] == 8;
}

/* Read the header at p. False: the table does not fit into the rest of its section. */
static bool read_header(struct table *t, uint64_t text_section)
{
	if (t->size < HEADER_SIZE || !is_header(t->p))
		return false;
	t->n = word(t, W_NFUNCS);
	t->text = word(t, W_TEXT) ? word(t, W_TEXT) : text_section;
	t->names = word(t, W_NAMES);
	t->functions = word(t, W_FUNCTIONS);
	return t->n && t->n <= FUNCTIONS_MAX && t->names < t->size && t->functions < t->size &&
	       t->functions + t->n * 8 + 4 <= t->size;
}

static bool section_data(Elf *elf, const char *name, struct table *t)
{
	Elf_Scn *scn = elf_section(elf, name);
	GElf_Shdr sh;
	Elf_Data *d = scn && gelf_getshdr(scn, &sh) && sh.sh_type == SHT_PROGBITS &&
				      sh.sh_size <= TABLE_SIZE_MAX
			      ? elf_rawdata(scn, NULL)
			      : NULL;

	*t = (struct table){ .p = d ? d->d_buf : NULL, .size = d && d->d_buf ? d->d_size : 0 };
	return t->size;
}

static bool find_table(Elf *elf, struct table *t)
{
	Elf_Scn *scn = elf_section(elf, ".text");
	struct table all;
	GElf_Shdr sh;
	uint64_t text = scn && gelf_getshdr(scn, &sh) ? sh.sh_addr : 0;

	if ((section_data(elf, ".gopclntab", t) || section_data(elf, ".data.rel.ro.gopclntab", t)) &&
	    read_header(t, text))
		return true;
	if (!section_data(elf, ".data.rel.ro", &all))
		return false;
	for (size_t at = 0; at + HEADER_SIZE <= all.size; at += 8) {
		*t = (struct table){ .p = all.p + at, .size = all.size - at };
		if (read_header(t, text))
			return true;
	}
	return false;
}

/* The name of the function whose description is at this offset from the table's start. */
static const char *name_of(const struct table *t, uint32_t offset, size_t *len)
{
	uint64_t at = t->functions + offset, name;

	if (at + 8 > t->size)
		return NULL;
	name = t->names + u32(t->p + at + 4);
	if (name >= t->size)
		return NULL;
	*len = strnlen((const char *)t->p + name, t->size - name);
	return *len && *len <= NAME_MAX_LEN && *len < t->size - name ? (const char *)t->p + name
								     : NULL;
}

static bool is_supported(Elf *elf)
{
	GElf_Ehdr eh;

	return gelf_getehdr(elf, &eh) && eh.e_ident[EI_CLASS] == ELFCLASS64 &&
	       eh.e_ident[EI_DATA] == ELFDATA2LSB;
}

size_t gosyms_add(Elf *elf, const elf_regions *regions, struct arena *a, rawsyms *ret)
{
	size_t before = ret->len, len, room = 0;
	struct table t;

	if (!is_supported(elf) || !find_table(elf, &t))
		return 0;
	for (uint64_t i = 0; i < t.n && room < t.size; i++) {
		const unsigned char *entry = t.p + t.functions + i * 8;
		uint32_t start = u32(entry), end = u32(entry + 8);
		const char *name = name_of(&t, u32(entry + 4), &len);
		char *own;

		if (!name || end <= start || !elf_find_region(regions, t.text + start))
			continue;
		own = arena_alloc(a, len + 1);
		memcpy(own, name, len + 1);
		room += len; /* names in one table do not overlap */
		vec_push(ret, (struct rawsym){
				      .addr = t.text + start, .size = end - start, .name = own });
	}
	return ret->len - before;
}
