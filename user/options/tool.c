/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "user/options/tool.h"

#include <errno.h>
#include <malloc.h>
#include <stdio.h>

#include "analysis/base/diag.h"
#include "analysis/base/program.h"
#include "loaders/privilege.h"
#include "user/options/own_output.h"
#include "user/options/preflight.h"
#include "user/options/unprivileged.h"
#include "user/record/expname.h"
#include "user/record/recording_session.h"

enum { EXIT_USAGE = 2, EXIT_CANNOT_RUN = 126, EXIT_NOT_FOUND = 127 };

/* As env(1) and nohup(1) do: `err` is preflight's. er_kernel has no status of the load's then. */
static int status_of(const struct plan *plan, int err)
{
	if (!plan->program || (err != -ENOENT && err != -EACCES))
		return 1;
	return err == -ENOENT ? EXIT_NOT_FOUND : EXIT_CANNOT_RUN;
}

/* Record, or with -n print what would be recorded. Returns the exit status. */
static int record(struct options *o, int *load_signal, struct diag *d)
{
	const struct plan *plan = &o->plan;
	struct expname name = { .dirfd = -1 };
	bool preview = o->action == ACTION_PREVIEW;
	int err, status = 1;

	if (!privilege_captures() && plan->program && unprivileged_plan(&o->plan, d) < 0)
		return 1;
	if (o->output && (preview ? own_output_check(o->output, d) : own_output_to(o->output, o->plan.load_fds, d)) < 0)
		return 1;
	if (!preview)
		preflight_clock(&o->plan, d);
	err = preview ? preflight_named(plan, d) : preflight(plan, d);
	if (err)
		return status_of(plan, err);
	preflight_locks(&o->plan);
	if (preflight_probes(&o->plan, d) == 0 && preflight_heap(&o->plan, d) == 0 &&
	    expname_choose(plan, &name, d) == 0) {
		if (preview || plan->verbose)
			preflight_preview(plan, &name, preview ? stdout : stderr);
		status = preview ? 0 : recording_session_run(plan, &name, d, load_signal);
	}
	expname_free(&name);
	return status;
}

int tool_list_counters(void)
{
	uint64_t before = privilege_take(PRIVILEGE_CAPTURE);

	counters_print(stdout, COUNTER_UNITS, capture_try_counter);
	privilege_return(before);
	return 0;
}

static int check(enum recorder recorder)
{
	int status = preflight_check();

	if (recorder != COLLECT || privilege_captures())
		return status;
	unprivileged_say(stdout);
	return 0;
}

static int perform(const struct tool *t, struct options *o, int *load_signal, struct diag *d)
{
	switch (o->action) {
	case ACTION_SUMMARY:
		if (t->summary)
			return t->summary();
		/* fall through */
	case ACTION_USAGE:
		options_usage(t->recorder, stdout);
		return 0;
	case ACTION_VERSION:
		printf("%s %s\n", t->name, ER_VERSION);
		return 0;
	case ACTION_CHECK:
		return check(t->recorder);
	case ACTION_COUNTERS:
		return tool_list_counters();
	case ACTION_CTL:
		return t->control(o, d);
	case ACTION_PREVIEW:
	case ACTION_RECORD:
		break;
	}
	return record(o, load_signal, d);
}

/*
 * Keep freed memory instead of returning it to the kernel: the symbols of one binary can reuse the
 * memory of the last one's. A new page takes 2 us, and archiving the programs of one compiler run
 * needed 3,000 of them. But large blocks are returned at once: a table that doubles would leave half
 * of itself behind each time, in holes between small blocks. After ten minutes of a build beside a
 * server the heap was 48 MB, and is 11 without these holes.
 */
void tool_keep_memory(void)
{
	mallopt(M_MMAP_THRESHOLD, 1 << 20);
	mallopt(M_TRIM_THRESHOLD, 4 << 20);
}

int tool_main(const struct tool *t, int argc, char **argv, int *load_signal)
{
	struct diag d = { .prefix = t->name, .journal = diag_in_journal() };
	struct options options;
	int status = program_begin(d.prefix);

	if (status)
		return status;
	if (privilege_begin(&d) < 0)
		return 1;
	tool_keep_memory();
	status = EXIT_USAGE;
	if (options_parse(t->recorder, argc, argv, &options, &d) == 0)
		status = perform(t, &options, load_signal, &d);
	options_free(&options);
	return program_end(d.prefix, status);
}
