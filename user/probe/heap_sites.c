/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "user/probe/heap_sites.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "analysis/base/diag.h"
#include "analysis/base/file.h"
#include "analysis/symbols/elfsyms.h"
#include "user/probe/binary.h"
#include "user/probe/seccomp.h"

static const struct heap_function {
	const char *name;
	enum er_heap_call call;
} functions[] = {
	{ "malloc", ER_HEAP_MALLOC },
	{ "calloc", ER_HEAP_CALLOC },
	{ "realloc", ER_HEAP_REALLOC },
	{ "reallocarray", ER_HEAP_REALLOCARRAY },
	{ "free", ER_HEAP_FREE },
	{ "posix_memalign", ER_HEAP_POSIX },
	{ "aligned_alloc", ER_HEAP_ALIGNED },
	{ "memalign", ER_HEAP_ALIGNED },
	{ "valloc", ER_HEAP_MALLOC },
	{ "pvalloc", ER_HEAP_MALLOC },
	{ "mmap", ER_HEAP_MMAP },
	{ "mmap64", ER_HEAP_MMAP },
	{ "munmap", ER_HEAP_MUNMAP },
};

static const struct heap_function *function_of(const char *name)
{
	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++)
		if (!strcmp(functions[i].name, name))
			return &functions[i];
	return NULL;
}

/* --- one file --- */

struct binary_look {
	const struct probe_binary *binary;
	Elf *elf;
	bool program;  /* not a library: its own calls are those that are wanted */
	bool maps;     /* it has mmap, as libc does */
	bool operators; /* it has malloc and operator new, as jemalloc does */
};

static bool is_for_here(Elf *elf)
{
	GElf_Ehdr eh;

	return elf && elf_is_linked(elf) && gelf_getehdr(elf, &eh) && eh.e_machine == EM_X86_64;
}

/* The loader has a malloc of its own, which it uses before it finds the program's. */
static bool is_loader(const char *path)
{
	const char *name = strrchr(path, '/');

	name = name ? name + 1 : path;
	return !strncmp(name, "ld-linux", 8) || !strncmp(name, "ld-2.", 5);
}

static bool has_site(const struct heap_sites *h, int fd, uint64_t offset)
{
	vec_for_each (site, &h->sites)
		if (site->at.fd == fd && site->at.offset == offset)
			return true;
	return false;
}

/*
 * A library's own calls of mmap and munmap are not recorded: they map files and the stacks of threads. In a
 * program nothing tells them from the program's. There, and in an allocator apart from libc, the return of
 * `free` is probed, so that what it unmaps by itself is known to be nested.
 */
static struct er_heap_site rule_of(const struct binary_look *l, enum er_heap_call call,
				   const struct elf_segment *g, uint64_t addr)
{
	bool own = !l->program && (call == ER_HEAP_MMAP || call == ER_HEAP_MUNMAP);
	struct er_heap_site ret = { .call = call };

	ret.returns = call != ER_HEAP_MUNMAP && (call != ER_HEAP_FREE || l->program || !l->maps);
	if (own) {
		ret.low = g->vaddr - addr;
		ret.high = g->vaddr + g->filesz - addr;
	}
	return ret;
}

static void add_site(struct heap_sites *h, const struct binary_look *l, const elf_segments *segments,
		     const struct heap_function *f, uint64_t addr)
{
	vec_for_each (g, segments) {
		uint64_t offset = g->offset + (addr - g->vaddr);

		if (!g->exec || addr < g->vaddr || addr - g->vaddr >= g->filesz ||
		    has_site(h, l->binary->fd, offset) || h->sites.len == ER_MAX_HEAP_SITES)
			continue;
		vec_push(&h->sites, (struct capture_heap_site){ .name = f->name,
			.at = { .fd = l->binary->fd, .offset = offset },
			.rule = rule_of(l, f->call, g, addr) });
	}
}

static void look_for_names(struct binary_look *l, const rawsyms *syms)
{
	bool has_malloc = false, has_new = false;

	vec_for_each (s, syms) {
		has_malloc |= !strcmp(s->name, "malloc");
		has_new |= !strcmp(s->name, "_Znwm");
		l->maps |= !strcmp(s->name, "mmap");
	}
	l->operators = has_malloc && has_new && !l->program;
}

static void add_functions(struct heap_sites *h, struct binary_look *l)
{
	elf_segments segments = { 0 };
	elf_regions regions = { 0 };
	rawsyms syms = { 0 };
	struct arena arena = { 0 };
	size_t nbad = 0;

	elf_get_segments(l->elf, &segments);
	elf_get_regions(l->elf, &regions);
	elfsyms_add(l->elf, SHT_DYNSYM, &regions, &arena, &syms, &nbad);
	if (l->program)
		elfsyms_add(l->elf, SHT_SYMTAB, &regions, &arena, &syms, &nbad);
	look_for_names(l, &syms);
	vec_for_each (s, &syms) {
		const struct heap_function *f = s->flags & RAW_GLOBAL ? function_of(s->name) : NULL;

		if (f && !(s->flags & RAW_ELSEWHERE))
			add_site(h, l, &segments, f, s->addr);
	}
	vec_free(&syms);
	arena_free(&arena);
	vec_free(&regions);
	vec_free(&segments);
}

/* Returns whether the file is one for this machine. */
static bool add_binary(struct heap_sites *h, size_t i, bool program, struct diag *d)
{
	struct binary_look l = { .binary = &h->files.binaries.data[i], .program = program };
	bool here;

	elf_version(EV_CURRENT);
	l.elf = elf_begin(l.binary->fd, ELF_C_READ, NULL);
	here = is_for_here(l.elf);
	if (here && !is_loader(l.binary->path))
		add_functions(h, &l);
	elf_end(l.elf);
	if (l.operators)
		diag_warn(d, "-H: operator new and delete of %s are not traced: a program that collect starts loads "
			     "the library that traces them", l.binary->path);
	return here;
}

/* Whether an allocation would be seen; mappings alone are no heap. */
static bool allocates(const struct heap_sites *h)
{
	vec_for_each (site, &h->sites)
		if (site->rule.call == ER_HEAP_MALLOC)
			return true;
	return false;
}

/* --- processes --- */

static dev_t device_of(const char *path, ino_t *ino)
{
	struct stat st = { 0 };

	*ino = stat(path, &st) ? 0 : st.st_ino;
	return st.st_dev;
}

static int add_process(struct heap_sites *h, pid_t pid, struct diag *d)
{
	__cleanup(freep) char *exe = xasprintf("/proc/%d/exe", (int)pid);
	size_t first = h->files.binaries.len;
	ino_t ino;
	dev_t dev = device_of(exe, &ino);

	if (seccomp_kills_return(pid))
		return diag_error(d, "-H: process %d runs under a seccomp filter, and this kernel would kill it at a "
				     "return probe: use Linux 6.14, or let collect start the program", (int)pid);
	binary_find_code(pid, &h->files);
	for (size_t i = first; i < h->files.binaries.len; i++) {
		const struct probe_binary *b = &h->files.binaries.data[i];

		add_binary(h, i, b->dev == dev && b->ino == ino, d);
	}
	return 0;
}

int heap_sites_of_processes(const pid_t *pids, size_t n, struct diag *d, struct heap_sites *ret)
{
	file_guard();
	ret->shared = true;
	for (size_t i = 0; i < n; i++)
		if (add_process(ret, pids[i], d))
			return -1;
	if (allocates(ret))
		return 0;
	return diag_error(d, "-H: process %d has no function named malloc: a program that is linked statically has to "
			     "keep its symbols (do not strip it), and a language with its own heap, such as Go, "
			     "cannot be traced", (int)pids[0]);
}

/* --- a program that will be started --- */

/* Whether the kernel will make the loader ignore LD_PRELOAD (AT_SECURE). Root keeps its own identity. */
static bool is_secure(int fd)
{
	struct statvfs fs;
	struct stat st;

	if (fstat(fd, &st) || fstatvfs(fd, &fs) || fs.f_flag & ST_NOSUID)
		return false;
	return (st.st_mode & S_ISUID && st.st_uid != getuid()) ||
	       ((st.st_mode & (S_ISGID | S_IXGRP)) == (S_ISGID | S_IXGRP) && st.st_gid != getgid());
}

static bool has_loader(Elf *elf)
{
	size_t n = 0;
	GElf_Phdr ph;

	elf_getphdrnum(elf, &n);
	for (size_t i = 0; i < n; i++)
		if (gelf_getphdr(elf, i, &ph) && ph.p_type == PT_INTERP)
			return true;
	return false;
}

static void add_needed_in(struct heap_sites *h, Elf *elf, Elf_Scn *scn, const GElf_Shdr *sh)
{
	Elf_Data *data = elf_getdata(scn, NULL);
	size_t entry = gelf_fsize(elf, ELF_T_DYN, 1, EV_CURRENT), n = data && entry ? data->d_size / entry : 0;
	GElf_Dyn dyn;

	for (size_t i = 0; i < n && gelf_getdyn(data, i, &dyn) && dyn.d_tag != DT_NULL; i++) {
		const char *name = dyn.d_tag == DT_NEEDED ? elf_strptr(elf, sh->sh_link, dyn.d_un.d_val) : NULL;

		if (name && !strchr(name, '/'))
			binary_add_library(name, &h->files);
	}
}

/* The libraries that a file names are added to the list. */
static void add_needed(struct heap_sites *h, size_t file)
{
	Elf *elf = elf_begin(h->files.binaries.data[file].fd, ELF_C_READ, NULL);
	GElf_Shdr sh;

	for (Elf_Scn *s = NULL; is_for_here(elf) && (s = elf_nextscn(elf, s));)
		if (gelf_getshdr(s, &sh) && sh.sh_type == SHT_DYNAMIC)
			add_needed_in(h, elf, s, &sh);
	elf_end(elf);
}

static int add_secure(struct heap_sites *h, const char *path, struct diag *d)
{
	if (!uprobes_survive_setuid())
		return diag_error(d, "-H: %s is set-user-id, and this kernel removes breakpoints when it starts: "
				     "start it, and record it with -P", path);
	h->shared = true;
	for (size_t i = 0; i < h->files.binaries.len; i++) {
		add_binary(h, i, i == 0, d);
		add_needed(h, i);
	}
	if (allocates(h))
		return 0;
	return diag_error(d, "-H: %s is set-user-id, and the libraries that it names have no malloc: start it, and record "
			     "it with -P", path);
}

int heap_sites_of_program(const char *path, struct diag *d, struct heap_sites *ret)
{
	bool here, loads;
	Elf *elf;

	file_guard();
	if (binary_add(path, &ret->files))
		return 0;
	elf_version(EV_CURRENT);
	elf = elf_begin(ret->files.binaries.data[0].fd, ELF_C_READ, NULL);
	here = is_for_here(elf);
	loads = here && has_loader(elf);
	elf_end(elf);
	if (loads && is_secure(ret->files.binaries.data[0].fd))
		return add_secure(ret, path, d);
	if (!here || loads)
		return 0;
	add_binary(ret, 0, true, d);
	if (!allocates(ret)) {
		ret->sites.len = 0;
		diag_warn(d, "-H: %s is linked statically and has no function named malloc, so its heap is not traced: link "
			     "it dynamically, or do not strip it", path);
	}
	return 0;
}

void heap_sites_free(struct heap_sites *h)
{
	vec_free(&h->sites);
	probe_sites_free(&h->files);
}
