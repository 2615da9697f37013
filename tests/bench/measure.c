/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * measure [-t] FILE COMMAND…: runs the command and writes one line to FILE: elapsed seconds, CPU
 * seconds, peak resident kilobytes, exit status. They include the children that the command
 * waited for. The kilobytes are those of the process that has most.
 *
 * With -t they are those of the command and its children together, shared pages once, as seen 20
 * times a second. To look takes time, so the times are not to be used then.
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

/* Kilobytes of a process, of which shared pages count in parts. */
static long pss_of(pid_t pid)
{
	char path[64], line[128];
	long kb = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/smaps_rollup", pid);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "Pss: %ld", &kb) == 1)
			break;
	if (f)
		fclose(f);
	return kb;
}

/* Kilobytes of a process and of its children. */
static long together(pid_t pid)
{
	char path[64];
	long kb = pss_of(pid);
	int child;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", pid, pid);
	f = fopen(path, "re");
	while (f && fscanf(f, "%d", &child) == 1)
		kb += pss_of(child);
	if (f)
		fclose(f);
	return kb;
}

/* Wait for the end of the process. Returns the most kilobytes that were seen, -1: it cannot be waited for. */
static long watch(pid_t pid, int *status, struct rusage *ru)
{
	struct timespec turn = { .tv_nsec = 50 * 1000 * 1000 };
	long most = 0, kb;
	pid_t ended;

	while (!(ended = wait4(pid, status, WNOHANG, ru))) {
		kb = together(pid);
		most = kb > most ? kb : most;
		nanosleep(&turn, NULL);
	}
	return ended == pid ? most : -1;
}

int main(int argc, char **argv)
{
	int all = argc > 1 && !strcmp(argv[1], "-t"), status;
	struct rusage ru;
	double start = now();
	pid_t pid;
	long kb;
	FILE *f;

	argv += all;
	argc -= all;
	pid = argc > 2 ? fork() : -1;
	if (pid == 0) {
		execvp(argv[2], argv + 2);
		fprintf(stderr, "measure: '%s': cannot run: %s\n", argv[2], strerror(errno));
		_exit(127);
	}
	if (pid < 0)
		return 2;
	kb = all ? watch(pid, &status, &ru) : wait4(pid, &status, 0, &ru) == pid ? ru.ru_maxrss : -1;
	f = kb < 0 ? NULL : fopen(argv[1], "w");
	if (!f)
		return 2;
	fprintf(f, "%.4f %.4f %ld %d\n", now() - start,
		seconds(ru.ru_utime) + seconds(ru.ru_stime), kb,
		WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
	return fclose(f) ? 2 : 0;
}
