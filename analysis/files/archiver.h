/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Puts the files that a reader on another machine needs into archives/ of the founder. By
 * default these are function names (symbol files). Copies of the object files also allow
 * disassembly, and copies of the sources annotated source.
 */
#ifndef FILES_ARCHIVER_H
#define FILES_ARCHIVER_H

#include <regex.h>
#include <stdbool.h>

#include "analysis/symbols/archive.h"

struct diag;
struct experiment;

struct archive_plan {
	bool nothing;
	bool objects, sources;
	bool only_used;    /* only files with code in a recorded stack */
	bool only_founder; /* only files of the founder, not of its descendants */
	bool quiet;        /* warnings go only into the experiment's archive.log */
	bool force;        /* replace existing archives; accept another machine's experiment */
	enum archive_mode mode;
	char *common; /* absolute path of a directory shared by experiments; NULL: none */
	regex_t only; /* archive only paths that match; valid if has_only */
	bool has_only;
};

/* Returns 0, also after warnings, or -1 after a report. */
int archive_experiment(const char *path, const struct archive_plan *plan, struct diag *d);

/*
 * er_print calls this when it opens an experiment whose recorder did not end properly. Archives
 * the function names if that was not done, the experiment is from this machine and nothing
 * records into it. Returns true if something was archived. Reports nothing.
 */
bool archive_abandoned(const struct experiment *e);

#endif
