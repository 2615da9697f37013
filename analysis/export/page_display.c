/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/export/page_display.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/base/alloc.h"
#include "analysis/base/buf.h"
#include "analysis/base/json.h"
#include "analysis/views/view_state.h"

/* Commands whose tab has another name. Other tabs have the names of their commands. */
static const struct {
	const char *command, *tab;
} renamed[] = {
	{ "callers-callees", "callers" }, { "pcs", "lines" }, { "disasm", "source" },
	{ "header", "experiments" }, { "headers", "experiments" }, { "overview", "experiments" },
	{ "statistics", "experiments" }, { "experiment_list", "experiments" },
	{ "leaks", "memory" }, { "allocs", "memory" }, { "heappeak", "memory" },
	{ "heapuse", "memory" }, { "heapstat", "memory" }, { "ioactivity", "memory" }, { "iodetail", "memory" },
	{ "data_objects", "counters" }, { "data_layout", "counters" }, { "samples", "index" },
	{ "seconds", "index" }, { "diff", "compare" },
};

/* A lane of the page has no room for more. */
enum { DEPTH_MOST = 5 };

static const char *tab_of(const char *command)
{
	for (size_t i = 0; i < sizeof(renamed) / sizeof(renamed[0]); i++) {
		if (!strcmp(renamed[i].command, command))
			return renamed[i].tab;
	}
	return command;
}

static void put_tabs(struct buf *b, const char *commands)
{
	char *words = xstrdup(commands), *rest = words, *word;
	size_t n = 0;

	buf_puts(b, "\"tabs\":[");
	while ((word = strsep(&rest, ":"))) {
		buf_puts(b, n++ ? "," : "");
		json_put_string(b, tab_of(word));
	}
	buf_puts(b, "]");
	free(words);
}

static void put_word(struct buf *b, const char *name, const char *word)
{
	if (word)
		buf_printf(b, "%s\"%s\":\"%s\"", b->data[b->len - 1] == '{' ? "" : ",", name, word);
}

void put_display(const struct display *d, struct buf *b)
{
	buf_puts(b, ",\"display\":{");
	if (d->tabs)
		put_tabs(b, d->tabs);
	put_word(b, "lanes", d->lanes);
	put_word(b, "color", d->color);
	for (unsigned i = 0; i < d->nmarks; i++)
		buf_printf(b, "%s\"%s\"", i ? "," : b->data[b->len - 1] == '{' ? "\"marks\":[" : ",\"marks\":[", d->marks[i]);
	buf_puts(b, d->nmarks ? "]" : "");
	if (d->depth > 1)
		buf_printf(b, "%s\"depth\":\"%u\"", b->data[b->len - 1] == '{' ? "" : ",", d->depth < DEPTH_MOST ? d->depth : DEPTH_MOST);
	buf_puts(b, "}");
}
