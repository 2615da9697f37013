/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kernel's lines and code. Its symbols are in the experiment, at the addresses
 * it ran at; lines and code are in a vmlinux and in files of modules, at those they
 * were linked for. A file is the right one when the functions of both lie the same
 * distance apart, nearly all of them (names may be there twice). Without a file,
 * code is that of the running kernel, if the function is there under the same name.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/base/map.h"
#include "analysis/model/kernel_file.h"
#include "analysis/model/model.h"
#include "analysis/symbols/code.h"
#include "analysis/symbols/kallsyms.h"
#include "analysis/symbols/lineinfo.h"
#include "analysis/symbols/relocate.h"
#include "analysis/symbols/symtab.h"

/* vmlinux or a module, as its file has it; all NULL when none was found. */
struct image {
	const char *module; /* interned */
	struct symtab *symtab;
	struct lineinfo *lines;
	struct code *code;
	uint64_t distance; /* from running to linked addresses */
};

struct kernel_image {
	VEC(struct image) images; /* those that were asked for */
	bool running_tried;
	struct code *running;	/* /proc/kcore */
	struct kallsyms *names; /* of the running kernel */
};

static const char vmlinux[] = "vmlinux";

static const struct experiment *kernel_experiment(const struct session *s)
{
	for (size_t i = 0; i < s->experiments.len; i++) {
		if (s->experiments.data[i]->ksyms.len)
			return s->experiments.data[i];
	}
	return NULL;
}

/*
 * Whether the recorded functions of the module are in this file, and how far they
 * moved. Of vmlinux one function in common is no proof.
 */
static bool measure(const struct symtab *t, const struct experiment *e, const char *module,
		    uint64_t *distance)
{
	struct map by_name = { 0 }, votes = { 0 };
	uint64_t best = 0, met = 0;
	size_t n;
	const struct sym *syms = symtab_syms(t, &n);

	for (size_t i = 0; i < n; i++)
		*map_put(&by_name, hash_bytes(syms[i].name, strlen(syms[i].name)), NULL) =
			syms[i].addr;
	vec_for_each (k, &e->ksyms) {
		uint64_t *at, *vote;

		if (strcmp(k->module, module))
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
	return best > (module == vmlinux) && best * 10 >= met * 9;
}

/* Take the file when it is the module as it was recorded. Takes over fd and path. */
static bool take(struct session *s, struct image *im, struct loadobj *o, int fd, char *path)
{
	struct symtab_opts opts = { .path = path };
	int linked = relocate_open(fd), use = linked < 0 ? fd : linked;
	struct diag ignored = { 0 };
	struct symtab *t = symtab_open(use, &opts, &ignored);
	bool right = t && measure(t, kernel_experiment(s), im->module, &im->distance);

	if (right) {
		im->symtab = t;
		im->lines = lineinfo_open(use, &opts, &o->diag);
		im->code = code_open(use);
	} else {
		if (t)
			diag_warn(&o->diag, "%s: not used: it is not the kernel that was recorded",
				  path);
		symtab_free(t);
	}
	diag_free(&ignored);
	if (linked >= 0)
		close(linked);
	close(fd);
	free(path);
	return right;
}

/* Files of the release until one is right and has lines; the last one with symbols is kept. */
static void find_file(struct session *s, struct image *im, struct loadobj *o)
{
	const struct experiment *e = kernel_experiment(s);
	struct kernel_files files = { 0 };
	char *path;
	int fd;

	if (!e)
		return;
	kernel_files_init(&files, &s->impl->search, s, e->os, im->module, &o->diag);
	while (!im->symtab && (fd = kernel_files_next(&files, &path)) >= 0)
		take(s, im, o, fd, path);
	kernel_files_free(&files);
}

static struct kernel_image *kernel_image(struct session *s)
{
	if (!s->impl->kernel)
		s->impl->kernel = xcalloc(1, sizeof(*s->impl->kernel));
	return s->impl->kernel;
}

/* The image of the module that a function `module`name` is in; valid until the next one is asked
 * for. */
static const struct image *image_of(struct session *s, const struct func *f)
{
	struct kernel_image *k = kernel_image(s);
	size_t n = strcspn(f->mangled, "`");
	__cleanup(freep) char *module = xstrndup(f->mangled, n);
	struct image im = { .module = strcmp(module, vmlinux) ? strtab_intern(&s->names, module)
							      : vmlinux };

	if (!f->mangled[n] || strchr(module, '/'))
		return NULL;
	vec_for_each (have, &k->images) {
		if (have->module == im.module)
			return have;
	}
	find_file(s, &im, f->obj);
	if (!im.lines)
		diag_note(&f->obj->diag,
			  "no source lines of %s: install linux-image-*-dbg, or have it "
			  "in the search path (setpath)",
			  im.module);
	vec_push(&k->images, im);
	return &k->images.data[k->images.len - 1];
}

struct lineinfo *kernel_lines(struct session *s, const struct func *f, uint64_t *addr)
{
	const struct image *im = image_of(s, f);

	if (!im || !im->lines)
		return NULL;
	*addr = f->addr + im->distance;
	return im->lines;
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
	const struct image *im = image_of(s, f);
	struct kernel_image *k = kernel_image(s);

	if (im && im->code) {
		*addr = f->addr + im->distance;
		return im->code;
	}
	if (!k->running_tried) {
		k->running_tried = true;
		k->running = code_open_kernel(NULL, &f->obj->diag);
		if (k->running)
			k->names = kallsyms_load(NULL, &f->obj->diag);
	}
	return k->running && is_running(k, f) ? k->running : NULL;
}

/* The recording keeps only the symbols that were met; the images have all. */
const char *kernel_name_at(struct session *s, uint64_t addr, uint64_t *offset)
{
	const struct experiment *e = kernel_experiment(s);
	size_t n = e ? vec_upto(&e->ksyms, addr, addr) : 0;
	struct kernel_image *k = kernel_image(s);
	const struct ksym *running;

	if (n && addr - e->ksyms.data[n - 1].addr < e->ksyms.data[n - 1].size) {
		*offset = addr - e->ksyms.data[n - 1].addr;
		return e->ksyms.data[n - 1].name;
	}
	vec_for_each (im, &k->images) {
		const struct sym *sym =
			im->symtab ? symtab_find(im->symtab, addr + im->distance) : NULL;

		if (sym) {
			*offset = addr + im->distance - sym->addr;
			return sym->name;
		}
	}
	running = k->names ? kallsyms_find(k->names, addr) : NULL;
	if (running)
		*offset = addr - running->addr;
	return running ? running->name : NULL;
}

void kernel_image_free(struct kernel_image *k)
{
	if (!k)
		return;
	vec_for_each (im, &k->images) {
		symtab_free(im->symtab);
		lineinfo_free(im->lines);
		code_free(im->code);
	}
	vec_free(&k->images);
	code_free(k->running);
	kallsyms_free(k->names);
	free(k);
}
