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
#include "analysis/symbols/symtab.h"
#include "loaders/family_uprobes.h"
#include "user/probe/binary.h"
#include "user/probe/ends.h"
#include "user/unwind/insn.h"
#include "user/probe/seccomp.h"

static const struct heap_function {
	const char *name;
	enum er_heap_call call;
	bool operator; /* of C++: a site if the file has a malloc, too, which it may not call */
} functions[] = {
	{ "malloc", ER_HEAP_MALLOC, false },
	{ "calloc", ER_HEAP_CALLOC, false },
	{ "realloc", ER_HEAP_REALLOC, false },
	{ "reallocarray", ER_HEAP_REALLOCARRAY, false },
	{ "free", ER_HEAP_FREE, false },
	{ "posix_memalign", ER_HEAP_POSIX, false },
	{ "aligned_alloc", ER_HEAP_ALIGNED, false },
	{ "memalign", ER_HEAP_ALIGNED, false },
	{ "valloc", ER_HEAP_MALLOC, false },
	{ "pvalloc", ER_HEAP_MALLOC, false },
	{ "mmap", ER_HEAP_MMAP, false },
	{ "mmap64", ER_HEAP_MMAP, false },
	{ "munmap", ER_HEAP_MUNMAP, false },
	{ "_Znwm", ER_HEAP_MALLOC, true },
	{ "_Znam", ER_HEAP_MALLOC, true },
	{ "_ZnwmRKSt9nothrow_t", ER_HEAP_MALLOC, true },
	{ "_ZnamRKSt9nothrow_t", ER_HEAP_MALLOC, true },
	{ "_ZnwmSt11align_val_t", ER_HEAP_MALLOC, true },
	{ "_ZnamSt11align_val_t", ER_HEAP_MALLOC, true },
	{ "_ZnwmSt11align_val_tRKSt9nothrow_t", ER_HEAP_MALLOC, true },
	{ "_ZnamSt11align_val_tRKSt9nothrow_t", ER_HEAP_MALLOC, true },
	{ "_ZdlPv", ER_HEAP_FREE, true },
	{ "_ZdaPv", ER_HEAP_FREE, true },
	{ "_ZdlPvm", ER_HEAP_FREE, true },
	{ "_ZdaPvm", ER_HEAP_FREE, true },
	{ "_ZdlPvRKSt9nothrow_t", ER_HEAP_FREE, true },
	{ "_ZdaPvRKSt9nothrow_t", ER_HEAP_FREE, true },
	{ "_ZdlPvSt11align_val_t", ER_HEAP_FREE, true },
	{ "_ZdaPvSt11align_val_t", ER_HEAP_FREE, true },
	{ "_ZdlPvmSt11align_val_t", ER_HEAP_FREE, true },
	{ "_ZdaPvmSt11align_val_t", ER_HEAP_FREE, true },
	{ "_ZdlPvSt11align_val_tRKSt9nothrow_t", ER_HEAP_FREE, true },
	{ "_ZdaPvSt11align_val_tRKSt9nothrow_t", ER_HEAP_FREE, true },
	{ "_Unwind_RaiseException", ER_HEAP_THROW, false },
};

static const struct heap_function *function_of(const char *name)
{
	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++)
		if (!strcmp(functions[i].name, name))
			return &functions[i];
	return NULL;
}

enum { FUNCTIONS_MOST = 64 }; /* that an operator jumps to */

/* --- one file --- */

struct binary_look {
	const struct probe_binary *binary;
	Elf *elf;
	bool program;  /* not a library: its own calls are those that are wanted */
	bool maps;     /* it has mmap, as libc does */
	bool operators; /* it has malloc and operator new, as jemalloc does */
	struct symtab *symbols; /* with `operators` */
	size_t unseen; /* operators whose returns are not seen */
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

	ret.returns = call != ER_HEAP_MUNMAP && call != ER_HEAP_THROW &&
		      (call != ER_HEAP_FREE || l->program || !l->maps);
	if (own) {
		ret.low = g->vaddr - addr;
		ret.high = g->vaddr + g->filesz - addr;
	}
	return ret;
}

/* --- operators that allocate --- */

static void add_end(struct heap_sites *h, int fd, uint64_t offset)
{
	vec_for_each (end, &h->ends)
		if (end->fd == fd && end->offset == offset)
			return;
	vec_push(&h->ends, (struct uprobe_site){ .fd = fd, .offset = offset });
}

typedef VEC(uint64_t) address_list;

static void add_address(address_list *l, uint64_t addr)
{
	vec_for_each (a, l)
		if (*a == addr)
			return;
	vec_push(l, addr);
}

/* Whether the function does nothing but call another one, such as operator new[]. */
static bool jumps_at_once(const struct image_file *im, uint64_t addr, uint64_t *target)
{
	uint64_t offset = image_offset(im, addr, true);
	uint8_t code[16];
	struct insn in;

	if (offset == (uint64_t)-1 || pread(im->binary->fd, code, sizeof(code), offset) != sizeof(code) ||
	    insn_decode(code, sizeof(code), addr, &in) || in.kind != INSN_JUMP)
		return false;
	*target = in.target;
	return true;
}

/*
 * The address of the file's own function that this entry of its procedure linkage table calls. 0: it is none, or
 * calls another file. (Another file could define a function of this name and be asked first. An allocator's inner
 * functions have no such double.)
 */
static uint64_t of_entry(const struct symtab *t, const struct sym *entry)
{
	const char *plt = strstr(entry->name, "@plt");
	size_t n, len = plt ? plt - entry->name : 0;
	const struct sym *syms = symtab_syms(t, &n);

	for (size_t i = 0; len && !plt[4] && i < n; i++) {
		if (!syms[i].elsewhere && !strncmp(syms[i].name, entry->name, len) && !syms[i].name[len])
			return syms[i].addr;
	}
	return 0;
}

/* The ends of one function; functions that it jumps to are added to the list. False: not all are known. */
static bool add_ends_of(struct heap_sites *h, const struct binary_look *l, const struct image_file *im,
			uint64_t addr, address_list *todo)
{
	const struct sym *sym = symtab_find(l->symbols, addr);
	uint64_t target = sym && sym->addr == addr ? of_entry(l->symbols, sym) : 0;
	probe_ends ends = { 0 };
	bool ok;

	if (target || jumps_at_once(im, addr, &target)) {
		add_address(todo, target);
		return true;
	}
	ok = sym && sym->addr == addr && !ends_find(im, l->symbols, sym, &ends);
	vec_for_each (end, &ends) {
		if (!end->tail)
			add_end(h, l->binary->fd, end->offset);
		else if (end->target)
			add_address(todo, end->target);
		else
			ok = false;
	}
	vec_free(&ends);
	return ok;
}

/*
 * The last site is an operator. What it allocates is returned by itself or by a function that it has jumped to.
 * If not all of these are certain the site is taken back.
 */
static void end_by_breakpoints(struct heap_sites *h, struct binary_look *l, uint64_t addr)
{
	struct image_file im = { .binary = l->binary, .elf = l->elf };
	address_list todo = { 0 };
	size_t before = h->ends.len;
	bool ok = l->symbols;

	elf_get_segments(l->elf, &im.segments);
	add_address(&todo, addr);
	for (size_t i = 0; i < todo.len && ok; i++)
		ok = todo.len <= FUNCTIONS_MOST && add_ends_of(h, l, &im, todo.data[i], &todo);
	if (ok && h->ends.len <= ER_MAX_HEAP_ENDS) {
		h->sites.data[h->sites.len - 1].rule.returns = 0;
		h->sites.data[h->sites.len - 1].rule.ends = 1;
	} else {
		h->ends.len = before;
		h->sites.len--;
		l->unseen++;
	}
	vec_free(&im.segments);
	vec_free(&todo);
}

/* --- the functions of a file --- */

static void add_site(struct heap_sites *h, struct binary_look *l, const elf_segments *segments,
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
		if (f->operator && f->call != ER_HEAP_FREE)
			end_by_breakpoints(h, l, addr);
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
	l->operators = has_malloc && has_new;
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
	if (l->operators)
		l->symbols = symtab_open(l->binary->fd, &(struct symtab_opts){ .path = l->binary->path }, NULL);
	vec_for_each (s, &syms) {
		const struct heap_function *f = s->flags & RAW_GLOBAL ? function_of(s->name) : NULL;

		if (f && !(s->flags & RAW_ELSEWHERE) && (!f->operator || l->operators))
			add_site(h, l, &segments, f, s->addr);
	}
	symtab_free(l->symbols);
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
	if (l.unseen)
		diag_warn(d, "-H: what %zu operator%s new of %s allocate%s may be missing, because %s code does not show where "
			     "%s: a program that collect starts loads a library that traces all", l.unseen,
			  l.unseen == 1 ? "" : "s", l.binary->path, l.unseen == 1 ? "s" : "",
			  l.unseen == 1 ? "its" : "their", l.unseen == 1 ? "it returns" : "they return");
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

/* Exceptions matter only to operators whose returns are not probed. */
static void finish(struct heap_sites *h)
{
	size_t n = 0;

	vec_for_each (site, &h->sites)
		if (site->rule.call != ER_HEAP_THROW || h->ends.len)
			h->sites.data[n++] = *site;
	h->sites.len = n;
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
	finish(ret);
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

bool heap_sites_can_trap(void)
{
	return !getuid() && family_uprobes_possible();
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

bool heap_sites_in(int fd, bool program)
{
	elf_regions regions = { 0 };
	rawsyms syms = { 0 };
	struct arena arena = { 0 };
	bool found = false, here;
	size_t nbad = 0;
	Elf *elf;

	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ, NULL);
	here = is_for_here(elf);
	if (here) {
		elf_get_regions(elf, &regions);
		elfsyms_add(elf, SHT_DYNSYM, &regions, &arena, &syms, &nbad);
		if (program)
			elfsyms_add(elf, SHT_SYMTAB, &regions, &arena, &syms, &nbad);
		found = program && !has_loader(elf) && !syms.len;
	}
	vec_for_each (s, &syms)
		found |= s->flags & RAW_GLOBAL && !(s->flags & RAW_ELSEWHERE) && !strcmp(s->name, "malloc");
	vec_free(&syms);
	arena_free(&arena);
	vec_free(&regions);
	elf_end(elf);
	return found;
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
	if (!heap_sites_can_trap() && !uprobes_survive_setuid())
		return diag_error(d, "-H: %s is set-user-id, and this kernel removes breakpoints when it starts: "
				     "start it, and record it with -P", path);
	h->shared = true;
	for (size_t i = 0; i < h->files.binaries.len; i++) {
		add_binary(h, i, i == 0, d);
		add_needed(h, i);
	}
	finish(h);
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
	finish(ret);
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
	vec_free(&h->ends);
	probe_sites_free(&h->files);
}
