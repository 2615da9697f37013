/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Children that do something during a capture and report it. */
#ifndef CHILD_H
#define CHILD_H

#include <sys/mman.h>

#include "tests/live/thread_records.h"

/* What a child reports, in shared memory. */
static struct child_report {
	uint32_t tid;
	uint64_t a_ns, b_ns;
	uint32_t n;
} * report;

static inline pid_t child(void (*work)(void))
{
	pid_t pid;

	memset(report, 0, sizeof(*report));
	pid = fork();
	if (!pid) {
		work();
		_exit(0);
	}
	return pid;
}

/* Wait until the child sleeps. On a busy machine that may take a while. */
static inline void wait_asleep(pid_t pid)
{
	char path[64], state = 0;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	do {
		FILE *f = fopen(path, "re");

		sleep_ms(1);
		if (!f || fscanf(f, "%*d (%*[^)]) %c", &state) != 1)
			state = 'S'; /* it has ended: there is nothing to wait for */
		if (f)
			fclose(f);
	} while (state != 'S');
}

/* Call this before the first child is started. */
static inline void child_init(void)
{
	report = mmap(NULL, sizeof(*report), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
}

#endif
