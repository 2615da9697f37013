/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/command/command.h"

#include <assert.h>
#include <ctype.h>
#include <string.h>

#include "analysis/base/buf.h"
#include "analysis/base/diag.h"
#include "analysis/base/vec.h"
#include "analysis/command/helptext.h"

static const char *const section_titles[] = {
	[SECTION_FUNCTIONS] = "Functions and metrics",
	[SECTION_CALLERS] = "Callers, callees and the call tree",
	[SECTION_SOURCE] = "Lines, source and disassembly",
	[SECTION_EVENTS] = "Memory, input and output",
	[SECTION_INDEX] = "By thread, process, CPU and time",
	[SECTION_DATA] = "By address of data",
	[SECTION_WAITS] = "Where time goes off the CPU",
	[SECTION_EXPERIMENTS] = "Experiments and filters",
	[SECTION_OBJECTS] = "Load objects",
	[SECTION_OUTPUT] = "Output",
	[SECTION_REPORTS] = "Reports on the recording",
	[SECTION_DEFAULTS] = "Only in .er.rc files",
	[SECTION_MISC] = "Other",
};

/* The files of commands. Within a section rows are listed in this order. */
static const struct command_rows *const files[] = {
	&list_commands, &source_commands, &metric_commands, &event_commands, &index_commands,
	&wait_commands, &select_commands, &open_commands, &object_commands, &output_commands,
	&report_commands, &absent_commands, &default_commands, &mapfile_commands, &misc_commands,
};

enum { NFILES = sizeof(files) / sizeof(files[0]), COMMANDS_MAX = 256 };

static struct {
	const struct command *rows[COMMANDS_MAX];
	size_t n;
} table;

static void gather(enum section section)
{
	for (size_t f = 0; f < NFILES; f++) {
		for (size_t i = 0; i < files[f]->n; i++) {
			const struct command *c = &files[f]->rows[i];

			assert(table.n < COMMANDS_MAX);
			if (c->section == section)
				table.rows[table.n++] = c;
		}
	}
}

const struct command *command_at(size_t n)
{
	static bool gathered;

	for (int section = 0; !gathered && section <= SECTION_MISC; section++)
		gather(section);
	gathered = true;
	return n < table.n ? table.rows[n] : NULL;
}

static bool is_named(const struct command *c, const char *name)
{
	return !strcasecmp(c->name, name) || (c->alias && !strcasecmp(c->alias, name));
}

static bool begins_with(const struct command *c, const char *text)
{
	size_t n = strlen(text);

	return !strncasecmp(c->name, text, n) || (c->alias && !strncasecmp(c->alias, text, n));
}

enum { NAME_MOST = 32, EDITS_MOST = 2 };

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* How many letters must be changed, added, left out or swapped with their neighbour. Case does not count. */
static size_t edits(const char *a, const char *b)
{
	size_t rows[3][NAME_MOST + 1], na = strlen(a), nb = strlen(b);

	if (na > NAME_MOST || nb > NAME_MOST)
		return NAME_MOST;
	for (size_t j = 0; j <= nb; j++)
		rows[0][j] = j;
	for (size_t i = 1; i <= na; i++) {
		size_t *now = rows[i % 3], *before = rows[(i + 2) % 3], *earlier = rows[(i + 1) % 3];

		now[0] = i;
		for (size_t j = 1; j <= nb; j++) {
			int x = tolower((unsigned char)a[i - 1]), y = tolower((unsigned char)b[j - 1]);

			now[j] = least(before[j - 1] + (x != y), 1 + least(before[j], now[j - 1]));
			if (i > 1 && j > 1 && x == tolower((unsigned char)b[j - 2]) &&
			    y == tolower((unsigned char)a[i - 2]))
				now[j] = least(now[j], earlier[j - 2] + 1);
		}
	}
	return rows[na % 3][nb];
}

/* The command that is meant by a misspelt name. NULL: none is near, or several are equally near. */
static const struct command *nearest(const char *name)
{
	size_t best = least(EDITS_MOST, strlen(name) / 3) + 1;
	const struct command *c, *found = NULL;

	for (size_t i = 0; (c = command_at(i)); i++) {
		size_t n = least(edits(name, c->name), c->alias ? edits(name, c->alias) : NAME_MOST);

		if (n > best)
			continue;
		found = n < best ? c : NULL;
		best = n;
	}
	return found;
}

static void report_unknown(const char *name, struct diag *d)
{
	const struct command *c = nearest(name);

	if (c)
		diag_error(d, "command '%s': unknown: do you mean %s? help lists the commands", name, c->name);
	else
		diag_error(d, "command '%s': unknown; help lists the commands", name);
}

const struct command *command_find(const char *name, struct diag *d)
{
	const struct command *c, *found = NULL;
	struct buf candidates = { 0 };
	size_t n = 0;

	for (size_t i = 0; (c = command_at(i)); i++) {
		if (is_named(c, name)) {
			buf_free(&candidates);
			return c;
		}
		if (!*name || !begins_with(c, name))
			continue;
		found = c;
		buf_printf(&candidates, "%s%s", n++ ? ", " : "", found->name);
	}
	if (n == 0)
		report_unknown(name, d);
	else if (n > 1)
		diag_error(d, "command '%s': ambiguous; it may be %s", name, candidates.data);
	buf_free(&candidates);
	return n == 1 ? found : NULL;
}

bool command_is_named(const char *name)
{
	const struct command *c;

	for (size_t i = 0; (c = command_at(i)); i++) {
		if (is_named(c, name))
			return true;
	}
	return false;
}

int command_check_args(const struct command *c, int nargs, struct diag *d)
{
	if (nargs >= c->min && nargs <= c->max)
		return 0;
	if (!c->max)
		return diag_error(d, "%s: takes no argument", c->name);
	if (nargs < c->min)
		return diag_error(d, "%s: needs an argument: %s %s", c->name, c->name, c->args);
	return diag_error(d, "%s: too many arguments: %s %s; put double quotes around "
			  "one with blanks", c->name, c->name, c->args);
}

static void help_line(struct buf *out, const struct command *c)
{
	struct buf b = { 0 };

	buf_printf(&b, "%s%s%s%s%s", c->name, c->alias ? ", " : "", c->alias ? c->alias : "",
		   c->args ? " " : "", c->args ? c->args : "");
	/* Text that is too long for its column gets a line of its own. */
	if (b.len > 30)
		buf_printf(out, "  %s\n  %30s  %s\n", b.data, "", c->help);
	else
		buf_printf(out, "  %-30s  %s\n", b.data, c->help);
	buf_free(&b);
}

/*
 * Print the manual page's text and an example: the one from the page, or the shortest possible
 * command.
 */
static void help_in_full(struct buf *out, const struct command *c)
{
	const struct command_text *t = command_text(c->name);
	int needed = c->min ? strcspn(c->args, "[") : 0;

	buf_printf(out, "%s%s%s: %s\n", c->name, c->args ? " " : "", c->args ? c->args : "", c->help);
	if (!t)
		return;
	buf_printf(out, "\n%s\nExample:\n", t->text);
	if (t->example)
		buf_printf(out, "  %s\n", t->example);
	else if (c->rc_only)
		buf_printf(out, "  %s %s\n", c->name, c->args ? c->args : "");
	else
		buf_printf(out, "  $ er_print -%s%s%.*s%stest.1.er\n", c->name, needed ? " " : "",
			   needed, needed ? c->args : "",
			   needed && c->args[needed - 1] == ' ' ? "" : " ");
}

void command_help(const struct command *only, struct buf *out)
{
	const struct command *c, *before = NULL;

	if (only) {
		help_in_full(out, only);
		return;
	}
	for (size_t i = 0; (c = command_at(i)); i++, before = c) {
		if (!before || c->section != before->section)
			buf_printf(out, "%s%s:\n", before ? "\n" : "", section_titles[c->section]);
		help_line(out, c);
	}
	buf_puts(out, "\nAny beginning of a name that fits no other command will do.\n");
}
