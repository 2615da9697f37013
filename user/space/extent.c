/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "user/space/extent.h"

#include <elf.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "user/space/mapped.h"
#include "user/space/opener.h"

enum { MAX_SEGMENTS = 64, PAGE = 4096 };

/* The file is untrusted: values are checked, and sums may wrap around without harm. */
static unsigned read_segments(int fd, Elf64_Phdr ret[MAX_SEGMENTS])
{
	Elf64_Ehdr h;
	size_t size;

	if (pread(fd, &h, sizeof(h), 0) != sizeof(h) || memcmp(h.e_ident, ELFMAG, SELFMAG) ||
	    h.e_ident[EI_CLASS] != ELFCLASS64 || h.e_phentsize != sizeof(*ret) ||
	    h.e_phnum > MAX_SEGMENTS)
		return 0;
	size = h.e_phnum * sizeof(*ret);
	return pread(fd, ret, size, h.e_phoff) == (ssize_t)size ? h.e_phnum : 0;
}

static bool is_mapped_at(const Elf64_Phdr *p, uint64_t pgoff)
{
	uint64_t first = p->p_offset & ~(uint64_t)(PAGE - 1);

	return p->p_type == PT_LOAD && p->p_flags & PF_X && pgoff >= first &&
	       pgoff - p->p_offset + PAGE < p->p_filesz + PAGE;
}

uint64_t extent_of_fd(int fd, uint64_t pgoff)
{
	Elf64_Phdr segments[MAX_SEGMENTS];
	unsigned n = read_segments(fd, segments);
	const Elf64_Phdr *code = NULL;
	uint64_t end = 0;

	for (unsigned i = 0; i < n; i++) {
		const Elf64_Phdr *p = &segments[i];

		if (!code && is_mapped_at(p, pgoff))
			code = p;
		if (p->p_type == PT_LOAD && p->p_vaddr + p->p_memsz > end)
			end = p->p_vaddr + p->p_memsz;
	}
	if (!code)
		return 0;
	end -= code->p_vaddr - code->p_offset;
	return end < EXTENT_MAX ? end : 0;
}

uint64_t extent_of_file(pid_t pid, const struct mapping *m)
{
	int fd = mapped_open(pid, m);
	uint64_t extent = fd < 0 ? 0 : extent_of_fd(fd, m->pgoff);

	opener_close(&fd);
	return extent;
}
