/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * many processes [parallel [milliseconds]]
 *
 * Runs thousands of short processes, `parallel` of them at a time (default 1); each burns
 * `milliseconds` of CPU time (default none). Prints their number and their cost by getrusage.
 */
#include <sys/wait.h>

#include "tests/synprog/truth.h"

TRUTH_BURNER(short_work)

static void start(double seconds)
{
	double cpu = 0;

	if (truth_fork())
		return;
	if (seconds > 0)
		short_work(&cpu, seconds);
	_exit(0);
}

int main(int argc, char **argv)
{
	if (argc < 2)
		return 2;
	int total = atoi(argv[1]), parallel = argc > 2 ? atoi(argv[2]) : 1, alive = 0;
	double seconds = argc > 3 ? atof(argv[3]) / 1e3 : 0;

	for (int i = 0; i < total; i++) {
		if (alive == parallel && wait(NULL) > 0)
			alive--;
		start(seconds);
		alive++;
	}
	while (wait(NULL) > 0)
		;
	truth_say("processes", total);
	truth_say_usage("", RUSAGE_SELF);
	truth_say_usage("children-", RUSAGE_CHILDREN);
	return 0;
}
