/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * threadexec SECONDS COMMAND [ARGUMENT…]: a second thread computes for so long and then executes
 * the command. The kernel ends the main thread and gives its number to the second one.
 */
#include <pthread.h>

#include "tests/synprog/truth.h"

TRUTH_BURNER(before_exec)

static void *execute(void *argv)
{
	char **command = (char **)argv + 2;
	double cpu = 0;

	before_exec(&cpu, atof(((char **)argv)[1]));
	execvp(command[0], command);
	truth_die(command[0]);
}

int main(int argc, char **argv)
{
	pthread_t thread;

	if (argc < 3) {
		fprintf(stderr, "usage: threadexec SECONDS COMMAND [ARGUMENT…]\n");
		return 2;
	}
	if (pthread_create(&thread, NULL, execute, argv))
		truth_die("pthread_create");
	pthread_join(thread, NULL);
	return 1;
}
