/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Children that do something under a capture, and tell of it. */
#ifndef TOLD_H
#define TOLD_H

#include <sys/mman.h>

#include "tests/live/taken.h"

/* What a child tells: in shared memory. */
static struct told {
	uint32_t tid;
	uint64_t a_ns, b_ns;
	uint32_t n;
} * told;

static inline pid_t child(void (*work)(void))
{
	pid_t pid;

	memset(told, 0, sizeof(*told));
	pid = fork();
	if (!pid) {
		work();
		_exit(0);
	}
	return pid;
}

/* Until the child sleeps: on a machine with much else to do it comes to that late. */
static inline void wait_asleep(pid_t pid)
{
	char path[64], state = 0;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	do {
		FILE *f = fopen(path, "re");

		sleep_ms(1);
		if (!f || fscanf(f, "%*d (%*[^)]) %c", &state) != 1)
			state = 'S'; /* it has gone: there is nothing to wait for */
		if (f)
			fclose(f);
	} while (state != 'S');
}

/* Before the first child. */
static inline void told_init(void)
{
	told = mmap(NULL, sizeof(*told), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
}

#endif
