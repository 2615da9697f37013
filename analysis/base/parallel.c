/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/base/parallel.h"

#include <pthread.h>
#include <stdbool.h>
#include <unistd.h>

struct part {
	void (*fn)(void *ctx, size_t i);
	void *ctx;
	size_t i;
	pthread_t thread;
	bool started;
};

size_t parallel_parts(void)
{
	long ncpus = sysconf(_SC_NPROCESSORS_ONLN);

	return ncpus < 1 ? 1 : ncpus > PARALLEL_MAX ? PARALLEL_MAX : ncpus;
}

static void *part_run(void *arg)
{
	struct part *p = arg;

	p->fn(p->ctx, p->i);
	return NULL;
}

/* Part 0 runs in this thread, and so does each part whose thread cannot be created. */
void parallel_run(void (*fn)(void *ctx, size_t i), void *ctx, size_t n)
{
	struct part parts[PARALLEL_MAX];

	for (size_t i = 0; i < n; i++) {
		parts[i] = (struct part){ .fn = fn, .ctx = ctx, .i = i };
		if (i)
			parts[i].started =
				!pthread_create(&parts[i].thread, NULL, part_run, &parts[i]);
	}
	for (size_t i = 0; i < n; i++) {
		if (parts[i].started)
			pthread_join(parts[i].thread, NULL);
		else
			part_run(&parts[i]);
	}
}
