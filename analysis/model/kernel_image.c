/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Lines and code of the kernel. Its symbols are in the experiment, at the addresses
 * where they ran. Lines and code are in files of vmlinux and modules, at linked
 * addresses; kernel_elf.h decides which files match. Without a file, code is read from
 * the running kernel, if the function has the same name and address there.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/experiment/exp_map.h"
#include "analysis/model/kernel_elf.h"
#include "analysis/model/kernel_file.h"
#include "analysis/model/model.h"
#include "analysis/symbols/code.h"
#include "analysis/symbols/kallsyms.h"
#include "analysis/symbols/lineinfo.h"
#include "analysis/symbols/symtab.h"

/* vmlinux or a module of one boot, with its files. */
struct image {
	const struct kernel_boot *boot;
	const char *module; /* interned */
	bool tried;
	const struct kernel_elf *lines, *code; /* the file that has them; NULL: none */
	VEC(struct kernel_elf *) files;
};

struct kernel_image {
	kernel_boots boots;
	size_t nexperiments;	    /* number of experiments that boots covers */
	unsigned searched;	    /* search.changes when files were last searched */
	VEC(struct image *) images; /* all used so far */
	struct map by_func;	    /* function id, to index into images + 1; 0: none */
	bool running_tried, names_tried;
	struct code *running;	/* /proc/kcore */
	struct kallsyms *names; /* symbols of the running kernel */
};

/* With more experiments or another search path, images that lack a file are searched again. */
static struct kernel_image *kernel_image(struct session *s)
{
	struct kernel_image *k = s->impl->kernel;

	if (!k)
		k = s->impl->kernel = xcalloc(1, sizeof(*k));
	if (k->nexperiments == s->experiments.len && k->searched == s->impl->search.changes)
		return k;
	kernel_boots_add(&k->boots, s, k->nexperiments);
	k->nexperiments = s->experiments.len;
	k->searched = s->impl->search.changes;
	map_free(&k->by_func);
	vec_for_each (im, &k->images)
		(*im)->tried = (*im)->lines && (*im)->code;
	return k;
}

static void take(struct image *im, struct kernel_elf *file)
{
	bool lines = file->lines && !im->lines, code = file->code && !im->code;

	if (im->files.len && !lines && !code) {
		kernel_elf_free(file);
		return;
	}
	vec_push(&im->files, file);
	im->lines = lines ? file : im->lines;
	im->code = code ? file : im->code;
}

/* Try files of the release until both lines and code are found. */
static void find_files(struct session *s, struct image *im, struct loadobj *o)
{
	struct kernel_files files = { 0 };
	char *path;
	int fd;

	im->tried = true;
	kernel_files_init(&files, &s->impl->search, s, im->boot->founder->os, im->module,
			  kernel_boot_build_id(im->boot, im->module), &o->diag);
	while (!(im->lines && im->code) && (fd = kernel_files_next(&files, &path)) >= 0) {
		struct kernel_elf *file =
			kernel_elf_open(fd, path, im->boot, im->module, &o->diag);

		if (file)
			take(im, file);
		close(fd);
		free(path);
	}
	kernel_files_free(&files);
	if (!im->lines)
		diag_note(&o->diag,
			  "no source lines of %s: install linux-image-*-dbg, or add "
			  "its folder to the search path (setpath)",
			  im->module);
}

static size_t image_index(struct session *s, struct kernel_image *k,
			  const struct kernel_boot *boot, const char *module)
{
	struct image *im;

	for (size_t i = 0; i < k->images.len; i++) {
		if (k->images.data[i]->boot == boot && k->images.data[i]->module == module)
			return i;
	}
	im = xcalloc(1, sizeof(*im));
	*im = (struct image){ .boot = boot, .module = module };
	vec_push(&k->images, im);
	return k->images.len - 1;
}

/* The index + 1 of the image of function `module`name`; 0: none. */
static size_t index_of(struct session *s, struct kernel_image *k, const struct func *f)
{
	size_t n = strcspn(f->mangled, "`");
	const struct kernel_boot *boot = f->mangled[n] ? kernel_boot_of(&k->boots, f) : NULL;
	__cleanup(freep) char *module = xstrndup(f->mangled, n);

	if (!boot || strchr(module, '/'))
		return 0;
	return image_index(s, k, boot, strtab_intern(&s->names, module)) + 1;
}

/* The image of a function; NULL: none. */
static const struct image *image_of(struct session *s, const struct func *f)
{
	struct kernel_image *k = kernel_image(s);
	uint64_t *index;
	struct image *im;
	bool fresh;

	index = map_put(&k->by_func, f->id, &fresh);
	if (fresh)
		*index = index_of(s, k, f);
	im = *index ? k->images.data[*index - 1] : NULL;
	if (im && !im->tried)
		find_files(s, im, f->obj);
	return im;
}

struct lineinfo *kernel_lines(struct session *s, const struct func *f, uint64_t *addr)
{
	const struct image *im = image_of(s, f);

	return im && im->lines && kernel_elf_addr(im->lines, f, addr) ? im->lines->lines : NULL;
}

/*
 * The other names of a function in the running kernel. NULL: it has no such function at the
 * recorded address. The caller frees it.
 */
static char *running_aliases(const struct kernel_image *k, const struct func *f)
{
	const char *tick = strchr(f->mangled, '`');

	return tick && k->names ? kallsyms_aliases(k->names, f->addr, tick + 1) : NULL;
}

static bool is_running(const struct kernel_image *k, const struct func *f)
{
	__cleanup(freep) char *aliases = running_aliases(k, f);

	return aliases != NULL;
}

/* Read the running kernel's symbols once; what goes wrong is reported to `d`. */
static void load_names(struct kernel_image *k, struct diag *d)
{
	if (!k->names_tried)
		k->names = kallsyms_load(NULL, d);
	k->names_tried = true;
}

const char *kernel_aliases(struct session *s, const struct func *f)
{
	struct kernel_image *k = kernel_image(s);
	struct diag quiet = { 0 };
	char *aliases;
	const char *ret = NULL;

	if (!strchr(f->mangled, '`'))
		return NULL;
	load_names(k, &quiet);
	diag_free(&quiet);
	aliases = running_aliases(k, f);
	if (aliases && *aliases)
		ret = strtab_intern(&s->names, aliases);
	free(aliases);
	return ret;
}

struct code *kernel_code(struct session *s, const struct func *f, uint64_t *addr)
{
	const struct image *im = image_of(s, f);
	struct kernel_image *k = kernel_image(s);

	if (im && im->code && kernel_elf_addr(im->code, f, addr))
		return im->code->code;
	*addr = f->addr;
	if (!k->running_tried) {
		k->running_tried = true;
		k->running = code_open_kernel(NULL, &f->obj->diag);
		if (k->running)
			load_names(k, &f->obj->diag);
	}
	return k->running && is_running(k, f) ? k->running : NULL;
}

static const char *name_in_file(const struct image *im, uint64_t addr, uint64_t *offset)
{
	const struct kernel_elf *file = im && im->files.len ? im->files.data[0] : NULL;
	const struct sym *sym = file ? symtab_find(file->symtab, addr + file->distance) : NULL;

	if (sym)
		*offset = addr + file->distance - sym->addr;
	return sym ? sym->name : NULL;
}

/*
 * Look in the function's own file, then in vmlinux. Other modules are not tried: their
 * ranges may overlap.
 */
static const char *name_in_files(const struct kernel_image *k, const struct image *own,
				 uint64_t addr, uint64_t *offset)
{
	const char *name = name_in_file(own, addr, offset);

	for (size_t i = 0; !name && i < k->images.len; i++) {
		const struct image *im = k->images.data[i];

		if (im->boot == own->boot && !strcmp(im->module, "vmlinux"))
			name = name_in_file(im, addr, offset);
	}
	return name;
}

/* A recording has only the symbols of its stacks; files have all. */
const char *kernel_name_at(struct session *s, const struct func *near, uint64_t addr,
			   uint64_t *offset)
{
	const struct image *im = image_of(s, near);
	struct kernel_image *k = kernel_image(s);
	const struct exp_ksym *sym = im ? kernel_boot_sym(im->boot, addr) : NULL;
	const char *name = sym || !im ? NULL : name_in_files(k, im, addr, offset);
	const struct ksym *running;

	if (sym) {
		*offset = addr - sym->addr;
		return sym->name;
	}
	if (name)
		return name;
	running = is_running(k, near) ? kallsyms_find(k->names, addr) : NULL;
	if (running)
		*offset = addr - running->addr;
	return running ? running->name : NULL;
}

void kernel_image_free(struct kernel_image *k)
{
	if (!k)
		return;
	vec_for_each (im, &k->images) {
		vec_for_each (file, &(*im)->files)
			kernel_elf_free(*file);
		vec_free(&(*im)->files);
		free(*im);
	}
	vec_free(&k->images);
	map_free(&k->by_func);
	kernel_boots_free(&k->boots);
	code_free(k->running);
	kallsyms_free(k->names);
	free(k);
}
