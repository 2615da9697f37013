/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fates FILE SECONDS FATE
 *
 * Burns CPU time in burn, writes its own CPU time by getrusage into FILE ("cpu<TAB>seconds"), and
 * meets its fate: exit (with status 5), segv, kill (by SIGKILL), usr1 (waits for this signal and
 * exits with status 6). Before it burns: close (closes all descriptors), daemon (goes to the
 * background). Instead of burning: threads (starts 40, one after the other, each for 50 ms).
 */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>

#include "tests/synprog/truth.h"

TRUTH_BURNER(burn)

enum { NTHREADS = 40, ALL = 1024 };

static void *short_thread(void *unused)
{
	double cpu = 0;

	burn(&cpu, 0.05);
	return unused;
}

static void run_threads(void)
{
	for (int i = 0; i < NTHREADS; i++) {
		pthread_t thread;

		if (pthread_create(&thread, NULL, short_thread, NULL) || pthread_join(thread, NULL))
			_exit(1);
	}
}

static void on_usr1(int sig)
{
	_exit(sig == SIGUSR1 ? 6 : 1);
}

/* Not by standard output, which may be closed. */
static void write_usage(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);

	if (fd < 0 || (fd != STDOUT_FILENO && dup2(fd, STDOUT_FILENO) < 0))
		_exit(1);
	truth_say_usage("", RUSAGE_SELF);
}

static void meet(const char *fate)
{
	if (!strcmp(fate, "segv"))
		*(volatile int *)8 = 0;
	if (!strcmp(fate, "kill"))
		kill(getpid(), SIGKILL);
	if (!strcmp(fate, "usr1"))
		pause();
	_exit(!strcmp(fate, "exit") ? 5 : 0);
}

int main(int argc, char **argv)
{
	double cpu = 0;

	if (argc != 4) {
		fprintf(stderr, "usage: fates FILE SECONDS FATE\n");
		return 2;
	}
	signal(SIGUSR1, on_usr1);
	for (int fd = 0; fd < ALL && !strcmp(argv[3], "close"); fd++)
		close(fd);
	if (!strcmp(argv[3], "daemon") && daemon(1, 0))
		return 1;
	if (!strcmp(argv[3], "threads"))
		run_threads();
	else
		burn(&cpu, atof(argv[2]));
	write_usage(argv[1]);
	meet(argv[3]);
}
