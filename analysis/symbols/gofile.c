/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/symbols/gofile.h"

#include <string.h>

#include "analysis/base/alloc.h"
#include "analysis/base/cursor.h"
#include "analysis/symbols/elfsyms.h"

enum {
	TABLE_SIZE_MAX = 1024 * 1024 * 1024,
	MODULES_MAX = 16, /* places that are tried as firstmoduledata */
	TREES_CHECKED = 64,
	MAKER_MAX = 64,
};

/* Bytes of a section, and their address. */
struct contents {
	const unsigned char *p;
	size_t size;
	uint64_t addr;
};

static bool contents_of(Elf_Scn *scn, struct contents *ret)
{
	GElf_Shdr sh;
	Elf_Data *d = scn && gelf_getshdr(scn, &sh) && sh.sh_type == SHT_PROGBITS &&
				      sh.sh_flags & SHF_ALLOC && sh.sh_size <= TABLE_SIZE_MAX
			      ? elf_rawdata(scn, NULL)
			      : NULL;

	*ret = (struct contents){ 0 };
	if (!d || !d->d_buf || !d->d_size)
		return false;
	*ret = (struct contents){ .p = d->d_buf, .size = d->d_size, .addr = sh.sh_addr };
	return true;
}

static enum go_found find_table(Elf *elf, struct gotable *t)
{
	enum go_found found;
	struct contents c;
	size_t at = 0;

	if (contents_of(elf_section(elf, ".gopclntab"), &c) ||
	    contents_of(elf_section(elf, ".data.rel.ro.gopclntab"), &c))
		found = gotable_open(c.p, c.size, t);
	else if (contents_of(elf_section(elf, ".data.rel.ro"), &c))
		found = gotable_search(c.p, c.size, &at, t) ? GO_FOUND : GO_NONE;
	else
		return GO_NONE;
	t->addr = c.addr + at;
	return found;
}

/* --- the runtime's variable firstmoduledata --- */

/* Indexes of its words. The index of the trees' address depends on the version of Go. */
enum { M_HEADER = 0, M_NAMES = 1, M_FIRST = 20, M_TEXT = 22, M_TREES_FIRST = 32, M_WORDS = 48 };

struct module {
	uint64_t addr;
	uint64_t words[M_WORDS];
};

struct search {
	uint64_t addr;	      /* of the table */
	VEC(uint64_t) places; /* where this address is stored */
};

/*
 * The addresses that the loader stores in a position-independent program. Calls `use` for each: at
 * `at` it stores `value`.
 */
static void each_stored(Elf *elf, void (*use)(void *ctx, uint64_t at, uint64_t value), void *ctx)
{
	for (Elf_Scn *scn = NULL; (scn = elf_nextscn(elf, scn));) {
		GElf_Shdr sh;
		bool is_rela = gelf_getshdr(scn, &sh) && sh.sh_type == SHT_RELA;
		Elf_Data *d = is_rela ? elf_rawdata(scn, NULL) : NULL;
		struct cursor c = { 0 };

		if (d && d->d_buf)
			c = (struct cursor){ .p = d->d_buf,
					     .end = (unsigned char *)d->d_buf + d->d_size };
		while (cursor_left(&c) >= sizeof(Elf64_Rela)) {
			uint64_t at = cursor_u64(&c), info = cursor_u64(&c), value = cursor_u64(&c);

			if (!ELF64_R_SYM(info))
				use(ctx, at, value);
		}
	}
}

static void note_place(void *ctx, uint64_t at, uint64_t value)
{
	struct search *s = ctx;

	if (value == s->addr && s->places.len < MODULES_MAX)
		vec_push(&s->places, at);
}

static void search_contents(Elf *elf, struct search *s)
{
	struct contents c;
	uint64_t word;

	for (Elf_Scn *scn = NULL; (scn = elf_nextscn(elf, scn));) {
		GElf_Shdr sh;

		if (!gelf_getshdr(scn, &sh) || !(sh.sh_flags & SHF_WRITE) || !contents_of(scn, &c))
			continue;
		for (uint64_t at = -c.addr & 7; at + sizeof(word) <= c.size; at += 8) {
			memcpy(&word, c.p + at, sizeof(word));
			note_place(s, c.addr + at, word);
		}
	}
}

/* The bytes at an address up to the end of its section. Returns how many; 0: the file has none. */
static size_t bytes_at(Elf *elf, uint64_t addr, const unsigned char **ret)
{
	struct contents c;

	for (Elf_Scn *scn = NULL; (scn = elf_nextscn(elf, scn));) {
		GElf_Shdr sh;

		if (gelf_getshdr(scn, &sh) && addr - sh.sh_addr < sh.sh_size && contents_of(scn, &c) &&
		    addr - c.addr < c.size) {
			*ret = c.p + (addr - c.addr);
			return c.size - (addr - c.addr);
		}
	}
	return 0;
}

static void store_word(void *ctx, uint64_t at, uint64_t value)
{
	struct module *m = ctx;

	if (at - m->addr < sizeof(m->words) && !((at - m->addr) % 8))
		m->words[(at - m->addr) / 8] = value;
}

static bool read_module(Elf *elf, const struct gotable *t, uint64_t addr, struct module *ret)
{
	const unsigned char *p;
	uint32_t first;

	*ret = (struct module){ .addr = addr };
	if (bytes_at(elf, addr, &p) < sizeof(ret->words))
		return false;
	memcpy(ret->words, p, sizeof(ret->words));
	each_stored(elf, store_word, ret);
	memcpy(&first, t->p + t->index, sizeof(first));
	return ret->words[M_HEADER] == t->addr && ret->words[M_NAMES] == t->addr + t->names &&
	       ret->words[M_FIRST] == ret->words[M_TEXT] + first;
}

/* Use the inlined calls at an address if those of the first functions are plausible. */
static bool use_trees(Elf *elf, struct gotable *t, uint64_t addr)
{
	unsigned good = 0;

	t->trees_size = bytes_at(elf, addr, &t->trees);
	for (uint64_t i = 0; t->trees_size && i < t->n && good < TREES_CHECKED; i++) {
		struct go_function f;
		struct go_call call;

		if (!gotable_function(t, i, &f) || !gotable_has_calls(t, &f))
			continue;
		good++;
		if (!gotable_call(t, &f, 0, &call))
			t->trees_size = 0;
	}
	if (!good || !t->trees_size)
		t->trees = NULL;
	return t->trees;
}

/* Addresses of functions are relative to the start of Go's code, which not every header has. */
static void find_text(Elf *elf, struct gotable *t)
{
	Elf_Scn *scn = elf_section(elf, ".text");
	GElf_Shdr sh;

	if (!t->text && scn && gelf_getshdr(scn, &sh))
		t->text = sh.sh_addr;
}

static void find_module(Elf *elf, struct gotable *t)
{
	struct search s = { .addr = t->addr };
	struct module m;

	search_contents(elf, &s);
	each_stored(elf, note_place, &s);
	for (size_t i = 0; i < s.places.len && !t->trees; i++) {
		if (!read_module(elf, t, s.places.data[i], &m))
			continue;
		t->text = m.words[M_TEXT];
		for (unsigned w = M_TREES_FIRST; w < M_WORDS && !t->trees; w++)
			use_trees(elf, t, m.words[w]);
	}
	vec_free(&s.places);
}

/* --- a program --- */

static bool is_supported(Elf *elf)
{
	GElf_Ehdr eh;

	return gelf_getehdr(elf, &eh) && eh.e_ident[EI_CLASS] == ELFCLASS64 &&
	       eh.e_ident[EI_DATA] == ELFDATA2LSB;
}

enum go_found gotable_find(Elf *elf, struct gotable *ret)
{
	enum go_found found = is_supported(elf) ? find_table(elf, ret) : GO_NONE;

	if (found != GO_FOUND || !ret->reads_calls)
		return found;
	find_text(elf, ret);
	find_module(elf, ret);
	return GO_FOUND;
}

char *gotable_maker(Elf *elf)
{
	static const char mark[] = "\xff Go buildinf:";
	struct contents s;
	size_t len;

	/* From Go 1.18 on the version is a string after a header of 32 bytes, with its length before it. */
	if (contents_of(elf_section(elf, ".go.buildinfo"), &s) && s.size > 33 &&
	    !memcmp(s.p, mark, sizeof(mark) - 1) && s.p[15] & 2) {
		len = s.p[32];
		if (len <= MAKER_MAX && len <= s.size - 33)
			return xstrndup((const char *)s.p + 33, len);
	}
	return xstrdup("an unknown version of Go");
}
