/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds USDT probes: notes in .note.stapsdt. A note has the probe's address, the address of
 * .stapsdt.base when the file was linked (prelink may have moved both since), the address of its
 * semaphore, and three strings: provider, name, arguments.
 */
#include "user/probe/usdt.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/diag.h"
#include "user/api/mark.h"
#include "user/probe/image.h"
#include "user/probe/match.h"

enum { NOTE_STAPSDT = 3, NOTES_MAX = 64 << 20, PROBES_LISTED = 100000 };

/* --- operands --- */

struct reg {
	const char *name;
	uint8_t word, size;
};

/* Words of struct pt_regs. */
static const struct reg regs[] = {
	{ "rax", 10, 8 }, { "eax", 10, 4 }, { "ax", 10, 2 }, { "al", 10, 1 }, { "rbx", 5, 8 },
	{ "ebx", 5, 4 },  { "bx", 5, 2 },   { "bl", 5, 1 },  { "rcx", 11, 8 }, { "ecx", 11, 4 },
	{ "cx", 11, 2 },  { "cl", 11, 1 },  { "rdx", 12, 8 }, { "edx", 12, 4 }, { "dx", 12, 2 },
	{ "dl", 12, 1 },  { "rsi", 13, 8 }, { "esi", 13, 4 }, { "si", 13, 2 },  { "sil", 13, 1 },
	{ "rdi", 14, 8 }, { "edi", 14, 4 }, { "di", 14, 2 }, { "dil", 14, 1 }, { "rbp", 4, 8 },
	{ "ebp", 4, 4 },  { "bp", 4, 2 },   { "bpl", 4, 1 }, { "rsp", 19, 8 }, { "esp", 19, 4 },
	{ "rip", 16, 8 },
};

/* r8 to r15, with the suffixes of their parts. */
static bool numbered_register(const char *name, size_t n, uint8_t *word)
{
	static const uint8_t words[] = { 9, 8, 7, 6, 3, 2, 1, 0 };
	char *end;
	long number;

	if (n < 2 || name[0] != 'r' || name[1] < '1' || name[1] > '9')
		return false;
	number = strtol(name + 1, &end, 10);
	if (number < 8 || number > 15 || end > name + n)
		return false;
	*word = words[number - 8];
	return end == name + n || (end + 1 == name + n && strchr("dwb", *end));
}

/* "%rax": the text behind it; NULL: not a register. */
static const char *take_register(const char *p, uint8_t *word)
{
	size_t n;

	if (*p++ != '%')
		return NULL;
	n = strspn(p, "abcdefghijklmnopqrstuvwxyz0123456789");
	for (size_t i = 0; i < sizeof(regs) / sizeof(*regs); i++) {
		if (strlen(regs[i].name) == n && !memcmp(regs[i].name, p, n)) {
			*word = regs[i].word;
			return p + n;
		}
	}
	return numbered_register(p, n, word) ? p + n : NULL;
}

/* "(%rax,%rdx,4)" */
static const char *take_address(const char *p, struct er_place *ret)
{
	char *end;

	ret->kind = ER_PLACE_MEMORY;
	ret->index = ret->base = ER_REGISTER_NONE;
	ret->scale = 1;
	if (*p++ != '(')
		return NULL;
	if (*p == '%' && !(p = take_register(p, &ret->base)))
		return NULL;
	if (*p == ',') {
		p = take_register(p + 1, &ret->index);
		if (p && *p == ',') {
			ret->scale = strtol(p + 1, &end, 10);
			p = end;
		}
	}
	if (ret->scale != 1 && ret->scale != 2 && ret->scale != 4 && ret->scale != 8)
		return NULL;
	return p && *p == ')' ? p + 1 : NULL;
}

/* The operand behind "@". */
static const char *take_operand(const char *p, struct er_place *ret)
{
	char *end;

	if (*p == '%') {
		ret->kind = ER_PLACE_REGISTER;
		return take_register(p, &ret->base);
	}
	if (*p == '$') {
		ret->kind = ER_PLACE_CONSTANT;
		ret->value = strtoll(p + 1, &end, 10);
		return end > p + 1 ? end : NULL;
	}
	ret->value = strtoll(p, &end, 10);
	return take_address(end, ret);
}

/* "-4@%edi". Returns the text behind it; NULL: a form that is not known. */
static const char *take_place(const char *p, struct er_place *ret)
{
	char *end;
	long size;

	*ret = (struct er_place){ .is_signed = *p == '-' };
	size = strtol(p + ret->is_signed, &end, 10);
	if (*end != '@' || (size != 1 && size != 2 && size != 4 && size != 8))
		return NULL;
	ret->size = size;
	p = take_operand(end + 1, ret);
	return p && (!*p || *p == ' ') ? p : NULL;
}

int usdt_place(const char *arguments, unsigned number, struct er_place *ret)
{
	const char *p = arguments + strspn(arguments, " ");

	for (; --number && *p; p += strspn(p, " "))
		p += strcspn(p, " ");
	if (!*p)
		return -ENOENT;
	return take_place(p, ret) ? 0 : -EINVAL;
}

/* --- notes --- */

struct note {
	uint64_t pc, base, semaphore;
	const char *provider, *name, *arguments;
};

/* The string at *at; NULL if it has no end. */
static const char *note_string(const char *data, size_t size, size_t *at)
{
	const char *s = data + *at, *end = *at < size ? memchr(s, '\0', size - *at) : NULL;

	if (!end)
		return NULL;
	*at = end + 1 - data;
	return s;
}

static bool parse_note(const char *desc, size_t size, struct note *ret)
{
	uint64_t words[3];
	size_t at = sizeof(words);

	if (size < sizeof(words))
		return false;
	memcpy(words, desc, sizeof(words));
	*ret = (struct note){ .pc = words[0], .base = words[1], .semaphore = words[2] };
	ret->provider = note_string(desc, size, &at);
	ret->name = ret->provider ? note_string(desc, size, &at) : NULL;
	ret->arguments = ret->name ? note_string(desc, size, &at) : NULL;
	return ret->arguments;
}

struct usdt_search {
	const struct probe_spec *s;
	const struct image_file *im;
	const char *name;
	bool second;
	uint64_t base; /* of .stapsdt.base in the file; 0: none */
	struct probe_sites *ret;
	struct diag *d;
	struct nearest nearest;
	size_t nnotes;
};

static int set_places(const struct usdt_search *u, const struct note *n, struct probe_site *site)
{
	for (size_t i = 0; i < u->s->nvalues; i++) {
		const struct probe_value *v = &u->s->values[i];
		struct er_place *p = &site->places[i];
		int err;

		if (u->second)
			continue;
		err = usdt_place(n->arguments, v->number, p);
		if (err == -ENOENT)
			return diag_error(u->d, "%s '%s': the probe %s has no argument %u: leave it out",
					  probe_option(u->s), u->s->text, site->name, v->number);
		if (err)
			return diag_error(u->d, "%s '%s': argument %u of the probe %s is not an integer or "
					  "address ('%s'): leave it out", probe_option(u->s), u->s->text,
					  v->number, site->name, n->arguments);
		p->is_string = v->is_string;
		if (v->size) {
			p->size = v->size < p->size ? v->size : p->size;
			p->is_signed = v->is_signed;
		}
	}
	return 0;
}

static int take_note(struct usdt_search *u, const struct note *n)
{
	uint64_t moved = u->base && n->base ? u->base - n->base : 0;
	struct uprobe_site at = { .offset = image_offset(u->im, n->pc + moved, true) };

	if (n->semaphore)
		at.semaphore = image_offset(u->im, n->semaphore + moved, false);
	if (at.offset == (uint64_t)-1 || at.semaphore == (uint64_t)-1)
		return diag_error(u->d, "%s '%s': the note of the probe %s:%s in %s is damaged",
				  probe_option(u->s), u->s->text, n->provider, n->name, u->im->binary->path);
	if (site_add(u->s, u->im, at, xasprintf("%s:%s", n->provider, n->name), u->second, u->d, u->ret))
		return -1;
	return set_places(u, n, &u->ret->sites.data[u->ret->sites.len - 1]);
}

static void look_at_name(struct usdt_search *u, const struct note *n)
{
	__cleanup(freep) char *wanted = xasprintf("%s:%s", u->s->group, u->name);
	__cleanup(freep) char *name = xasprintf("%s:%s", n->provider, n->name);

	nearest_look(&u->nearest, wanted, name);
}

static int take_notes(struct usdt_search *u, Elf_Data *data)
{
	size_t at = 0, name, desc;
	struct note n;
	GElf_Nhdr nh;

	while (data && at < data->d_size && (at = gelf_getnote(data, at, &nh, &name, &desc)) > 0) {
		const char *bytes = data->d_buf;

		if (nh.n_type != NOTE_STAPSDT || nh.n_namesz != sizeof("stapsdt") ||
		    memcmp(bytes + name, "stapsdt", sizeof("stapsdt")) ||
		    !parse_note(bytes + desc, nh.n_descsz, &n))
			continue;
		if (u->nnotes++ < PROBES_LISTED)
			look_at_name(u, &n);
		if (match_pattern(u->s->group, n.provider) && match_pattern(u->name, n.name) &&
		    take_note(u, &n))
			return -1;
	}
	return 0;
}

/* Marks of programs are such probes (marks.h). */
static int no_mark(const struct usdt_search *u)
{
	return diag_error(u->d, "%s '%s': %s marks no spans: write the program or library that does, by er_span_begin "
				"(er_span(3))", probe_option(u->s), u->s->text, u->im->binary->path);
}

static int no_probe(const struct usdt_search *u)
{
	__cleanup(freep) char *near = NULL;

	if (!strcmp(u->s->group, MARK_PROVIDER))
		return no_mark(u);
	near = nearest_text(&u->nearest);
	return diag_error(u->d, "%s '%s': %s has no USDT probe %s:%s%s", probe_option(u->s), u->s->text,
			  u->im->binary->path, u->s->group, u->name, near);
}

int usdt_add(const struct probe_spec *s, const struct image_file *im, const char *name, bool second,
	     struct diag *d, struct probe_sites *ret)
{
	struct usdt_search u = { .s = s, .im = im, .name = name, .second = second, .ret = ret, .d = d };
	Elf_Scn *notes = elf_section(im->elf, ".note.stapsdt"), *base = elf_section(im->elf, ".stapsdt.base");
	size_t before = ret->sites.len;
	GElf_Shdr sh;
	int err;

	u.base = base && gelf_getshdr(base, &sh) ? sh.sh_addr : 0;
	if (!notes || !gelf_getshdr(notes, &sh) || sh.sh_size > NOTES_MAX)
		return !strcmp(s->group, MARK_PROVIDER) ? no_mark(&u) :
		       diag_error(d, "%s '%s': %s has no USDT probes: name the library that has them, as ldd lists "
				     "them, or a function (BINARY:FUNCTION)", probe_option(s), s->text,
				  im->binary->path);
	err = take_notes(&u, elf_getdata(notes, NULL));
	if (!err && ret->sites.len == before)
		err = no_probe(&u);
	nearest_free(&u.nearest);
	return err;
}

/* --- the usual names of ends --- */

static const char *const endings[][2] = {
	{ "start", "done" },   { "start", "end" },  { "start", "stop" }, { "start", "return" },
	{ "entry", "return" }, { "entry", "exit" }, { "begin", "end" },  { "begin", "done" },
};

/* "query__start", "start", "done": "query__done", which the caller frees; NULL: it does not end so. */
static char *other_ending(const char *name, const char *begin, const char *end)
{
	size_t n = strlen(name), len = strlen(begin);

	if (n < len || strcmp(name + n - len, begin))
		return NULL;
	return xasprintf("%.*s%s", (int)(n - len), name, end);
}

int usdt_add_end(const struct probe_spec *s, const struct image_file *im, struct diag *d, struct probe_sites *ret)
{
	for (size_t i = 0; i < sizeof(endings) / sizeof(*endings) && !match_has_star(s->first); i++) {
		__cleanup(freep) char *name = other_ending(s->first, endings[i][0], endings[i][1]);
		struct diag quiet = { 0 };
		size_t before = ret->sites.len;

		if (!name)
			continue;
		if (!usdt_add(s, im, name, true, &quiet, ret)) {
			diag_free(&quiet);
			return 0;
		}
		diag_free(&quiet);
		if (ret->sites.len > before)
			break;
	}
	return diag_error(d, "%s '%s': a USDT probe does not say where the span ends: write a comma and the probe "
			     "that ends it", probe_option(s), s->text);
}
