/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds the code of a source line. */
#include <string.h>

#include "analysis/base/diag.h"
#include "analysis/symbols/lineplaces.h"
#include "analysis/symbols/symtab.h"
#include "user/probe/image.h"
#include "user/probe/match.h"

/* The last parts of a path, as many as `wanted` has. */
static const char *same_depth(const char *path, const char *wanted)
{
	size_t parts = 1;
	const char *p = path + strlen(path);

	for (; *wanted; wanted++)
		parts += *wanted == '/';
	while (p > path && (p[-1] != '/' || --parts))
		p--;
	return p;
}

/* Sources of functions first: headers have less code. */
static int no_file(const struct probe_spec *s, const char *path, const struct symtab *t, struct lineinfo *l,
		   struct diag *d)
{
	__cleanup(freep) char *near = NULL;
	struct nearest nearest = { 0 };
	size_t n;
	const struct sym *syms = symtab_syms(t, &n);

	for (size_t i = 0; i < n; i++) {
		const char *file = lineinfo_path(l, lineinfo_unit_file(l, syms[i].addr));

		if (*file)
			nearest_look(&nearest, s->first, same_depth(file, s->first));
	}
	for (size_t i = 0; i < lineinfo_nfiles(l); i++)
		if (*lineinfo_path(l, i))
			nearest_look(&nearest, s->first, same_depth(lineinfo_path(l, i), s->first));
	near = nearest_text(&nearest);
	nearest_free(&nearest);
	return diag_error(d, "%s '%s': %s was built from no file '%s'%s", probe_option(s), s->text, path, s->first,
			  near);
}

static int no_code(const struct probe_spec *s, const struct line_places *p, struct diag *d)
{
	if (p->next_line)
		return diag_error(d, "%s '%s': line %u of %s has no code: the next one that has is line %u",
				  probe_option(s), s->text, s->line, s->first, p->next_line);
	return diag_error(d, "%s '%s': line %u of %s has no code: write another one", probe_option(s),
			  s->text, s->line, s->first);
}

static int add_places(const struct probe_spec *s, const struct image_file *im,
		      const struct line_places *p, struct diag *d, struct probe_sites *ret)
{
	vec_for_each (a, &p->addresses) {
		uint64_t offset = image_offset(im, *a, true);

		if (offset != (uint64_t)-1 &&
		    site_add(s, im, (struct uprobe_site){ .offset = offset },
			     xasprintf("%s:%u", s->first, s->line), false, d, ret))
			return -1;
	}
	return ret->sites.len ? 0 : no_code(s, p, d);
}

int lines_look(const struct probe_spec *s, const struct image_file *im, const struct symtab *t, struct diag *d,
	       struct lineinfo **l, struct line_places *ret)
{
	const struct symtab_opts o = { .path = im->binary->path };

	*ret = (struct line_places){ 0 };
	*l = lineinfo_open(im->binary->fd, &o, d);
	if (!*l)
		return diag_error(d, "%s '%s': %s has no debug information about lines: install its debug symbols, "
				     "or build it with -g", probe_option(s), s->text, im->binary->path);
	line_places(*l, t, s->first, s->line, ret);
	if (!ret->file_known)
		return no_file(s, im->binary->path, t, *l, d);
	return ret->addresses.len ? 0 : no_code(s, ret, d);
}

int lines_add(const struct probe_spec *s, const struct image_file *im, struct diag *d,
	      struct probe_sites *ret)
{
	const struct symtab_opts o = { .path = im->binary->path };
	struct symtab *t = symtab_open(im->binary->fd, &o, d);
	struct lineinfo *l = NULL;
	struct line_places p = { 0 };
	int err = t ? lines_look(s, im, t, d, &l, &p) : -1;

	if (!err)
		err = add_places(s, im, &p, d, ret);
	vec_free(&p.addresses);
	lineinfo_free(l);
	symtab_free(t);
	return err;
}
