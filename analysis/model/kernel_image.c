/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kernel's lines and code. Its symbols are in the experiment, at the addresses
 * it ran at; lines and code are in a vmlinux, at those it was linked for. A vmlinux
 * is the right one when the functions of both lie the same distance apart, nearly
 * all of them (names may be there twice). Without a vmlinux, code is that of the
 * running kernel, if the function is there under the same name.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analysis/base/map.h"
#include "analysis/model/model.h"
#include "analysis/symbols/code.h"
#include "analysis/symbols/kallsyms.h"
#include "analysis/symbols/lineinfo.h"
#include "analysis/symbols/symtab.h"

struct kernel_image {
	struct symtab *symtab;   /* of vmlinux, as the next two */
	struct lineinfo *lines;
	struct code *code;
	uint64_t distance;       /* from running to linked addresses */
	bool running_tried;
	struct code *running;    /* /proc/kcore */
	struct kallsyms *names;  /* of the running kernel */
};

static const struct experiment *kernel_experiment(const struct session *s)
{
	for (size_t i = 0; i < s->experiments.len; i++) {
		if (s->experiments.data[i]->ksyms.len)
			return s->experiments.data[i];
	}
	return NULL;
}

/* Whether the functions of the experiment's kernel are in this file, and how far they moved. */
static bool measure(const struct symtab *t, const struct experiment *e, uint64_t *distance)
{
	struct map by_name = { 0 }, votes = { 0 };
	uint64_t best = 0, met = 0;
	size_t n;
	const struct sym *syms = symtab_syms(t, &n);

	for (size_t i = 0; i < n; i++)
		*map_put(&by_name, hash_bytes(syms[i].name, strlen(syms[i].name)), NULL) = syms[i].addr;
	vec_for_each(k, &e->ksyms) {
		uint64_t *at, *vote;

		if (strcmp(k->module, "vmlinux"))
			continue;
		at = map_get(&by_name, hash_bytes(k->name, strlen(k->name)));
		if (!at)
			continue;
		vote = map_put(&votes, *at - k->addr, NULL);
		met++;
		if (++*vote > best) {
			best = *vote;
			*distance = *at - k->addr;
		}
	}
	map_free(&by_name);
	map_free(&votes);
	return best > 1 && best * 10 >= met * 9;
}

/* Take the file when it is this kernel's vmlinux. */
static bool try_vmlinux(struct session *s, struct kernel_image *k, struct loadobj *o, int fd,
			const char *path)
{
	struct symtab_opts opts = { .path = path };
	const struct experiment *e = kernel_experiment(s);
	struct diag ignored = { 0 };
	struct symtab *t = e ? symtab_open(fd, &opts, &ignored) : NULL;
	bool right = t && measure(t, e, &k->distance);

	if (right) {
		k->lines = lineinfo_open(fd, &opts, &o->diag);
		k->code = code_open(fd);
	} else if (t) {
		diag_warn(&o->diag, "%s: not used: it is not the kernel that was recorded", path);
	}
	if (right)
		k->symtab = t;
	else
		symtab_free(t);
	diag_free(&ignored);
	return right;
}

static bool try_path(struct session *s, struct kernel_image *k, struct loadobj *o, char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat st;
	bool taken = false;

	if (fd >= 0) {
		taken = !fstat(fd, &st) && S_ISREG(st.st_mode) && try_vmlinux(s, k, o, fd, path);
		close(fd);
	}
	free(path);
	return taken;
}

/* "6.1.0-53-amd64" of "Linux 6.1.0-53-amd64"; only what may be a part of a file's name. */
static const char *release_of(const struct experiment *e)
{
	const char *blank = strrchr(e->os, ' ');
	const char *release = blank ? blank + 1 : e->os;

	return *release && !strchr(release, '/') && *release != '.' ? release : NULL;
}

static void find_vmlinux(struct session *s, struct kernel_image *k, struct loadobj *o)
{
	static const char *const places[][2] = {
		{ "/usr/lib/debug/boot/vmlinux-", "" }, { "/usr/lib/debug/lib/modules/", "/vmlinux" },
		{ "/usr/lib/debug/vmlinux-", "" }, { "/lib/modules/", "/vmlinux" },
		{ "/lib/modules/", "/build/vmlinux" }, { "/boot/vmlinux-", "" },
	};
	const struct experiment *e = kernel_experiment(s);
	const char *release = e ? release_of(e) : NULL;
	char *found = NULL;
	int fd;

	/* What the user put into the search path comes first; "./vmlinux" is never meant by accident. */
	fd = search_open(&s->impl->search, s, "vmlinux", &found);
	if (fd >= 0) {
		bool taken = try_vmlinux(s, k, o, fd, found);

		close(fd);
		free(found);
		if (taken)
			return;
	}
	for (size_t i = 0; release && i < sizeof(places) / sizeof(places[0]); i++) {
		if (try_path(s, k, o, xasprintf("%s%s%s", places[i][0], release, places[i][1])))
			return;
	}
}

static struct kernel_image *kernel_image(struct session *s, const struct func *f)
{
	struct kernel_image *k = s->impl->kernel;

	if (k)
		return k;
	k = s->impl->kernel = xcalloc(1, sizeof(*k));
	find_vmlinux(s, k, f->obj);
	if (!k->lines)
		diag_note(&f->obj->diag, "the kernel has no source lines: its debug information was "
			  "not found; install linux-image-*-dbg, or have vmlinux in the search path "
			  "(setpath)");
	return k;
}

/* Functions of modules are elsewhere. */
static bool is_vmlinux(const struct func *f)
{
	return !strncmp(f->mangled, "vmlinux`", 8);
}

struct lineinfo *kernel_lines(struct session *s, const struct func *f, uint64_t *addr)
{
	struct kernel_image *k = kernel_image(s, f);

	if (!k->lines || !is_vmlinux(f))
		return NULL;
	*addr = f->addr + k->distance;
	return k->lines;
}

/* Whether the running kernel has this function where the recorded one had it. */
static bool is_running(const struct kernel_image *k, const struct func *f)
{
	const struct ksym *sym = k->names ? kallsyms_find(k->names, f->addr) : NULL;
	const char *tick = strchr(f->mangled, '`');

	return sym && sym->addr == f->addr && tick && !strcmp(sym->name, tick + 1);
}

struct code *kernel_code(struct session *s, const struct func *f, uint64_t *addr)
{
	struct kernel_image *k = kernel_image(s, f);

	if (k->code && is_vmlinux(f)) {
		*addr = f->addr + k->distance;
		return k->code;
	}
	if (!k->running_tried) {
		k->running_tried = true;
		k->running = code_open_kernel(NULL, &f->obj->diag);
		if (k->running)
			k->names = kallsyms_load(NULL, &f->obj->diag);
	}
	return k->running && is_running(k, f) ? k->running : NULL;
}

/* The recording keeps only the symbols that were met; the image has all. */
const char *kernel_name_at(struct session *s, uint64_t addr, uint64_t *offset)
{
	const struct experiment *e = kernel_experiment(s);
	size_t n = e ? vec_upto(&e->ksyms, addr, addr) : 0;
	struct kernel_image *k = s->impl->kernel;
	const struct sym *sym;
	const struct ksym *running;

	if (n && addr - e->ksyms.data[n - 1].addr < e->ksyms.data[n - 1].size) {
		*offset = addr - e->ksyms.data[n - 1].addr;
		return e->ksyms.data[n - 1].name;
	}
	sym = k && k->symtab ? symtab_find(k->symtab, addr + k->distance) : NULL;
	if (sym) {
		*offset = addr + k->distance - sym->addr;
		return sym->name;
	}
	running = k && k->names ? kallsyms_find(k->names, addr) : NULL;
	if (running)
		*offset = addr - running->addr;
	return running ? running->name : NULL;
}

void kernel_image_free(struct kernel_image *k)
{
	if (!k)
		return;
	symtab_free(k->symtab);
	lineinfo_free(k->lines);
	code_free(k->code);
	code_free(k->running);
	kallsyms_free(k->names);
	free(k);
}
