/* SPDX-License-Identifier: GPL-2.0-or-later */
/* er_kernel: record what the whole system does with its CPUs. */
#include <malloc.h>
#include <stdio.h>

#include "analysis/base/diag.h"
#include "analysis/base/program.h"
#include "kernel_er/load.h"
#include "kernel_er/names.h"
#include "kernel_er/options.h"
#include "kernel_er/preflight.h"
#include "kernel_er/session.h"

enum { EXIT_USAGE = 2 };

static int preview(const struct plan *plan, struct diag *d)
{
	struct expname name = { .dirfd = -1 };
	int err = plan->load ? load_check(plan->load, d) : 0;

	if (!err)
		err = expname_choose(plan, &name, d);
	if (!err)
		preflight_preview(plan, &name, stdout);
	expname_free(&name);
	return err ? 1 : 0;
}

static int perform(const struct plan *plan, struct diag *d)
{
	switch (plan->action) {
	case ACTION_USAGE:
		options_usage(stdout);
		return 0;
	case ACTION_VERSION:
		puts("er_kernel " ER_VERSION);
		return 0;
	case ACTION_CHECK:
		return preflight_check();
	case ACTION_COUNTERS:
		counters_print(stdout, COUNTER_UNITS, capture_try_counter);
		return 0;
	case ACTION_PREVIEW:
		return preview(plan, d);
	case ACTION_RECORD:
		break;
	}
	return session_run(plan, d);
}

/*
 * What is freed is used again in place of being given back: the symbols of one binary
 * have room where those of the one before had it. A fresh page takes 2 us, and to archive
 * what a compiler had run asked for 3,000 of them.
 */
static void keep_memory(void)
{
	mallopt(M_MMAP_THRESHOLD, 16 << 20);
	mallopt(M_TRIM_THRESHOLD, 32 << 20);
}

int main(int argc, char **argv)
{
	struct diag d = { .prefix = "er_kernel" };
	struct plan plan;
	int status = program_begin(d.prefix);

	if (status)
		return status;
	keep_memory();
	status = EXIT_USAGE;
	if (options_parse(argc, argv, &plan, &d) == 0)
		status = perform(&plan, &d);
	options_free(&plan);
	return program_end(d.prefix, status);
}
