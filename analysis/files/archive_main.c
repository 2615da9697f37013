/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The command line of er_archive. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/diag.h"
#include "analysis/base/regex.h"
#include "analysis/files/archiver.h"
#include "analysis/files/cmdline.h"
#include "analysis/files/operand.h"
#include "analysis/files/tool.h"

static int set_what(void *settings, const char *arg, struct diag *d)
{
	static const struct {
		const char *word;
		bool nothing, objects, sources, used;
	} words[] = {
		{ "off", .nothing = true },
		{ "on", .objects = true, .sources = true },
		{ "ldobjects", .objects = true },
		{ "src", .sources = true },
		{ "usedldobjects", .objects = true, .used = true },
		{ "usedsrc", .sources = true, .used = true },
	};
	struct archive_plan *plan = settings;

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (strcmp(words[i].word, arg))
			continue;
		plan->nothing = words[i].nothing;
		plan->objects = words[i].objects;
		plan->sources = words[i].sources;
		plan->only_used = words[i].used;
		plan->mode = ARCHIVE_COPY;
		return 0;
	}
	return diag_error(d, "-a '%s': write off, on, ldobjects, src, usedldobjects or usedsrc", arg);
}

static int set_copies(void *settings, const char *arg, struct diag *d)
{
	return set_what(settings, "ldobjects", d);
}

static int set_only_founder(void *settings, const char *arg, struct diag *d)
{
	((struct archive_plan *)settings)->only_founder = true;
	return 0;
}

static int set_quiet(void *settings, const char *arg, struct diag *d)
{
	((struct archive_plan *)settings)->quiet = true;
	return 0;
}

static int set_force(void *settings, const char *arg, struct diag *d)
{
	((struct archive_plan *)settings)->force = true;
	return 0;
}

static int set_common(void *settings, const char *arg, struct diag *d)
{
	struct archive_plan *plan = settings;

	free(plan->common);
	plan->common = realpath(arg, NULL);
	return plan->common ? 0 : diag_errno(d, errno, "-d '%s': cannot open", arg);
}

static int set_only(void *settings, const char *arg, struct diag *d)
{
	struct archive_plan *plan = settings;
	char why[128];
	int err;

	if (plan->has_only)
		regfree(&plan->only);
	err = regex_compile(&plan->only, arg);
	plan->has_only = !err;
	if (!err)
		return 0;
	regerror(err, &plan->only, why, sizeof(why));
	return diag_error(d, "-m '%s': not a regular expression: %s", arg, why);
}

static int archive_one(void *plan, const char *path, struct diag *d)
{
	return archive_experiment(path, plan, d);
}

static const struct tool_option options[] = {
	{ 'n', NULL, "archive for this experiment only, not for its descendants", set_only_founder },
	{ 'q', NULL, "no warnings; they are in archive.log of the experiment", set_quiet },
	{ 'A', NULL, "copy whole load objects, like -a ldobjects", set_copies },
	{ 'F', NULL, "replace existing archives; ignored with -n and -m", set_force },
	{ 'a', "what", "copy: off, on, ldobjects, src, usedldobjects, usedsrc", set_what },
	{ 'd', "directory", "keep the files in this directory, for many experiments", set_common },
	{ 'm', "regex", "only files whose path matches", set_only },
};

int archive_main(int argc, char **argv)
{
	static const char *const synopses[] = {
		"[-nqAF] [-a what] [-d directory] [-m regex] experiment.er|group.erg...", NULL };
	const struct tool t = { .name = "er_archive", .synopses = synopses, .options = options,
				.noptions = sizeof(options) / sizeof(options[0]),
				.min_operands = 1 };
	struct diag d = { .prefix = t.name };
	struct archive_plan plan = { .objects = true, .mode = ARCHIVE_SYMBOLS };
	struct operands o;
	int status = tool_parse(&t, argc, argv, &plan, &o, &d), err = 0;

	if (status == TOOL_RUN) {
		tool_catch_signals();
		for (size_t i = 0; i < o.n && !tool_stop; i++)
			err |= operand_each(o.v[i], archive_one, &plan, &d);
		status = err || tool_stop ? 1 : 0;
	}
	free(plan.common);
	if (plan.has_only)
		regfree(&plan.only);
	return status;
}
