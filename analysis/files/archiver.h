/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a reader elsewhere needs goes into archives/ of the founder. By default
 * that is the names of functions (symbol files); copies of the files bring
 * disassembly, and of the sources annotated source.
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
	bool only_used;    /* those that a recorded stack leads through */
	bool only_founder; /* what the founder mentions, not what its descendants do */
	bool quiet;        /* warnings go into archive.log of the experiment alone */
	bool force;        /* write what is there again, whatever machine it is of */
	enum archive_mode mode;
	char *common; /* absolute path of a directory for many experiments, NULL none */
	regex_t only; /* paths, if has_only */
	bool has_only;
};

/* 0, also after warnings, or -1 after reporting. */
int archive_experiment(const char *path, const struct archive_plan *plan, struct diag *d);

/*
 * What er_print does when it opens an experiment whose recorder came to no end:
 * archive the names of its functions, if that was not done, it is of this machine
 * and nobody records any more. True when something was archived now. Silent.
 */
bool archive_abandoned(const struct experiment *e);

#endif
