/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A whole experiment, in the form of pack.h, with every command run on it. */
#include "tests/fuzz/target.h"

#include "tests/fuzz/pack.h"
#include "tests/fuzz/report.h"

static char *dir;

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	dir = pack_path();
	report_quietly();
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	pack_write(dir, data, size);
	report_experiment(dir);
	return 0;
}
