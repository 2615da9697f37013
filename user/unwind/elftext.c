/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "user/unwind/elftext.h"

#include <elf.h>
#include <errno.h>
#include <string.h>

enum { PHDRS_MAX = 256 };

/* Copy n bytes from the offset. False: they are outside the file. */
static bool get(const struct elftext *e, uint64_t offset, void *ret, size_t n)
{
	if (offset > e->size || n > e->size - offset)
		return false;
	memcpy(ret, e->data + offset, n);
	return true;
}

static bool get_header(const struct elftext *e, Elf64_Ehdr *ret)
{
	return get(e, 0, ret, sizeof(*ret)) && !memcmp(ret->e_ident, ELFMAG, SELFMAG) &&
	       ret->e_ident[EI_CLASS] == ELFCLASS64 && ret->e_ident[EI_DATA] == ELFDATA2LSB &&
	       ret->e_machine == EM_X86_64;
}

static bool get_phdr(const struct elftext *e, const Elf64_Ehdr *h, unsigned i, Elf64_Phdr *ret)
{
	if (i >= h->e_phnum || i >= PHDRS_MAX || h->e_phentsize != sizeof(*ret) ||
	    h->e_phoff > e->size)
		return false;
	return get(e, h->e_phoff + i * sizeof(*ret), ret, sizeof(*ret));
}

static bool get_shdr(const struct elftext *e, const Elf64_Ehdr *h, unsigned i, Elf64_Shdr *ret)
{
	if (i >= h->e_shnum || h->e_shentsize != sizeof(*ret) || h->e_shoff > e->size)
		return false;
	return get(e, h->e_shoff + i * sizeof(*ret), ret, sizeof(*ret));
}

/* The bytes of a segment in the file. False: it has none. */
static bool file_part(const struct elftext *e, const Elf64_Phdr *p, struct elftext_segment *ret)
{
	if (p->p_offset >= e->size || !p->p_filesz)
		return false;
	*ret = (struct elftext_segment){ .addr = p->p_vaddr, .offset = p->p_offset,
					 .size = p->p_filesz };
	if (ret->size > e->size - p->p_offset)
		ret->size = e->size - p->p_offset;
	return ret->size <= UINT64_MAX - ret->addr;
}

int elftext_open(struct elftext *ret, const void *data, size_t size)
{
	Elf64_Ehdr h;
	Elf64_Phdr p;

	*ret = (struct elftext){ .data = data, .size = size };
	if (!get_header(ret, &h))
		return -ENOEXEC;
	ret->entry = h.e_entry;
	for (unsigned i = 0; get_phdr(ret, &h, i, &p) && ret->nsegments < ELFTEXT_SEGMENTS; i++)
		if (p.p_type == PT_LOAD && p.p_flags & PF_X &&
		    file_part(ret, &p, &ret->segments[ret->nsegments]))
			ret->nsegments++;
	return 0;
}

bool elftext_offset(const struct elftext *e, uint64_t addr, uint64_t *ret)
{
	for (unsigned i = 0; i < e->nsegments; i++) {
		const struct elftext_segment *s = &e->segments[i];

		if (addr - s->addr < s->size) {
			*ret = addr - s->addr + s->offset;
			return true;
		}
	}
	return false;
}

/* From an address to the end of its segment's bytes in the file. False: not in the file. */
static bool bytes_at(const struct elftext *e, const Elf64_Ehdr *h, uint64_t addr,
		     struct ehframe_section *ret)
{
	struct elftext_segment s;
	Elf64_Phdr p;

	for (unsigned i = 0; get_phdr(e, h, i, &p); i++) {
		if (p.p_type != PT_LOAD || !file_part(e, &p, &s) || addr - s.addr >= s.size)
			continue;
		*ret = (struct ehframe_section){ .data = e->data + s.offset + (addr - s.addr),
						 .size = s.size - (addr - s.addr),
						 .addr = addr, .addr_size = 8 };
		return true;
	}
	return false;
}

/* The section's size, up to its last entry, which has length 0. No header gives this size. */
static void cut_at_end(struct ehframe_section *s)
{
	size_t at = 0;
	uint32_t length;

	while (s->size - at >= sizeof(length)) {
		memcpy(&length, s->data + at, sizeof(length));
		if (!length || length > s->size - at - sizeof(length))
			break;
		at += sizeof(length) + length;
	}
	s->size = at;
}

/*
 * Find a section by its name, and by its address unless that is 0. False: there is none with bytes
 * in the file. If `compressed` is NULL, compressed sections are skipped.
 */
static bool section(const struct elftext *e, const Elf64_Ehdr *h, const char *name, uint64_t addr,
		    struct ehframe_section *ret, bool *compressed)
{
	size_t n = strlen(name) + 1;
	Elf64_Shdr strings, s;
	char found[32]; /* the longest name asked for has 23 bytes */

	if (!get_shdr(e, h, h->e_shstrndx, &strings))
		return false;
	for (unsigned i = 0; get_shdr(e, h, i, &s); i++) {
		if (s.sh_type == SHT_NOBITS || (s.sh_flags & SHF_COMPRESSED && !compressed) ||
		    s.sh_offset > e->size || s.sh_size > e->size - s.sh_offset || !s.sh_size ||
		    strings.sh_offset > e->size || (addr && s.sh_addr != addr) ||
		    !get(e, strings.sh_offset + s.sh_name, found, n) || memcmp(found, name, n))
			continue;
		*ret = (struct ehframe_section){ .data = e->data + s.sh_offset, .size = s.sh_size,
						 .addr = s.sh_addr, .addr_size = 8 };
		if (compressed)
			*compressed = s.sh_flags & SHF_COMPRESSED;
		return true;
	}
	return false;
}

/* Find .eh_frame by the program header that unwinders use at run time. */
static uint64_t ehframe_addr(const struct elftext *e, const Elf64_Ehdr *h)
{
	struct ehframe_section s;
	struct ehframe_hdr hdr;
	Elf64_Phdr p;

	for (unsigned i = 0; get_phdr(e, h, i, &p); i++) {
		if (p.p_type != PT_GNU_EH_FRAME || !bytes_at(e, h, p.p_vaddr, &s))
			continue;
		s.data_base = s.addr;
		if (ehframe_hdr_read(&s, &hdr))
			return hdr.eh_frame;
	}
	return 0;
}

bool elftext_ehframe(const struct elftext *e, struct ehframe_section *ret)
{
	uint64_t addr;
	Elf64_Ehdr h;

	if (!get_header(e, &h))
		return false;
	addr = ehframe_addr(e, &h);
	if (section(e, &h, ".eh_frame", addr, ret, NULL))
		return true;
	if (!addr || !bytes_at(e, &h, addr, ret))
		return false;
	cut_at_end(ret);
	return ret->size;
}

bool elftext_section(const struct elftext *e, const char *name, uint64_t *offset, uint64_t *size)
{
	struct ehframe_section s;
	Elf64_Ehdr h;

	if (!get_header(e, &h) || !section(e, &h, name, 0, &s, NULL))
		return false;
	*offset = s.data - e->data;
	*size = s.size;
	return true;
}

/* Whether the text at the offset of a string table is `name`. */
static bool is_string(const struct ehframe_section *strings, uint64_t offset, const char *name)
{
	size_t n = strlen(name) + 1;

	return offset <= strings->size && n <= strings->size - offset &&
	       !memcmp(strings->data + offset, name, n);
}

/* Find an exported symbol of this type (STT_…). */
static bool find_symbol(const struct elftext *e, const char *name, unsigned type, Elf64_Sym *ret)
{
	struct ehframe_section symbols, strings;
	Elf64_Ehdr h;

	if (!get_header(e, &h) || !section(e, &h, ".dynsym", 0, &symbols, NULL) ||
	    !section(e, &h, ".dynstr", 0, &strings, NULL))
		return false;
	for (size_t at = 0; symbols.size - at >= sizeof(*ret); at += sizeof(*ret)) {
		memcpy(ret, symbols.data + at, sizeof(*ret));
		if (ELF64_ST_TYPE(ret->st_info) == type && ret->st_shndx != SHN_UNDEF &&
		    is_string(&strings, ret->st_name, name))
			return true;
	}
	return false;
}

bool elftext_variable(const struct elftext *e, const char *name, uint64_t *addr)
{
	Elf64_Sym s;

	if (!find_symbol(e, name, STT_OBJECT, &s))
		return false;
	*addr = s.st_value;
	return true;
}

bool elftext_function(const struct elftext *e, const char *name, uint64_t *addr, uint64_t *size)
{
	Elf64_Sym s;

	if (!find_symbol(e, name, STT_FUNC, &s))
		return false;
	*addr = s.st_value;
	*size = s.st_size;
	return true;
}

bool elftext_next_function(const struct elftext *e, struct elftext_functions *it, uint64_t *addr, uint64_t *size)
{
	static const char *const tables[] = { ".dynsym", ".symtab" };
	struct ehframe_section symbols;
	Elf64_Ehdr h;
	Elf64_Sym s;

	for (; it->table < 2 && get_header(e, &h); it->table++, it->at = 0) {
		if (!section(e, &h, tables[it->table], 0, &symbols, NULL))
			continue;
		while (symbols.size - it->at >= sizeof(s)) {
			memcpy(&s, symbols.data + it->at, sizeof(s));
			it->at += sizeof(s);
			if (ELF64_ST_TYPE(s.st_info) == STT_FUNC && s.st_shndx != SHN_UNDEF && s.st_size) {
				*addr = s.st_value;
				*size = s.st_size;
				return true;
			}
		}
	}
	return false;
}

bool elftext_read(const struct elftext *e, uint64_t addr, void *ret, size_t n)
{
	struct ehframe_section s;
	Elf64_Ehdr h;

	if (!get_header(e, &h) || !bytes_at(e, &h, addr, &s) || s.size < n)
		return false;
	memcpy(ret, s.data, n);
	return true;
}

bool elftext_debugframe(const struct elftext *e, struct ehframe_section *ret, bool *compressed)
{
	Elf64_Ehdr h;

	if (!get_header(e, &h) || !section(e, &h, ".debug_frame", 0, ret, compressed))
		return false;
	ret->debug_frame = true;
	return true;
}
