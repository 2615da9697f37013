/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A binary with its ELF headers, for as long as sites are looked for in it. */
#ifndef USER_PROBE_IMAGE_H
#define USER_PROBE_IMAGE_H

#include "analysis/symbols/elfsyms.h"
#include "user/probe/sites.h"

struct line_places;
struct lineinfo;
struct symtab;

struct image_file {
	const struct probe_binary *binary; /* borrowed */
	Elf *elf;
	elf_segments segments;
	bool go;
};

/*
 * Returns 0, or -1 after one sentence if this is no program or library for this machine. Release
 * *ret with image_close, after a failure, too.
 */
int image_open(const struct probe_spec *s, const struct probe_binary *b, struct diag *d,
	       struct image_file *ret);
void image_close(struct image_file *im);
/* The offset in the file of an address; (uint64_t)-1: it is not in the file. `exec`: of code only. */
uint64_t image_offset(const struct image_file *im, uint64_t vaddr, bool exec);

/*
 * Add the sites of a function (functions.c), a USDT probe (usdt.c) or a line (lines.c) in this
 * binary. They return 0, or -1 after one sentence with the remedy. `name` is s->first, or s->second
 * if `second`.
 */
int functions_add(const struct probe_spec *s, const struct image_file *im, const char *name,
		  bool second, struct diag *d, struct probe_sites *ret);
int usdt_add(const struct probe_spec *s, const struct image_file *im, const char *name, bool second,
	     struct diag *d, struct probe_sites *ret);
/*
 * The end of a span from a USDT probe that is named alone: the probe of the binary that by custom follows it,
 * such as query__done for query__start. -1 after one sentence if there is none.
 */
int usdt_add_end(const struct probe_spec *s, const struct image_file *im, struct diag *d, struct probe_sites *ret);
int lines_add(const struct probe_spec *s, const struct image_file *im, struct diag *d,
	      struct probe_sites *ret);
/*
 * The code of the line that a SPEC names. Returns 0, or -1 after one sentence if there is none. The caller
 * frees *l and ret->addresses, after a failure, too.
 */
int lines_look(const struct probe_spec *s, const struct image_file *im, const struct symtab *t, struct diag *d,
	       struct lineinfo **l, struct line_places *ret);
/* The functions that the SPEC's line is in. */
int functions_add_line(const struct probe_spec *s, const struct image_file *im, struct diag *d,
		       struct probe_sites *ret);
/* Add a site; -1 after a report if there are too many. Takes over `name`. */
int site_add(const struct probe_spec *s, const struct image_file *im, struct uprobe_site at, char *name,
	     bool second, struct diag *d, struct probe_sites *ret);

#endif
