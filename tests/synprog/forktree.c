/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * forktree children execs seconds
 *
 * Forks two kinds of processes. `children` processes burn CPU time in child_work. `execs` processes
 * execute this program again under the name "treeleaf" and burn CPU time in exec_work. Meanwhile
 * the parent burns CPU time in parent_work. Each process prints "name:pid" and its CPU time.
 */
#include <sys/wait.h>

#include "tests/synprog/truth.h"

TRUTH_BURNER(parent_work)
TRUTH_BURNER(child_work)
TRUTH_BURNER(exec_work)

static void start_child(double seconds)
{
	double cpu = 0;

	if (truth_fork())
		return;
	child_work(&cpu, seconds);
	truth_say_id("child", getpid(), cpu);
	_exit(0);
}

static void start_exec(const char *seconds)
{
	if (truth_fork())
		return;
	char self[4096];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	self[n > 0 ? n : 0] = 0;
	execl(self, "treeleaf", "--leaf", seconds, (char *)NULL);
	truth_die("exec");
}

int main(int argc, char **argv)
{
	double cpu = 0;

	if (argc == 3 && !strcmp(argv[1], "--leaf")) {
		exec_work(&cpu, atof(argv[2]));
		truth_say_id("exec", getpid(), cpu);
		return 0;
	}
	if (argc != 4)
		return 2;
	for (int i = 0; i < atoi(argv[1]); i++)
		start_child(atof(argv[3]));
	for (int i = 0; i < atoi(argv[2]); i++)
		start_exec(argv[3]);
	parent_work(&cpu, atof(argv[3]));
	while (wait(NULL) > 0 || errno == EINTR)
		;
	truth_say_id("parent", getpid(), cpu);
	truth_say_usage("", RUSAGE_SELF);
	truth_say_usage("children-", RUSAGE_CHILDREN);
	return 0;
}
