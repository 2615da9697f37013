/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/command/exporting.h"

#include <ctype.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/buf.h"
#include "analysis/base/interrupt.h"
#include "analysis/command/command.h"
#include "analysis/command/shell.h"
#include "analysis/export/export.h"
#include "analysis/export/outfile.h"
#include "analysis/metrics/filter.h"
#include "analysis/model/source.h"

struct exporting {
	const struct exporter *exporter;
	const char *output;  /* as given; NULL: named after the experiment */
	const char *metric;  /* keyword; NULL: default */
	const char *root;    /* as given; NULL: none */
	bool redact, no_source;
	const char *page_size; /* as given; NULL: the default */
	uint64_t page_bytes;
	enum export_root root_kind;
};

/* Commands of er_print, besides filters and selections, that change what is exported. */
static const char *const taken[] = {
	"name", "viewmode", "inlines", "object_show", "object_hide", "object_api", "object_select",
	"setpath", "addpath", "pathmap", "compare",
};

static bool takes(const struct command *c)
{
	for (size_t i = 0; i < sizeof(taken) / sizeof(taken[0]); i++) {
		if (!strcmp(taken[i], c->name))
			return true;
	}
	return c->filters;
}

/* The formats as "a, b and c", or as a line each with its help. */
static void put_formats(struct buf *b, bool lines)
{
	const struct exporter *e;

	for (size_t i = 0; (e = exporter_at(i)); i++) {
		if (lines)
			buf_printf(b, "      %-12s %s\n", e->name, e->help);
		else
			buf_printf(b, "%s%s", !i ? "" : exporter_at(i + 1) ? ", " : " and ",
				   e->name);
	}
}

static void put_usage(struct buf *b)
{
	buf_puts(b, "usage: er_export [-V] [-h] experiment.er|group.erg...\n"
		    "       er_export --to format [-o file] [--metric keyword] [--root what]\n"
		    "                 [--redact] [--no-source] [--page-size size]\n"
		    "                 [option of er_print]... [experiment.er|group.erg]...\n"
		    "  Without --to: print the raw data as text. With it: write a file for\n"
		    "  another program, of the newest experiment here if none is named.\n"
		    "  --to format       ");
	buf_puts(b, "one of\n");
	put_formats(b, true);
	buf_puts(b, "  -o file           write this file; - is standard output\n"
		    "  --metric keyword  weight stacks by this metric of er_print -metric_list\n"
		    "  --root what       begin each stack with its state, reason or process\n"
		    "  --redact          leave out paths, command lines and host names\n"
		    "  --no-source       leave out source text and instructions\n"
		    "  --page-size size  make a page's timeline coarser beyond this size (default\n"
		    "                    32M; 0: never)\n"
		    "  -h                print this\n"
		    "  -V                print the version\n"
		    "  Options of er_print:");
	for (size_t i = 0, n = 0; command_at(i); i++) {
		if (takes(command_at(i)))
			buf_printf(b, "%s -%s", n++ % 6 ? "" : "\n   ", command_at(i)->name);
	}
	buf_puts(b, "\n");
}

static int set_format(struct exporting *x, const char *word, struct diag *d)
{
	__cleanup(buf_free) struct buf known = { 0 };

	x->exporter = exporter_find(word);
	if (x->exporter)
		return 0;
	put_formats(&known, false);
	return diag_error(d, "--to '%s': unknown format: there are %s", word, known.data);
}

static int set_root(struct exporting *x, const char *word, struct diag *d)
{
	x->root = word;
	if (!export_root_parse(word, &x->root_kind))
		return 0;
	return diag_error(d, "--root '%s': unknown: there are state, reason and process", word);
}

static int set_metric(struct exporting *x, const char *word, struct diag *d)
{
	x->metric = word;
	return 0;
}

static int set_output(struct exporting *x, const char *word, struct diag *d)
{
	x->output = word;
	return *word ? 0 : diag_error(d, "-o: needs the name of a file; - is standard output");
}

static int set_redact(struct exporting *x, const char *word, struct diag *d)
{
	x->redact = true;
	return 0;
}

static int set_no_source(struct exporting *x, const char *word, struct diag *d)
{
	x->no_source = true;
	return 0;
}

/* A number with one of the suffixes k, M and G. */
static int set_page_size(struct exporting *x, const char *word, struct diag *d)
{
	static const char units[] = "kMG";
	unsigned long long n;
	const char *unit;
	char *end;

	errno = 0;
	n = strtoull(word, &end, 10);
	unit = *end ? strchr(units, *end) : NULL;
	if (!isdigit((unsigned char)*word) || errno || (*end && (!unit || end[1])) || n >> 32)
		return diag_error(d, "--page-size '%s': not a size: write a number with k, M or G, "
				  "such as 32M; 0 sets no limit", word);
	x->page_size = word;
	x->page_bytes = n << (unit ? 10 * (unit - units + 1) : 0);
	return 0;
}

static const struct own_option {
	const char *name;
	int (*set)(struct exporting *x, const char *word, struct diag *d);
	bool alone; /* takes no word */
} own_options[] = {
	{ "to", set_format, false }, { "o", set_output, false }, { "metric", set_metric, false },
	{ "root", set_root, false }, { "redact", set_redact, true },
	{ "no-source", set_no_source, true }, { "page-size", set_page_size, false },
};

/* One of our own options; NULL: none. er_print's -to takes a time, which begins with a digit. */
static const struct own_option *own_option(int argc, char **argv)
{
	const char *name = argv[0] + (argv[0][0] == '-') + !strncmp(argv[0], "--", 2);

	if (argv[0][0] != '-')
		return NULL;
	for (size_t i = 0; i < sizeof(own_options) / sizeof(own_options[0]); i++) {
		if (strcmp(own_options[i].name, name))
			continue;
		if (!i && argc > 1 && isdigit((unsigned char)argv[1][0]))
			return NULL;
		return &own_options[i];
	}
	return NULL;
}

static int take_option(void *ctx, int argc, char **argv, struct diag *d)
{
	const struct own_option *o = own_option(argc, argv);

	if (!o)
		return 0;
	if (o->alone)
		return o->set(ctx, NULL, d) ? -1 : 1;
	if (argc < 2)
		return diag_error(d, "%s: needs an argument: see er_export -h", argv[0]);
	return o->set(ctx, argv[1], d) ? -1 : 2;
}

/* The experiment's name, in the current directory, with the format's suffix in place of ".er". */
static char *default_output(const struct shell *sh, const struct exporter *e)
{
	char *path = xstrdup(sh->paths.data[0]), *ret;
	size_t n = strlen(path);
	const char *name;

	while (n > 1 && path[n - 1] == '/')
		path[--n] = '\0';
	name = base_name(path);
	n = strlen(name);
	if (is_experiment_name(name) || is_group_name(name))
		n = strrchr(name, '.') - name;
	ret = xasprintf("%.*s%s", (int)n, name, e->suffix);
	free(path);
	return ret;
}

static int write_file(const struct exporter *e, const struct export *x, const char *path)
{
	struct outfile out;

	if (outfile_open(&out, path, e->gzip, x->diag))
		return -1;
	if (e->write(x, &out) || interrupt_pending()) {
		outfile_abandon(&out);
		return -1;
	}
	return outfile_commit(&out, x->diag);
}

/* With what the shell says of the filter. */
static int write_to(struct shell *sh, const struct exporter *e, struct export *x, const char *path)
{
	struct filter *threads = shell_filter_without_times(sh);
	int err;

	x->threads = threads;
	x->from_ns = shell_time(sh, FILTER_FROM, 0);
	x->to_ns = shell_time(sh, FILTER_TO, INT64_MAX);
	err = write_file(e, x, path);
	filter_free(threads);
	return err;
}

int exporting_write(struct shell *sh, const struct exporter *e, const char *path)
{
	struct export x = { .view = &sh->view, .diag = &sh->diag,
			    .page_size = PAGE_SIZE_DEFAULT };

	return write_to(sh, e, &x, path);
}

static int write_export(struct shell *sh, const struct exporting *ex, struct export *x)
{
	__cleanup(freep) char *name = ex->output ? xstrdup(ex->output) :
						   default_output(sh, ex->exporter);

	if (write_to(sh, ex->exporter, x, name))
		return -1;
	if (!ex->output)
		diag_note(x->diag, "wrote '%s'", name);
	return 0;
}

/* Whether the options go together. 0, or -1 after reporting. */
static int check(struct shell *sh, const struct exporting *ex)
{
	if (!ex->exporter)
		return diag_error(&sh->diag,
				  "no format is named: add --to and one of er_export -h");
	if (!ex->exporter->weighted && (ex->metric || ex->root))
		return diag_error(&sh->diag, "--%s: has no meaning for %s, which has all times and "
				  "states", ex->metric ? "metric" : "root", ex->exporter->name);
	if (ex->redact && !ex->exporter->redacts)
		return diag_error(&sh->diag, "--redact: %s cannot leave anything out: only page "
				  "can", ex->exporter->name);
	if (ex->no_source && !ex->exporter->redacts)
		return diag_error(&sh->diag, "--no-source: %s has no source text: only page has",
				  ex->exporter->name);
	if (ex->page_size && !ex->exporter->redacts)
		return diag_error(&sh->diag, "--page-size: %s has no timeline to make coarser: "
				  "only page has", ex->exporter->name);
	return 0;
}

static int finish(struct shell *sh, void *ctx)
{
	const struct exporting *ex = ctx;
	struct export x = { .view = &sh->view, .root = ex->root_kind,
			    .redact = ex->redact, .no_source = ex->no_source,
			    .page_size = ex->page_size ? ex->page_bytes : PAGE_SIZE_DEFAULT,
			    .diag = &sh->diag };

	if (check(sh, ex))
		return -EINVAL;
	if (ex->exporter->weighted) {
		x.metric = export_metric(&sh->view, ex->metric, x.root, &sh->diag);
		if (!x.metric)
			return ex->metric ? -EINVAL : -1;
	}
	return write_export(sh, ex, &x);
}

bool exporting_asked(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		if (own_option(argc - i, argv + i) || !strcmp(argv[i], "-h") ||
		    !strcmp(argv[i], "--help"))
			return true;
	}
	return false;
}

static bool has_word(int argc, char **argv, const char *a, const char *b)
{
	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], a) || !strcmp(argv[i], b))
			return true;
	}
	return false;
}

static int run(const struct front *f, FILE *nowhere, int argc, char **argv)
{
	struct shell sh;
	int status;

	shell_init(&sh, "er_export", NULL);
	/* A selection command lists what is selected. An export must not print that. */
	printer_set_file(&sh.printer, nowhere, false);
	status = shell_main_front(&sh, f, argc, argv);
	shell_fini(&sh);
	return sh.interrupted ? -SIGINT : status;
}

int exporting_main(int argc, char **argv)
{
	__cleanup(buf_free) struct buf usage = { 0 };
	struct diag d = { .prefix = "er_export" };
	struct exporting x = { 0 };
	struct front f = { .takes = takes, .option = take_option, .finish = finish, .ctx = &x };
	FILE *nowhere;
	int status;

	put_usage(&usage);
	f.usage = usage.data;
	if (has_word(argc, argv, "-h", "--help")) {
		fputs(usage.data, stdout);
		return 0;
	}
	if (!has_word(argc, argv, "-to", "--to")) {
		diag_error(&d, "%s: belongs to an export: name its format with --to", argv[1]);
		return 2;
	}
	nowhere = fopen("/dev/null", "we");
	if (!nowhere) {
		diag_errno(&d, errno, "cannot open /dev/null");
		return 1;
	}
	status = run(&f, nowhere, argc, argv);
	fclose(nowhere);
	return status;
}
