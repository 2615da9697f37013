/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/command/remarks.h"

#include <stddef.h>
#include <string.h>

#include "analysis/base/buf.h"
#include "analysis/base/diag.h"
#include "analysis/views/annotation.h"

enum { REMARK_ALL = REMARK_BASIC | REMARK_VERSION | REMARK_INLINE | REMARK_OTHER };

/* A class and the least number of letters that its name may be shortened to. */
static const struct class
{
	const char *least, *rest;
	unsigned set, clear;
	bool disasm; /* for disassembly only */
	bool alone;
} classes[] = {
	{ "b", "asic", REMARK_BASIC, 0, false, false },
	{ "v", "ersion", REMARK_VERSION, 0, false, false },
	{ "pa", "rallel", REMARK_OTHER, 0, false, false },
	{ "q", "uery", REMARK_OTHER, 0, false, false },
	{ "l", "oop", REMARK_OTHER, 0, false, false },
	{ "pi", "pe", REMARK_OTHER, 0, false, false },
	{ "i", "nline", REMARK_INLINE, 0, false, false },
	{ "m", "emops", REMARK_OTHER, 0, false, false },
	{ "f", "e", REMARK_OTHER, 0, false, false },
	{ "co", "degen", REMARK_OTHER, 0, false, false },
	{ "cf", "", REMARK_OTHER, 0, false, false },
	{ "all", "", REMARK_ALL, 0, false, true },
	{ "none", "", 0, REMARK_ALL, false, true },
	{ "h", "ex", REMARK_HEX, 0, true, false },
	{ "noh", "ex", 0, REMARK_HEX, true, false },
	{ "s", "rc", REMARK_SRC, REMARK_ASRC, true, false },
	{ "nos", "rc", 0, REMARK_SRC | REMARK_ASRC, true, false },
	{ "as", "rc", REMARK_ASRC, REMARK_SRC, true, false },
};

enum { NCLASSES = sizeof(classes) / sizeof(classes[0]) };

static const struct class *find_class(const char *word, size_t n)
{
	for (size_t i = 0; i < NCLASSES; i++) {
		const struct class *c = &classes[i];
		size_t least = strlen(c->least);

		if (n >= least && n - least <= strlen(c->rest) && !strncmp(word, c->least, least) &&
		    !strncmp(word + least, c->rest, n - least))
			return c;
	}
	return NULL;
}

int remarks_parse(const char *list, unsigned *source, unsigned *disasm, struct diag *d)
{
	unsigned all = 0, form = disasm ? *disasm & ~REMARK_ALL : 0;
	size_t words = 0, forms = 0, alone = 0;

	while (*list) {
		size_t n = strcspn(list, ":");
		const struct class *c = find_class(list, n);

		if (!c || (c->disasm && !disasm))
			return diag_error(
				d,
				"'%.*s': not a class of remarks; the classes are basic, version, "
				"parallel, query, loop, pipe, inline, memops, fe, codegen, cf, "
				"all and none%s",
				(int)n, list, disasm ? ", hex, nohex, src, nosrc and asrc" : "");
		if (c->disasm)
			form = (form & ~c->clear) | c->set;
		else
			all = (all & ~c->clear) | c->set;
		words += !c->disasm;
		forms += c->disasm;
		alone += c->alone;
		list += n + (list[n] == ':');
	}
	if (alone && words > 1)
		return diag_error(d, "all and none cannot be combined with other classes");
	if (source)
		*source = all;
	/* Classes that only change the form of disassembly leave the remarks as they are. */
	if (disasm)
		*disasm = form | (words || !forms ? all : *disasm & REMARK_ALL);
	return 0;
}

void remarks_print(unsigned set, bool disasm, struct buf *b)
{
	static const struct {
		unsigned bit;
		const char *name;
	} names[] = {
		{ REMARK_BASIC, "basic" },
		{ REMARK_VERSION, "version" },
		{ REMARK_INLINE, "inline" },
		{ REMARK_OTHER, "parallel:query:loop:pipe:memops:fe:codegen:cf" },
		{ REMARK_HEX, "hex" },
		{ REMARK_SRC, "src" },
		{ REMARK_ASRC, "asrc" },
	};
	size_t start = b->len;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (set & names[i].bit)
			buf_printf(b, "%s%s", b->len > start ? ":" : "", names[i].name);
	}
	if (!(set & REMARK_ALL))
		buf_printf(b, "%snone", b->len > start ? ":" : "");
	if (disasm && !(set & (REMARK_SRC | REMARK_ASRC)))
		buf_puts(b, ":nosrc");
}
