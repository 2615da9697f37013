/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Exporters write what an experiment says in the format of another program. They read
 * packets and stacks, not rows of reports, and they apply er_print's filter, selection and
 * name format. An exporter is a row of a table and a file; docs/howto-export.md says how to
 * add one.
 */
#ifndef EXPORT_EXPORT_H
#define EXPORT_EXPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct diag;
struct filter;
struct metric;
struct outfile;
struct view_state;

/* What the root of each stack shows, above its outermost function. */
enum export_root { ROOT_NONE, ROOT_STATE, ROOT_REASON, ROOT_PROCESS };

struct export {
	struct view_state *view;     /* session, metrics, filter and name format; borrowed */
	/*
	 * The filter without its times (from, to); NULL: everything. The times, in nanoseconds since the
	 * start; INT64_MAX: to the end.
	 */
	struct filter *threads;
	int64_t from_ns, to_ns;
	const struct metric *metric; /* the weight of stacks, never a ratio; NULL: not chosen */
	enum export_root root;
	bool redact;                 /* leave out paths, command lines and host names */
	bool no_source;              /* leave out text of source files, and code */
	uint64_t page_size;          /* bytes that a page should have at most; 0: any number */
	struct diag *diag;
};

/* `page_size` unless the user says otherwise: what can be mailed and opens in a second. */
static const uint64_t PAGE_SIZE_DEFAULT = 32 << 20;

struct exporter {
	const char *name;   /* after --to */
	const char *suffix; /* of the file's name, with its dot */
	const char *help;
	bool gzip;          /* the output is compressed */
	bool weighted;      /* uses `metric` and `root`: --metric and --root are allowed */
	bool redacts;       /* heeds `redact`, `no_source` and `page_size` */
	/* Write everything into `out`. Returns 0, or -1 after a report. */
	int (*write)(const struct export *x, struct outfile *out);
};

/* The nth exporter; NULL after the last. The exporter of a name; NULL: there is none. */
const struct exporter *exporter_at(size_t n);
const struct exporter *exporter_find(const char *name);

/* Put the word's root into *ret. Returns 0, or -1 if the word names no root. */
int export_root_parse(const char *word, enum export_root *ret);

/*
 * The metric of this keyword. With NULL the default one: total time if the roots of stacks are
 * states or reasons, else the metric that er_print sorts functions by. Returns NULL after a report.
 */
const struct metric *export_metric(const struct view_state *v, const char *keyword,
				   enum export_root root, struct diag *d);

/* Report that nothing passes the filter. Returns -1. */
int export_nothing(const struct export *x);

/* One row for each exporter, defined in the exporter's own file. */
extern const struct exporter folded_exporter, pprof_exporter, perfetto_exporter,
	speedscope_exporter, firefox_exporter, page_exporter;

#endif
