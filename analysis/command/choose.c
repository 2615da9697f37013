/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/command/choose.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/command/shell.h"
#include "analysis/model/source.h"

unsigned long choose_number(const char *s)
{
	char *end;
	unsigned long n;

	errno = 0;
	n = strtoul(s, &end, 10);
	return errno || *end || *s < '0' || *s > '9' ? 0 : n;
}

/* Whether another object of the same name, in another directory, has one of these functions. */
static bool has_namesake(const func_vec *found, const struct loadobj *obj)
{
	vec_for_each(f, found) {
		if ((*f)->obj != obj && !strcmp((*f)->obj->name, obj->name))
			return true;
	}
	return false;
}

static void list_candidates(struct shell *sh, const func_vec *found)
{
	for (size_t i = 0; i < found->len; i++) {
		const struct func *f = found->data[i];
		bool path = has_namesake(found, f->obj);

		diag_note(&sh->diag, "%zu: %s in %s%s%s%s at 0x%llx%s%s", i + 1, f->long_name,
			  f->obj->name, path ? " (" : "", path ? f->obj->path : "", path ? ")" : "",
			  (unsigned long long)f->addr, f->srcfile ? ", " : "",
			  f->srcfile ? f->srcfile : "");
	}
}

static struct func *pick(struct shell *sh, const func_vec *found, int argc, char **argv)
{
	unsigned long n = argc > 2 ? choose_number(argv[2]) : 0;

	if (found->len == 1)
		return found->data[0];
	if (!found->len)
		diag_error(&sh->diag,
			   "function '%s': is in no recorded stack; functions lists the names",
			   argv[1]);
	else if (n >= 1 && n <= found->len)
		return found->data[n - 1];
	else if (argc > 2)
		diag_error(&sh->diag,
			   "function '%s': there is no number '%s' among the %zu of that "
			   "name:",
			   argv[1], argv[2], found->len);
	else
		diag_error(&sh->diag,
			   "function '%s': %zu have that name; give the number of one "
			   "after it:",
			   argv[1], found->len);
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

typedef VEC(const char *) path_vec;

static void add_path(path_vec *all, const char *path, const char *name)
{
	if (!path || !path_is_named(path, name))
		return;
	for (size_t i = 0; i < all->len; i++) {
		if (all->data[i] == path)
			return;
	}
	vec_push(all, path);
}

/*
 * Find source files by name. Files of compilation units come first. If none matches, the files
 * that functions with samples include are tried; those of all functions may be very many.
 */
static void find_files(struct session *s, const char *name, size_t nmet, path_vec *ret)
{
	for (size_t i = 0; i < s->funcs.len; i++)
		add_path(ret, func_source(s, s->funcs.data[i]), name);
	for (size_t i = 0; !ret->len && i < nmet; i++) {
		line_code_vec rows = { 0 };

		func_lines(s, s->funcs.data[i], &rows);
		vec_for_each (r, &rows)
			add_path(ret, r->src.file, name);
		vec_free(&rows);
	}
}

static int choose_file(struct shell *sh, int argc, char **argv, size_t nmet,
		       struct code_choice *ret)
{
	unsigned long n = argc > 2 ? choose_number(argv[2]) : 0;
	path_vec found = { 0 };
	int rc = 0;

	find_files(sh->session, argv[1], nmet, &found);
	if (found.len == 1)
		ret->file = found.data[0];
	else if (n >= 1 && n <= found.len)
		ret->file = found.data[n - 1];
	else if (!found.len)
		rc = diag_error(&sh->diag,
				"'%s': no function and no source file of that name is known; "
				"see the list of functions (-func)",
				argv[1]);
	else
		rc = diag_error(&sh->diag,
				"'%s': %zu source files have that name; give the number of "
				"one after it:",
				argv[1], found.len);
	for (size_t i = 0; rc && i < found.len; i++)
		diag_note(&sh->diag, "%zu: %s", i + 1, found.data[i]);
	vec_free(&found);
	return rc;
}

/*
 * Find functions by name: those with samples, or if there are none those of any object. Returns
 * how many functions with samples there are.
 */
static size_t find_code(struct session *s, const char *name, func_vec *ret)
{
	size_t n, nmet;

	session_find_funcs(s, name, ret);
	nmet = s->funcs.len;
	if (ret->len)
		return nmet;
	session_load_objects(s);
	n = s->objects.len;
	for (size_t i = 0; i < n; i++)
		object_all_funcs(s, s->objects.data[i]);
	session_find_funcs(s, name, ret);
	return nmet;
}

int choose_code(struct shell *sh, int argc, char **argv, struct code_choice *ret)
{
	size_t len = strlen(argv[1]);
	func_vec found = { 0 };
	char *words[3] = { argv[0], NULL, argc > 2 ? argv[2] : NULL };
	size_t nmet;
	char *quote;

	*ret = (struct code_choice){ .name = xstrdup(argv[1]) };
	words[1] = ret->name;
	quote = strchr(ret->name, '\'');
	if (quote && len && ret->name[len - 1] == '\'' && quote < ret->name + len - 1) {
		ret->name[len - 1] = '\0';
		*quote = '\0';
		ret->file = quote + 1;
	}
	nmet = find_code(sh->session, ret->name, &found);
	if (found.len || ret->file)
		ret->func = pick(sh, &found, argc, words);
	else if (choose_file(sh, argc, words, nmet, ret))
		return -1;
	vec_free(&found);
	return ret->func || (!quote && ret->file) ? 0 : -1;
}

int choose_experiment(struct shell *sh, int argc, char **argv, const struct experiment **ret)
{
	unsigned long id = argc > 1 ? choose_number(argv[1]) : 0;

	*ret = NULL;
	vec_for_each (pp, &sh->session->experiments) {
		if (id && (*pp)->id == id)
			*ret = *pp;
	}
	if (argc > 1 && !*ret && strcmp(argv[1], "all"))
		return diag_error(&sh->diag,
				  "experiment '%s': not loaded; experiment_list shows the "
				  "numbers",
				  argv[1]);
	return 0;
}
