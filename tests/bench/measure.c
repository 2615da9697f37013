/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * measure FILE COMMAND…: runs the command and writes one line to FILE: elapsed seconds, CPU
 * seconds, peak resident kilobytes, exit status. They include the children that the command
 * waited for.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec + ts.tv_nsec / 1e9;
}

static double seconds(struct timeval tv)
{
	return tv.tv_sec + tv.tv_usec / 1e6;
}

int main(int argc, char **argv)
{
	struct rusage ru;
	int status;
	double start = now();
	pid_t pid = argc > 2 ? fork() : -1;

	if (pid == 0) {
		execvp(argv[2], argv + 2);
		fprintf(stderr, "measure: '%s': cannot run: %s\n", argv[2], strerror(errno));
		_exit(127);
	}
	if (pid < 0 || wait4(pid, &status, 0, &ru) != pid)
		return 2;

	FILE *f = fopen(argv[1], "w");

	if (!f)
		return 2;
	fprintf(f, "%.4f %.4f %ld %d\n", now() - start,
		seconds(ru.ru_utime) + seconds(ru.ru_stime), ru.ru_maxrss,
		WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
	return fclose(f) ? 2 : 0;
}
