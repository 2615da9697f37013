/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "user/probe/sites.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/base/buf.h"
#include "analysis/base/diag.h"
#include "analysis/base/file.h"
#include "user/probe/binary.h"
#include "user/probe/image.h"
#include "user/probe/match.h"
#include "user/probe/tracepoint.h"

enum { NAMES_LISTED = 20 };

/* --- images --- */

int image_open(const struct probe_spec *s, const struct probe_binary *b, struct diag *d,
	       struct image_file *ret)
{
	GElf_Ehdr eh;

	*ret = (struct image_file){ .binary = b };
	elf_version(EV_CURRENT);
	ret->elf = elf_begin(b->fd, ELF_C_READ, NULL);
	if (!ret->elf || !elf_is_linked(ret->elf) || !gelf_getehdr(ret->elf, &eh))
		return diag_error(d, "%s '%s': %s is not a program or library (ELF): write the path of one",
				  probe_option(s), s->text, b->path);
	if (eh.e_machine != EM_X86_64)
		return diag_error(d, "%s '%s': %s is not for 64-bit x86 processors: only such binaries can be "
				  "probed", probe_option(s), s->text, b->path);
	elf_get_segments(ret->elf, &ret->segments);
	ret->go = elf_section(ret->elf, ".gopclntab") || elf_section(ret->elf, ".go.buildinfo");
	return 0;
}

void image_close(struct image_file *im)
{
	vec_free(&im->segments);
	elf_end(im->elf);
}

uint64_t image_offset(const struct image_file *im, uint64_t vaddr, bool exec)
{
	vec_for_each (g, &im->segments) {
		if ((g->exec || !exec) && vaddr >= g->vaddr && vaddr - g->vaddr < g->filesz)
			return g->offset + (vaddr - g->vaddr);
	}
	return (uint64_t)-1;
}

int site_add(const struct probe_spec *s, const struct image_file *im, struct uprobe_site at, char *name,
	     bool second, struct diag *d, struct probe_sites *ret)
{
	at.fd = im->binary->fd;
	if (ret->sites.len == PROBE_SITES_MAX) {
		free(name);
		return diag_error(d, "%s '%s': matches more than %d places: write a longer name",
				  probe_option(s), s->text, PROBE_SITES_MAX);
	}
	vec_push(&ret->sites, (struct probe_site){ .at = at, .binary = im->binary->path, .name = name,
						   .second = second });
	return 0;
}

/* --- the search --- */

static int find_in_image(const struct probe_spec *s, const struct image_file *im, struct diag *d,
			 struct probe_sites *ret)
{
	int (*add)(const struct probe_spec *s, const struct image_file *im, const char *name, bool second,
		   struct diag *d, struct probe_sites *ret) = s->kind == PROBE_USDT ? usdt_add : functions_add;

	if (s->kind == PROBE_LINE)
		return s->use == PROBE_FOR_SPAN ? functions_add_line(s, im, d, ret) : lines_add(s, im, d, ret);
	if (add(s, im, s->first, false, d, ret))
		return -1;
	if (s->second)
		return add(s, im, s->second, true, d, ret);
	return probe_spec_is_pair(s) ? usdt_add_end(s, im, d, ret) : 0;
}

static int find_in_binaries(const struct probe_spec *s, struct diag *d, struct probe_sites *ret)
{
	for (size_t i = 0; i < ret->binaries.len; i++) {
		struct image_file im;
		int err = image_open(s, &ret->binaries.data[i], d, &im);

		err = err ? err : find_in_image(s, &im, d, ret);
		image_close(&im);
		if (err)
			return err;
	}
	return 0;
}

/* A list of names: the first ones, and how many more there are. */
struct names {
	struct buf text;
	size_t n;
};

static void names_add(struct names *l, const char *name)
{
	if (l->n++ < NAMES_LISTED)
		buf_printf(&l->text, "%s%s", l->n > 1 ? ", " : "", name);
}

static const char *names_end(struct names *l)
{
	if (l->n > NAMES_LISTED)
		buf_printf(&l->text, " and %zu more", l->n - NAMES_LISTED);
	return l->text.data;
}

/* One note for each reason. */
static void list_left(const struct probe_spec *s, const struct probe_sites *p, struct diag *d)
{
	for (size_t i = 0; i < p->left.len; i++) {
		const char *why = p->left.data[i].why;
		struct names names = { 0 };
		bool had = false;

		for (size_t j = 0; j < i; j++)
			had |= p->left.data[j].why == why;
		for (size_t j = i; j < p->left.len && !had; j++)
			if (p->left.data[j].why == why)
				names_add(&names, p->left.data[j].name);
		if (!had)
			diag_note(d, "%s '%s': left out %zu, each %s: %s", probe_option(s), s->text, names.n, why,
				  names_end(&names));
		buf_free(&names.text);
	}
}

static bool has_wildcards(const struct probe_spec *s)
{
	return match_has_star(s->first) || (s->second && match_has_star(s->second));
}

int probe_sites_refused(const struct probe_spec *s, const char *const *names, size_t n, size_t left, struct diag *d)
{
	static const char why[] = "the kernel cannot put a breakpoint on an instruction";
	struct names list = { 0 };

	if (!has_wildcards(s))
		return diag_error(d, "%s '%s': %s of %s: write another place", probe_option(s), s->text, why, names[0]);
	if (!left)
		return diag_error(d, "%s '%s': no function of this name can be probed, such as %s: %s of it: write "
				  "another name", probe_option(s), s->text, names[0], why);
	for (size_t i = 0; i < n; i++)
		names_add(&list, names[i]);
	diag_note(d, "%s '%s': left out %zu of them, because %s of each: %s", probe_option(s), s->text, n, why,
		  names_end(&list));
	buf_free(&list.text);
	return 0;
}

/* The user did not write the names: there are wildcards, or a span has the functions of a line. */
static void list_taken(const struct probe_spec *s, const struct probe_sites *p, struct diag *d)
{
	struct names names = { 0 };

	if (!has_wildcards(s) && (s->kind != PROBE_LINE || s->use != PROBE_FOR_SPAN))
		return;
	vec_for_each (site, &p->sites)
		names_add(&names, site->name);
	diag_note(d, "%s '%s': %zu place%s: %s", probe_option(s), s->text, names.n, names.n == 1 ? "" : "s",
		  names_end(&names));
	buf_free(&names.text);
	list_left(s, p, d);
}

int probe_sites_find(const struct probe_spec *s, const pid_t *pids, size_t n, struct diag *d,
		     struct probe_sites *ret)
{
	*ret = (struct probe_sites){ .syscall = -1, .tracepoint = -1 };
	file_guard();
	switch (s->kind) {
	case PROBE_MARK:
		return 0;
	case PROBE_SYSCALL:
		return syscall_find(s, d, ret);
	case PROBE_TRACEPOINT:
		return tracepoint_find(s, d, ret);
	default:
		break;
	}
	if (binary_find(s, pids, n, d, ret) || find_in_binaries(s, d, ret))
		return -1;
	list_taken(s, ret, d);
	return 0;
}

void probe_sites_free(struct probe_sites *p)
{
	vec_for_each (site, &p->sites) {
		free(site->name);
		vec_free(&site->ends);
	}
	vec_for_each (l, &p->left)
		free(l->name);
	vec_for_each (b, &p->binaries) {
		free(b->path);
		close(b->fd);
	}
	vec_free(&p->sites);
	vec_free(&p->left);
	vec_free(&p->binaries);
}
