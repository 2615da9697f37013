/* SPDX-License-Identifier: GPL-2.0-or-later */
/* er_kernel: record what the whole system does with its CPUs. */
#include <malloc.h>
#include <stdio.h>

#include "analysis/base/alloc.h"
#include "analysis/base/diag.h"
#include "analysis/base/program.h"
#include "kernel_er/ctl_client.h"
#include "kernel_er/options.h"
#include "kernel_er/preflight.h"
#include "loaders/privilege.h"
#include "user/record/expname.h"
#include "user/record/recording_session.h"

enum { EXIT_USAGE = 2 };

/* Record, or with -n print what would be recorded. Returns the exit status. */
static int record(const struct options *o, struct diag *d)
{
	const struct plan *plan = &o->plan;
	struct expname name = { .dirfd = -1 };
	bool preview = o->action == ACTION_PREVIEW;
	int status = 1;

	if ((preview ? preflight_load(plan, d) : preflight(plan, d)) == 0 &&
	    expname_choose(plan, &name, d) == 0) {
		if (preview || plan->verbose)
			preflight_preview(plan, &name, preview ? stdout : stderr);
		status = preview ? 0 : recording_session_run(plan, &name, d);
	}
	expname_free(&name);
	return status;
}

static int list_counters(void)
{
	uint64_t before = privilege_take(PRIVILEGE_CAPTURE);

	counters_print(stdout, COUNTER_UNITS, capture_try_counter);
	privilege_return(before);
	return 0;
}

static int control(const struct options *o, struct diag *d)
{
	__cleanup(freep) char *request =
		xasprintf("%s%s%s", o->ctl, o->ctl_arg ? " " : "", o->ctl_arg ? o->ctl_arg : "");

	return ctl_client(request, o->ctl_pid, stdout, d);
}

static int perform(const struct options *o, struct diag *d)
{
	switch (o->action) {
	case ACTION_USAGE:
		options_usage(stdout);
		return 0;
	case ACTION_VERSION:
		puts("er_kernel " ER_VERSION);
		return 0;
	case ACTION_CHECK:
		return preflight_check();
	case ACTION_COUNTERS:
		return list_counters();
	case ACTION_CTL:
		return control(o, d);
	case ACTION_PREVIEW:
	case ACTION_RECORD:
		break;
	}
	return record(o, d);
}

/*
 * Keep freed memory instead of returning it to the kernel: the symbols of one binary can reuse the
 * memory of the last one's. A new page takes 2 us, and archiving the programs of one compiler run
 * needed 3,000 of them.
 */
static void keep_memory(void)
{
	mallopt(M_MMAP_THRESHOLD, 16 << 20);
	mallopt(M_TRIM_THRESHOLD, 32 << 20);
}

int main(int argc, char **argv)
{
	struct diag d = { .prefix = "er_kernel", .journal = diag_in_journal() };
	struct options options;
	int status = program_begin(d.prefix);

	if (status)
		return status;
	if (privilege_begin(&d) < 0)
		return 1;
	keep_memory();
	status = EXIT_USAGE;
	if (options_parse(argc, argv, &options, &d) == 0)
		status = perform(&options, &d);
	options_free(&options);
	return program_end(d.prefix, status);
}
