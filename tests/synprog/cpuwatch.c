/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cpuwatch PID/task/TID: prints a thread's CPU time every 10 ms, until the thread is gone. A
 * line has CLOCK_MONOTONIC and the kernel's figure (schedstat, accurate to a tick), both in
 * seconds.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { EVERY_NS = 10000000 };

int main(int argc, char **argv)
{
	const struct timespec pause = { .tv_nsec = EVERY_NS };
	char path[64], text[128];
	int fd;

	if (argc != 2) {
		fprintf(stderr, "usage: cpuwatch PID/task/TID\n");
		return 2;
	}
	snprintf(path, sizeof(path), "/proc/%s/schedstat", argv[1]);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	for (;;) {
		struct timespec now;
		ssize_t n = pread(fd, text, sizeof(text) - 1, 0);

		if (n <= 0)
			return 0;
		text[n] = 0;
		clock_gettime(CLOCK_MONOTONIC, &now);
		printf("%ld.%09ld %.9f\n", (long)now.tv_sec, now.tv_nsec, strtod(text, NULL) / 1e9);
		fflush(stdout);
		nanosleep(&pause, NULL);
	}
}
