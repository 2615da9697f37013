/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/command/choose.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/command/shell.h"

unsigned long choose_number(const char *s)
{
	char *end;
	unsigned long n;

	errno = 0;
	n = strtoul(s, &end, 10);
	return errno || *end || *s < '0' || *s > '9' ? 0 : n;
}

static void list_candidates(struct shell *sh, const func_vec *found)
{
	for (size_t i = 0; i < found->len; i++) {
		const struct func *f = found->data[i];

		diag_note(&sh->diag, "%zu: %s in %s at 0x%llx%s%s", i + 1, f->long_name,
			  f->obj->name, (unsigned long long)f->addr, f->srcfile ? ", " : "",
			  f->srcfile ? f->srcfile : "");
	}
}

static struct func *pick(struct shell *sh, const func_vec *found, int argc, char **argv)
{
	unsigned long n = argc > 2 ? choose_number(argv[2]) : 0;

	if (found->len == 1)
		return found->data[0];
	if (!found->len)
		diag_error(&sh->diag, "function '%s': none of that name was seen; functions lists "
			   "the names", argv[1]);
	else if (n >= 1 && n <= found->len)
		return found->data[n - 1];
	else if (argc > 2)
		diag_error(&sh->diag, "function '%s': there is no number '%s' among the %zu of that "
			   "name:", argv[1], argv[2], found->len);
	else
		diag_error(&sh->diag, "function '%s': %zu have that name; give the number of one "
			   "after it:", argv[1], found->len);
	list_candidates(sh, found);
	return NULL;
}

struct func *choose_function(struct shell *sh, int argc, char **argv)
{
	func_vec found = { 0 };
	struct func *f;

	session_find_funcs(sh->session, argv[1], &found);
	f = pick(sh, &found, argc, argv);
	vec_free(&found);
	return f;
}

int choose_experiment(struct shell *sh, int argc, char **argv, const struct experiment **ret)
{
	unsigned long id = argc > 1 ? choose_number(argv[1]) : 0;

	*ret = NULL;
	vec_for_each(pp, &sh->session->experiments) {
		if (id && (*pp)->id == id)
			*ret = *pp;
	}
	if (argc > 1 && !*ret && strcmp(argv[1], "all"))
		return diag_error(&sh->diag, "experiment '%s': not loaded; experiment_list shows the "
				  "numbers", argv[1]);
	return 0;
}
