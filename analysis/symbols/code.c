/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/symbols/code.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include <gelf.h>

#include "analysis/base/alloc.h"
#include "analysis/base/diag.h"
#include "analysis/base/vec.h"
#include "analysis/symbols/elfsyms.h"

struct code {
	int fd; /* we close it */
	struct machine machine;
	elf_segments parts; /* by address */
};

static struct machine machine_of(Elf *elf)
{
	GElf_Ehdr eh = { 0 };

	gelf_getehdr(elf, &eh);
	return (struct machine){ .elf_machine = eh.e_machine,
				 .wide = eh.e_ident[EI_CLASS] == ELFCLASS64,
				 .big_endian = eh.e_ident[EI_DATA] == ELFDATA2MSB };
}

/* Only sections tell whether code was left out; a file without sections has only its segments. */
static void add_parts(struct code *c, Elf *elf)
{
	const uint64_t code = SHF_ALLOC | SHF_EXECINSTR;
	elf_segments segments = { 0 };
	bool any = false;
	GElf_Shdr sh;

	for (Elf_Scn *s = NULL; (s = elf_nextscn(elf, s));) {
		if (!gelf_getshdr(s, &sh) || (sh.sh_flags & code) != code)
			continue;
		any = true;
		if (sh.sh_type != SHT_NOBITS && sh.sh_size)
			vec_push(&c->parts, (struct elf_segment){ .vaddr = sh.sh_addr,
								  .offset = sh.sh_offset,
								  .filesz = sh.sh_size,
								  .exec = true });
	}
	elf_get_segments(elf, &segments);
	vec_for_each (s, &segments) {
		if (!any && s->exec && s->filesz)
			vec_push(&c->parts, *s);
	}
	vec_free(&segments);
}

static int part_cmp(const void *pa, const void *pb)
{
	const struct elf_segment *a = pa, *b = pb;

	return (a->vaddr > b->vaddr) - (a->vaddr < b->vaddr);
}

/* Takes ownership of fd. */
static struct code *code_new(int fd, bool segments_only)
{
	struct code *c = xcalloc(1, sizeof(*c));
	Elf *elf;

	c->fd = fd;
	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ, NULL);
	if (elf && elf_kind(elf) == ELF_K_ELF) {
		c->machine = machine_of(elf);
		if (segments_only)
			elf_get_segments(elf, &c->parts);
		else if (elf_is_linked(elf))
			add_parts(c, elf);
	}
	elf_end(elf);
	vec_sort(&c->parts, part_cmp);
	if (c->parts.len)
		return c;
	code_free(c);
	return NULL;
}

struct code *code_open(int fd)
{
	int own = fcntl(fd, F_DUPFD_CLOEXEC, 0);

	return own < 0 ? NULL : code_new(own, false);
}

struct code *code_open_kernel(const char *path, struct diag *d)
{
	const char *name = path ? path : "/proc/kcore";
	int fd = open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct code *c;

	if (fd < 0) {
		diag_errno(d, errno, "%s: cannot read the running kernel's code%s", name,
			   errno == ENOENT ? " (a kernel with CONFIG_PROC_KCORE has it)"
			   : errno == EACCES || errno == EPERM ? " (run as root)"
							       : "");
		return NULL;
	}
	c = code_new(fd, true);
	if (!c)
		diag_error(d, "%s: cannot read the running kernel's code: not an ELF core", name);
	return c;
}

void code_free(struct code *c)
{
	if (!c)
		return;
	vec_free(&c->parts);
	close(c->fd);
	free(c);
}

const struct machine *code_machine(const struct code *c)
{
	return &c->machine;
}

size_t code_read(const struct code *c, uint64_t addr, void *to, size_t n)
{
	size_t i = vec_upto(&c->parts, vaddr, addr);
	const struct elf_segment *p = i ? &c->parts.data[i - 1] : NULL;
	ssize_t got;

	if (!p || addr - p->vaddr >= p->filesz)
		return 0;
	if (n > p->filesz - (addr - p->vaddr))
		n = p->filesz - (addr - p->vaddr);
	got = pread(c->fd, to, n, p->offset + (addr - p->vaddr));
	return got > 0 ? got : 0;
}
