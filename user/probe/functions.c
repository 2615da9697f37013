/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds functions by their symbols, and says why one is not found. */
#include <stdlib.h>
#include <string.h>

#include "analysis/base/diag.h"
#include "analysis/symbols/demangle.h"
#include "analysis/symbols/lineplaces.h"
#include "analysis/symbols/symtab.h"
#include "user/probe/ends.h"
#include "user/probe/image.h"
#include "user/probe/match.h"
#include "user/probe/rawsyms.h"
#include "user/probe/returns.h"

/* Words of struct pt_regs. */
enum {
	REG_RBX = 5, REG_R11 = 6, REG_R10 = 7, REG_R9 = 8, REG_R8 = 9, REG_RAX = 10, REG_RCX = 11,
	REG_RDX = 12, REG_RSI = 13, REG_RDI = 14, REG_RSP = 19,
};

struct function_search {
	const struct symtab *t;
	bool unwound; /* returns may not be probed: exceptions may pass, */
	bool switched; /* or the thread may have another stack by then */
	bool returns; /* returns are probed */
	bool many;    /* the name has wildcards: what cannot be probed is left out */
	const struct probe_spec *s;
	const struct image_file *im;
	const char *name;
	bool second;
	struct probe_sites *ret;
	struct diag *d;
	bool ifunc;  /* a function was left out because it is an IFUNC */
	size_t nfunctions; /* that have a name */
	size_t left_before; /* functions that were left out before this search */
};

/* --- arguments --- */

/* Integers and addresses as the first arguments, by the ABI of C or of Go 1.17 and later. */
static struct er_place argument_place(bool go, unsigned number)
{
	static const uint8_t c[] = { REG_RDI, REG_RSI, REG_RDX, REG_RCX, REG_R8, REG_R9 };
	static const uint8_t g[] = { REG_RAX, REG_RBX, REG_RCX, REG_RDI, REG_RSI,
				     REG_R8,  REG_R9,  REG_R10, REG_R11 };
	size_t n = go ? sizeof(g) : sizeof(c);

	if (number == PROBE_RETURNED)
		return (struct er_place){ .kind = ER_PLACE_REGISTER, .base = REG_RAX };
	if (number <= n)
		return (struct er_place){ .kind = ER_PLACE_REGISTER,
					  .base = go ? g[number - 1] : c[number - 1] };
	return (struct er_place){ .kind = ER_PLACE_MEMORY, .base = REG_RSP,
				  .index = ER_REGISTER_NONE, .value = 8 * (number - n) };
}

static void set_places(const struct function_search *f, struct probe_site *site)
{
	for (size_t i = 0; i < f->s->nvalues; i++) {
		const struct probe_value *v = &f->s->values[i];

		/* A span reads its arguments where it begins. */
		if (f->second)
			continue;
		site->places[i] = argument_place(f->im->go, v->number);
		site->places[i].size = v->size ? v->size : 8;
		site->places[i].is_signed = v->is_signed;
		site->places[i].is_string = v->is_string;
	}
}

/* --- the search --- */

static bool is_plt(const char *name)
{
	size_t n = strlen(name);

	return n > 4 && (!strcmp(name + n - 4, "@plt") || !strcmp(name + n - 4, "@got"));
}

static bool any_alias_matches(const char *pattern, const char *aliases)
{
	__cleanup(freep) char *copy = aliases ? xstrdup(aliases) : NULL;
	char *save;

	for (char *a = copy ? strtok_r(copy, " ", &save) : NULL; a; a = strtok_r(NULL, " ", &save))
		if (match_symbol(pattern, a))
			return true;
	return false;
}

/* Code that the compiler split off a function: it is not what a caller calls. */
static bool is_part(const struct function_search *f, const char *symbol)
{
	static const char *const parts[] = { ".cold", ".part." };

	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++)
		if (strstr(symbol, parts[i]) && !strstr(f->name, parts[i]))
			return true;
	return false;
}

/* The long name of a C++ function, without what a compiler adds: "f(int) [clone .isra.0]". */
static char *source_name(const struct sym *sym)
{
	char *whole = demangle(sym->name, 1), *added = whole ? strstr(whole, " [clone ") : NULL;

	if (added)
		*added = '\0';
	return whole;
}

static char *shown_name(const struct sym *sym)
{
	char *whole = demangle(sym->name, 1);

	return whole ? whole : xstrdup(sym->name);
}

/* A * of the name may be one of the source: "f(char*)" means this function if there is one. */
static bool has_name(const struct sym *sym, const char *name)
{
	__cleanup(freep) char *whole = source_name(sym), *brief = whole ? demangle(sym->name, 0) : NULL;

	return whole && (!strcmp(whole, name) || (brief && !strcmp(brief, name)));
}

static bool has_wildcards(const struct function_search *f)
{
	size_t n;
	const struct sym *syms = symtab_syms(f->t, &n);

	if (!match_has_star(f->name))
		return false;
	for (size_t i = 0; i < n; i++)
		if (has_name(&syms[i], f->name))
			return false;
	return true;
}

/* The name to show if the symbol is asked for, which the caller frees; NULL: it is not. */
static char *wanted_name(const struct function_search *f, const struct sym *sym)
{
	__cleanup(freep) char *whole = demangle(sym->name, 1), *source = source_name(sym),
			      *brief = whole ? demangle(sym->name, 0) : NULL;

	if (!f->many && match_has_star(f->name))
		return has_name(sym, f->name) ? xstrdup(whole) : NULL;
	if (match_symbol(f->name, sym->name) || any_alias_matches(f->name, sym->aliases) ||
	    (whole && match_pattern(f->name, whole)) || (source && match_pattern(f->name, source)) ||
	    (brief && match_pattern(f->name, brief)))
		return xstrdup(whole ? whole : sym->name);
	return NULL;
}

static const char by_ifunc[] = "chosen when the program starts (IFUNC)";
static const char no_ends[] = "a function whose code does not show where it returns";

static void leave_out(struct function_search *f, char *name, const char *why)
{
	vec_push(&f->ret->left, (struct probe_left){ .name = name, .why = why });
}

/* A probe does not know the begin of a call, so it cannot tell whose end it is. */
static int find_ends(const struct function_search *f, const struct sym *sym, probe_ends *ends)
{
	int err = ends_find(f->im, f->t, sym, ends);

	vec_for_each (end, ends)
		err |= f->s->use != PROBE_FOR_SPAN && end->other ? -1 : 0;
	return err;
}

static bool needs_ends(const struct function_search *f)
{
	return f->returns && (f->unwound || f->switched);
}

/* Why the function cannot be probed; NULL: it can. Its ends are found if they are needed. */
static const char *refusal(struct function_search *f, const struct sym *sym, probe_ends *ends)
{
	const char *why = f->returns && !needs_ends(f) ? returns_unsafe(sym) : NULL;

	if (rawsyms_at(f->im->elf, sym->addr).ifunc) {
		f->ifunc = true;
		return by_ifunc;
	}
	if (needs_ends(f) && find_ends(f, sym, ends))
		return no_ends;
	return why;
}

static int refuse(const struct function_search *f, const char *name, const char *why)
{
	const char *instead = f->s->ret ? "leave %return out" : "write a pair instead, BINARY:FUNCTION,FUNCTION2";

	if (why == by_ifunc)
		return 0;
	if (why == no_ends)
		return diag_error(f->d, "%s '%s': %s %s would %s the program while "
				  "its return is probed, and its code does not show where it returns: %s",
				  probe_option(f->s), f->s->text, f->unwound ? "an exception thrown through" :
				  "a switch to another stack in", name, f->unwound ? "end" : "crash", instead);
	return diag_error(f->d, "%s '%s': %s is %s: the program would crash if its return was probed: %s",
			  probe_option(f->s), f->s->text, name, why, instead);
}

/*
 * Add the function, whose name to show is taken over. 0, also if it is an IFUNC or is left out; -1 after a
 * report.
 */
static int take(struct function_search *f, const struct sym *sym, char *name)
{
	uint64_t offset = image_offset(f->im, sym->addr, true);
	probe_ends ends = { 0 };
	struct probe_site *site;
	const char *why;
	int err = 0;

	if (offset == (uint64_t)-1) {
		free(name);
		return 0;
	}
	why = refusal(f, sym, &ends);
	if (why)
		vec_free(&ends);
	if (why && f->many) {
		leave_out(f, name, why);
		return 0;
	}
	if (why) {
		err = refuse(f, name, why);
		free(name);
		return err;
	}
	if (site_add(f->s, f->im, (struct uprobe_site){ .offset = offset, .ret = f->s->ret }, name,
		     f->second, f->d, f->ret)) {
		vec_free(&ends);
		return -1;
	}
	site = &f->ret->sites.data[f->ret->sites.len - 1];
	set_places(f, site);
	site->ends = ends;
	site->switched = f->switched;
	return 0;
}

/* Whether the symbol was added, or is no candidate: 0; -1 after a report. */
static int consider(struct function_search *f, const struct sym *sym)
{
	char *name;

	if (sym->elsewhere || is_plt(sym->name) || (f->many && strstr(sym->name, ".cold")))
		return 0;
	f->nfunctions++;
	if (!f->many && is_part(f, sym->name))
		return 0;
	name = wanted_name(f, sym);
	return name ? take(f, sym, name) : 0;
}

/* --- when nothing is found --- */

static size_t inlined_copies(const struct function_search *f, const struct symtab_opts *o)
{
	struct lineinfo *l = lineinfo_open(f->im->binary->fd, o, NULL);
	size_t n = l ? inlined_calls(l, f->name) : 0;

	lineinfo_free(l);
	return n;
}

/* The names as they may be written: of C++ functions without parameters, if the wanted one has none. */
static char *similar_names(const struct function_search *f)
{
	struct nearest nearest = { 0 };
	bool whole = strchr(f->name, '(');
	size_t n;
	const struct sym *syms = symtab_syms(f->t, &n);
	char *text;

	for (size_t i = 0; i < n; i++) {
		__cleanup(freep) char *name = demangle(syms[i].name, whole);

		if (!syms[i].elsewhere && !is_plt(syms[i].name))
			nearest_look(&nearest, f->name, name ? name : syms[i].name);
	}
	text = nearest.n ? nearest_text(&nearest) : xstrdup("");
	nearest_free(&nearest);
	return text;
}

/* How to list the functions, if none has a similar name; the caller frees it. */
static char *list_command(const struct function_search *f)
{
	static const char debug[] = "debug file ";
	const char *source = symtab_source(f->t), *file = strstr(source, debug);

	if (file)
		return xasprintf(": nm -C %.*s lists its functions", (int)strcspn(file + strlen(debug), ","),
				 file + strlen(debug));
	return xasprintf(": nm -C%s %s lists its functions", strstr(source, "symtab") ? "" : " -D",
			 f->im->binary->path);
}

static int report_none(const struct function_search *f, const char *near)
{
	const char *option = probe_option(f->s), *path = f->im->binary->path;
	__cleanup(freep) char *list = *near ? NULL : list_command(f);

	if (!f->nfunctions)
		return diag_error(f->d, "%s '%s': %s has no names of functions: install its debug symbols, "
				  "or build it without stripping", option, f->s->text, path);
	return diag_error(f->d, "%s '%s': no function '%s' in %s%s", option, f->s->text, f->name, path,
			  list ? list : near);
}

/* All functions of these names were left out. */
static int report_left(const struct function_search *f)
{
	const struct probe_left *l = &f->ret->left.data[f->ret->left.len - 1];

	return diag_error(f->d, "%s '%s': no function of this name can be probed, such as %s: it is %s: write "
			  "another name", probe_option(f->s), f->s->text, l->name, l->why);
}

static int not_found(struct function_search *f, const struct symtab_opts *o)
{
	const char *option = probe_option(f->s), *path = f->im->binary->path;
	struct rawsyms l = rawsyms_named(f->im->elf, f->name);
	__cleanup(freep) char *near = NULL;
	size_t copies;

	if (f->ret->left.len > f->left_before)
		return report_left(f);
	if (f->ifunc)
		return diag_error(f->d, "%s '%s': '%s' is chosen when the program starts (IFUNC), from "
				  "several functions: probe the one that this CPU uses, by its own name, which "
				  "the debug symbols of %s have", option, f->s->text, f->name, path);
	if (l.data)
		return diag_error(f->d, "%s '%s': '%s' is a variable, not a function, of %s: write a function that "
				  "uses it", option, f->s->text, f->name, path);
	if (l.undefined)
		return diag_error(f->d, "%s '%s': %s only calls '%s': name the library that has it, as "
				  "ldd lists them", option, f->s->text, path, f->name);
	copies = inlined_copies(f, o);
	if (copies)
		return diag_error(f->d, "%s '%s': the compiler inlined '%s' everywhere (%zu cop%s), so "
				  "nothing calls it: probe a function that contains it, or a line of it "
				  "(BINARY:file.c:LINE)", option, f->s->text, f->name, copies, copies == 1 ? "y" : "ies");
	near = similar_names(f);
	return report_none(f, near);
}

static void warn_of_copies(const struct function_search *f, const struct symtab_opts *o)
{
	size_t copies = f->many ? 0 : inlined_copies(f, o);

	if (copies)
		diag_warn(f->d, "%s '%s': the compiler also inlined '%s' in %zu place%s, whose calls are not "
				"counted", probe_option(f->s), f->s->text, f->name, copies, copies == 1 ? "" : "s");
}

static int refuse_go(const struct probe_spec *s, const struct image_file *im, struct diag *d)
{
	return diag_error(d, "%s '%s': %s is a Go program: a return probe would break it, because Go "
			  "moves stacks: %s", probe_option(s), s->text, im->binary->path,
			  s->ret ? "leave %return out" :
				   "write two functions, FUNCTION,FUNCTION2, or a system call");
}

/* A span ends at the return of its function, or at another place. */
static void set_returns(struct function_search *f)
{
	f->returns = f->s->ret || (f->s->use == PROBE_FOR_SPAN && !f->s->second);
	f->unwound = f->returns && ends_unwound(f->im);
	f->switched = f->returns && ends_switched(f->im);
}

int functions_add(const struct probe_spec *s, const struct image_file *im, const char *name,
		  bool second, struct diag *d, struct probe_sites *ret)
{
	struct function_search f = { .s = s, .im = im, .name = name, .second = second, .ret = ret, .d = d,
				     .left_before = ret->left.len };
	const struct symtab_opts o = { .path = im->binary->path };
	size_t n, before = ret->sites.len;
	struct symtab *t;
	const struct sym *syms;
	int err = 0;

	if (im->go && (s->ret || (s->use == PROBE_FOR_SPAN && !s->second)))
		return refuse_go(s, im, d);
	t = symtab_open(im->binary->fd, &o, d);
	if (!t)
		return -1;
	f.t = t;
	set_returns(&f);
	f.many = has_wildcards(&f);
	syms = symtab_syms(t, &n);
	for (size_t i = 0; i < n && !err; i++)
		err = consider(&f, &syms[i]);
	if (!err && ret->sites.len == before)
		err = not_found(&f, &o);
	else if (!err)
		warn_of_copies(&f, &o);
	symtab_free(t);
	return err;
}

/* --- the function of a line --- */

/* The function that has an address: f, if the compiler put that code into f.cold. NULL: unknown. */
static const struct sym *function_at(const struct symtab *t, uint64_t addr)
{
	const struct sym *sym = symtab_find(t, addr), *syms;
	const char *cold = sym ? strstr(sym->name, ".cold") : NULL;
	size_t n, len = cold ? cold - sym->name : 0;

	if (!cold)
		return sym;
	syms = symtab_syms(t, &n);
	for (size_t i = 0; i < n; i++)
		if (!strncmp(syms[i].name, sym->name, len) && !syms[i].name[len])
			return &syms[i];
	return NULL;
}

static bool is_taken(const struct function_search *f, const struct sym *sym)
{
	uint64_t offset = image_offset(f->im, sym->addr, true);

	vec_for_each (site, &f->ret->sites)
		if (site->at.fd == f->im->binary->fd && site->at.offset == offset)
			return true;
	return false;
}

/* Code that was inlined is in a function of another name: *inlined counts it. */
static int take_line(struct function_search *f, struct lineinfo *l, const struct line_places *p, size_t *inlined)
{
	vec_for_each (addr, &p->addresses) {
		const struct sym *sym = function_at(f->t, *addr);

		if (lineinfo_inlined(l, *addr, NULL, 0)) {
			++*inlined;
			continue;
		}
		if (sym && !is_taken(f, sym) && take(f, sym, shown_name(sym)))
			return -1;
	}
	return 0;
}

static int no_function(const struct function_search *f, size_t inlined)
{
	const char *option = probe_option(f->s), *path = f->im->binary->path;

	if (inlined)
		return diag_error(f->d, "%s '%s': the compiler inlined the function of this line everywhere (%zu "
				  "cop%s), so nothing calls it: write a function that contains it", option,
				  f->s->text, inlined, inlined == 1 ? "y" : "ies");
	return diag_error(f->d, "%s '%s': the function of this line has no name in %s: install its debug symbols, "
			  "or build it without stripping", option, f->s->text, path);
}

static int add_line(struct function_search *f)
{
	size_t inlined = 0, before = f->ret->sites.len;
	struct line_places p;
	struct lineinfo *l;
	int err = lines_look(f->s, f->im, f->t, f->d, &l, &p);

	err = err ? err : take_line(f, l, &p, &inlined);
	if (!err && f->ret->sites.len == before)
		err = no_function(f, inlined);
	else if (!err && inlined)
		diag_warn(f->d, "%s '%s': the compiler also inlined this line in %zu place%s, whose calls are not "
				"counted", probe_option(f->s), f->s->text, inlined, inlined == 1 ? "" : "s");
	vec_free(&p.addresses);
	lineinfo_free(l);
	return err;
}

int functions_add_line(const struct probe_spec *s, const struct image_file *im, struct diag *d,
		       struct probe_sites *ret)
{
	struct function_search f = { .s = s, .im = im, .name = s->first, .ret = ret, .d = d,
				     .returns = true, .unwound = ends_unwound(im),
				     .switched = ends_switched(im) };
	const struct symtab_opts o = { .path = im->binary->path };
	struct symtab *t;
	int err;

	if (im->go)
		return refuse_go(s, im, d);
	t = symtab_open(im->binary->fd, &o, d);
	if (!t)
		return -1;
	f.t = t;
	err = add_line(&f);
	symtab_free(t);
	return err;
}
