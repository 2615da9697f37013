/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/command/complete.h"

#include <string.h>

#include "analysis/base/alloc.h"
#include "analysis/base/diag.h"
#include "analysis/command/command.h"
#include "analysis/command/shell.h"
#include "analysis/metrics/property.h"
#include "analysis/model/source.h"
#include "analysis/views/columns.h"

enum { CANDIDATES_MAX = 5000 };

/*
 * The word consists of a part that is kept, such as the list typed so far, and the part that is
 * completed.
 */
struct completion {
	struct shell *sh;
	const char *word;
	size_t kept;
	bool any_case;
	candidate_vec *ret;
};

/* Offer a name. Names with blanks need quotes, so they are not offered. */
static void offer(struct completion *c, const char *name)
{
	const char *rest = c->word + c->kept;
	size_t n = strlen(rest);

	if ((c->any_case ? strncasecmp(name, rest, n) : strncmp(name, rest, n)) || name[strcspn(name, " \t\"\\")] ||
	    c->ret->len >= CANDIDATES_MAX)
		return;
	vec_push(c->ret, xasprintf("%.*s%s", (int)c->kept, c->word, name));
}

static void offer_commands(struct completion *c)
{
	const struct command *command;

	for (size_t i = 0; (command = command_at(i)); i++) {
		if (!command->rc_only)
			offer(c, command->name);
	}
}

/* Keep the list up to its last separator, a colon or a comma. */
static void keep_list(struct completion *c, char separator)
{
	const char *last = strrchr(c->word, separator);

	c->kept = last ? last + 1 - c->word : 0;
}

static void offer_metrics(struct completion *c)
{
	const char *rest;
	size_t flavors;

	keep_list(c, ':');
	rest = c->word + c->kept;
	flavors = strspn(rest, "-eiad");
	flavors += strspn(rest + flavors, ".+%!");
	if (flavors && strchr(".+%!", rest[flavors - 1]))
		c->kept += flavors;
	vec_for_each(m, &c->sh->metric_set.all)
		offer(c, m->name);
	for (size_t i = 0; i < 3; i++)
		offer(c, (const char *[]){ "name", "size", "address" }[i]);
}

/* Offer functions. They are known only after stacks have been read. */
static void offer_functions(struct completion *c)
{
	view_tally(&c->sh->view);
	vec_for_each(f, &c->sh->session->funcs)
		offer(c, (*f)->name);
}

static void offer_objects(struct completion *c)
{
	keep_list(c, ',');
	vec_for_each(o, &c->sh->session->objects)
		offer(c, base_name((*o)->path));
	offer(c, "all");
}

static void offer_types(struct completion *c)
{
	vec_for_each(t, &c->sh->view.types.all)
		offer(c, t->name);
}

static void offer_properties(struct completion *c)
{
	for (size_t i = 0; i < nproperties; i++)
		offer(c, properties[i].name);
	offer_types(c);
}

/* What to offer for each argument, by the argument's name in `help`. */
static const struct {
	const char *args;
	void (*offer)(struct completion *c);
} kinds[] = {
	{ "[metric_spec]", offer_metrics },	     { "function", offer_functions },
	{ "object", offer_objects },		     { "type", offer_types },
	{ "[filter_expression]", offer_properties },
};

/* Offer the words of "[on|off|delta|ratio]". */
static void offer_choices(struct completion *c, const char *args)
{
	__cleanup(freep) char *copy = xstrdup(args);
	char *rest = copy, *word;

	while ((word = strsep(&rest, "[]|"))) {
		if (*word && strcmp(word, "delimiter"))
			offer(c, word);
	}
}

static bool offer_arguments(struct completion *c, const struct command *command)
{
	const char *args = command->args ? command->args : "";

	for (size_t i = 0; command->words && command->words[i]; i++)
		offer(c, command->words[i]);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (!strncmp(args, kinds[i].args, strlen(kinds[i].args))) {
			kinds[i].offer(c);
			return true;
		}
	}
	if (strchr(args, '|') && !strpbrk(args, " :=_"))
		offer_choices(c, args);
	return !*args || command->words || c->ret->len;
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void drop_repeated(candidate_vec *v)
{
	size_t n = 0;

	vec_sort(v, by_text);
	vec_for_each(s, v) {
		if (n && !strcmp(*s, v->data[n - 1]))
			free(*s);
		else
			v->data[n++] = *s;
	}
	v->len = n;
}

static bool offer_all(struct completion *c, const char *line)
{
	const struct command *command;
	struct diag quiet = { 0 };
	char *name;

	if (!*line) {
		offer_commands(c);
		if (c->sh->opened)
			offer_types(c);
		return true;
	}
	if (!c->sh->opened)
		return true;
	name = xasprintf("%.*s", (int)strcspn(line, " \t"), line);
	command = command_find(name, &quiet);
	diag_free(&quiet);
	free(name);
	return !command || offer_arguments(c, command);
}

/*
 * The editor replaces what was typed by the common beginning of all candidates. Drop candidates
 * if that would remove typed characters.
 */
static void drop_if_unlike(candidate_vec *v, size_t n)
{
	bool unlike = false;

	vec_for_each(s, v)
		unlike |= strncmp(*s, v->data[0], n) != 0;
	if (!unlike)
		return;
	vec_for_each(s, v)
		free(*s);
	v->len = 0;
}

bool complete_word(struct shell *sh, const char *line, const char *word, candidate_vec *ret)
{
	struct completion c = { .sh = sh, .word = word, .ret = ret };
	bool known;

	line = line ? line + strspn(line, " \t") : "";
	known = offer_all(&c, line);
	if (!ret->len) {
		c.any_case = true;
		c.kept = 0;
		known = offer_all(&c, line);
	}
	drop_repeated(ret);
	drop_if_unlike(ret, strlen(word));
	return known;
}
