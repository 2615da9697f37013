/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/symbols/relocate.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <elf.h>

#include "analysis/base/alloc.h"
#include "analysis/base/file.h"

enum { SECTIONS_MAX = 65279, ALIGN_MAX = 4096, ELSEWHERE_SIZE = 16 };

/* A copy of the file; 64 bit, little-endian (x86-64, AArch64). */
struct image {
	unsigned char *p;
	size_t size;
	Elf64_Shdr *sections; /* in p */
	size_t n;	      /* includes the last one: symbols of other files */
	unsigned machine;
};

static bool inside(const struct image *im, uint64_t offset, uint64_t size)
{
	return offset <= im->size && size <= im->size - offset;
}

static bool open_image(struct image *im)
{
	Elf64_Ehdr *eh = (Elf64_Ehdr *)im->p;

	if (im->size < sizeof(*eh) || memcmp(eh->e_ident, ELFMAG, SELFMAG) ||
	    eh->e_ident[EI_CLASS] != ELFCLASS64 || eh->e_ident[EI_DATA] != ELFDATA2LSB ||
	    eh->e_type != ET_REL || (eh->e_machine != EM_X86_64 && eh->e_machine != EM_AARCH64))
		return false;
	im->machine = eh->e_machine;
	im->n = eh->e_shnum;
	if (!im->n || im->n > SECTIONS_MAX || eh->e_shentsize != sizeof(Elf64_Shdr) ||
	    eh->e_shoff % 8 || !inside(im, eh->e_shoff, im->n * sizeof(Elf64_Shdr)))
		return false;
	im->sections = (Elf64_Shdr *)(im->p + eh->e_shoff);
	eh->e_type = ET_DYN;
	return true;
}

/* Move the section table to the end of the file, with room for one more section. */
static void add_section(struct image *im)
{
	size_t at = (im->size + 7) & ~7UL, size = im->n * sizeof(Elf64_Shdr);
	Elf64_Ehdr *eh;

	im->p = xrealloc(im->p, at + size + sizeof(Elf64_Shdr));
	eh = (Elf64_Ehdr *)im->p;
	memcpy(im->p + at, im->p + eh->e_shoff, size);
	eh->e_shoff = at;
	eh->e_shnum = im->n + 1;
	im->sections = (Elf64_Shdr *)(im->p + at);
	im->sections[im->n++] = (Elf64_Shdr){
		.sh_type = SHT_NOBITS,
		.sh_flags = SHF_ALLOC | SHF_EXECINSTR | SHF_EXCLUDE,
		.sh_offset = at,
		.sh_addralign = ELSEWHERE_SIZE,
	};
	im->size = at + size + sizeof(Elf64_Shdr);
}

/* Give each loaded section an address, one after the other. */
static void place_sections(struct image *im)
{
	uint64_t at = 0;

	for (size_t i = 1; i < im->n; i++) {
		Elf64_Shdr *s = &im->sections[i];
		uint64_t align = s->sh_addralign ? s->sh_addralign : 1;

		if (!(s->sh_flags & SHF_ALLOC) || align > ALIGN_MAX || align & (align - 1) ||
		    s->sh_size > INT64_MAX - at - ALIGN_MAX)
			continue;
		at = (at + align - 1) & ~(align - 1);
		s->sh_addr = at;
		at += s->sh_size;
	}
}

/* The symbols of a table that lies inside the file and is aligned. */
static Elf64_Sym *symbols(const struct image *im, size_t index, size_t *n)
{
	const Elf64_Shdr *s = index < im->n ? &im->sections[index] : NULL;

	*n = 0;
	if (!s || s->sh_type != SHT_SYMTAB || s->sh_offset % 8 ||
	    !inside(im, s->sh_offset, s->sh_size))
		return NULL;
	*n = s->sh_size / sizeof(Elf64_Sym);
	return (Elf64_Sym *)(im->p + s->sh_offset);
}

/* Give a symbol of another file the next address in the extra section. */
static void place_elsewhere(struct image *im, Elf64_Sym *sym)
{
	Elf64_Shdr *s = &im->sections[im->n - 1];

	sym->st_shndx = im->n - 1;
	sym->st_info = ELF64_ST_INFO(ELF64_ST_BIND(sym->st_info), STT_FUNC);
	sym->st_size = ELSEWHERE_SIZE;
	sym->st_value = s->sh_addr + s->sh_size;
	s->sh_size += ELSEWHERE_SIZE;
}

static void place_symbols(struct image *im)
{
	for (size_t i = 1; i < im->n; i++) {
		size_t n;
		Elf64_Sym *syms = symbols(im, i, &n);

		for (size_t k = 1; k < n; k++) {
			if (syms[k].st_shndx == SHN_UNDEF && syms[k].st_name)
				place_elsewhere(im, &syms[k]);
			else if (syms[k].st_shndx < im->n - 1)
				syms[k].st_value += im->sections[syms[k].st_shndx].sh_addr;
		}
	}
}

/* AArch64 branches count words, in the lower 26 bits of the instruction. */
static bool is_arm_branch(const struct image *im, unsigned type)
{
	return im->machine == EM_AARCH64 &&
	       (type == R_AARCH64_CALL26 || type == R_AARCH64_JUMP26);
}

/*
 * The number of bytes that a relocation fills; 0: a type that does not matter here.
 * *pc: it is relative to its own address.
 */
static size_t width(const struct image *im, unsigned type, bool *pc)
{
	*pc = is_arm_branch(im, type);
	if (im->machine == EM_AARCH64)
		return type == R_AARCH64_ABS64 ? 8 : type == R_AARCH64_ABS32 || *pc ? 4 : 0;
	switch (type) {
	case R_X86_64_64:
		return 8;
	case R_X86_64_32:
	case R_X86_64_32S:
		return 4;
	case R_X86_64_PC32:
	case R_X86_64_PLT32:
		*pc = true;
		return 4;
	}
	return 0;
}

static void relocate_one(struct image *im, const Elf64_Shdr *target, const Elf64_Rela *r,
			 const Elf64_Sym *syms, size_t nsyms)
{
	size_t index = ELF64_R_SYM(r->r_info), n;
	uint64_t value;
	bool pc;

	n = width(im, ELF64_R_TYPE(r->r_info), &pc);
	if (!n || index >= nsyms || syms[index].st_shndx == SHN_UNDEF ||
	    r->r_offset > target->sh_size || n > target->sh_size - r->r_offset)
		return;
	value = syms[index].st_value + r->r_addend - (pc ? target->sh_addr + r->r_offset : 0);
	if (is_arm_branch(im, ELF64_R_TYPE(r->r_info))) {
		uint32_t insn;

		memcpy(&insn, im->p + target->sh_offset + r->r_offset, sizeof(insn));
		value = (insn & 0xfc000000) | (value >> 2 & 0x03ffffff);
	}
	memcpy(im->p + target->sh_offset + r->r_offset, &value, n);
}

static void relocate_sections(struct image *im)
{
	for (size_t i = 1; i < im->n; i++) {
		const Elf64_Shdr *s = &im->sections[i], *target;
		const Elf64_Rela *r;
		Elf64_Sym *syms;
		size_t nsyms;

		if (s->sh_type != SHT_RELA || s->sh_info >= im->n || s->sh_offset % 8 ||
		    !inside(im, s->sh_offset, s->sh_size))
			continue;
		r = (const Elf64_Rela *)(im->p + s->sh_offset);
		target = &im->sections[s->sh_info];
		syms = symbols(im, s->sh_link, &nsyms);
		if (!syms || target->sh_type == SHT_NOBITS || target->sh_flags & SHF_COMPRESSED ||
		    !inside(im, target->sh_offset, target->sh_size))
			continue;
		for (size_t k = 0; k < s->sh_size / sizeof(*r); k++)
			relocate_one(im, target, &r[k], syms, nsyms);
	}
}

static int write_image(const struct image *im)
{
	int fd = memfd_create("relocated", MFD_CLOEXEC);

	for (size_t at = 0; fd >= 0 && at < im->size;) {
		ssize_t n = write(fd, im->p + at, im->size - at);

		if (n <= 0) {
			close(fd);
			return -1;
		}
		at += n;
	}
	return fd;
}

static bool is_relocatable(const struct file *f)
{
	return f->size >= sizeof(Elf64_Ehdr) && !memcmp(f->data, ELFMAG, SELFMAG) &&
	       ((const Elf64_Ehdr *)f->data)->e_type == ET_REL;
}

int relocate_open(int fd)
{
	struct image im = { 0 };
	struct file file;
	int own = dup(fd), ret = -1;

	if (own < 0 || file_open_fd(own, &file))
		return -1;
	im.size = file.size;
	if (is_relocatable(&file)) {
		im.p = xmalloc(file.size);
		memcpy(im.p, file.data, file.size);
	}
	file_close(&file);
	if (im.p && open_image(&im)) {
		add_section(&im);
		place_sections(&im);
		place_symbols(&im);
		relocate_sections(&im);
		ret = write_image(&im);
	}
	free(im.p);
	return ret;
}
