/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Marks spans, and prints what a recording must have: "NAME", tab, number. `marked` has three threads,
 * each with 200 spans "request" with the ids 1, 2, …, of which every 50th sleeps for 20 ms, and a span
 * "inner" in each of them, and spans "unasked". `marked wrong` has ends without a begin, begins without
 * an end, and names that are none. `marked cost N` prints the time of a begin and its end in ns. `marked
 * wait FILE` makes spans "request" until the file is gone and "last" more, and has printed "ready" when it
 * has begun.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "er_span.h"

enum { THREADS = 3, REQUESTS = 200, SLOW = 50, ENDS = 7, BEGINS = 5, LAST = 20, LONG_NAME = 65536 };

static const struct timespec slow = { .tv_nsec = 20000000 };

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

static void request(unsigned long id)
{
	er_span_begin("request", id);
	er_span_begin("unasked", id);
	er_span_begin("inner", 1000 + id);
	if (id % SLOW == 0)
		nanosleep(&slow, NULL);
	er_span_end("inner");
	er_span_end("unasked");
	er_span_end("request");
}

static void *serve(void *arg)
{
	for (unsigned long id = 1; id <= REQUESTS; id++)
		request(id);
	return arg;
}

static int threads(void)
{
	pthread_t t[THREADS];

	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&t[i], NULL, serve, NULL))
			return 1;
	for (int i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
	printf("request\t%d\nslow\t%d\nids\t%d\n", THREADS * REQUESTS, THREADS * (REQUESTS / SLOW),
	       THREADS * REQUESTS * (REQUESTS + 1) / 2);
	return 0;
}

/* On the main thread and on a new one. */
static void *do_wrong(void *arg)
{
	char *name = malloc(LONG_NAME);

	memset(name, 'x', LONG_NAME - 1);
	name[LONG_NAME - 1] = 0;
	for (int i = 0; i < ENDS; i++)
		er_span_end("request");
	for (int i = 0; i < BEGINS; i++)
		er_span_begin("request", i);
	er_span_end("request"); /* of the last; the others were left */
	er_span_begin(name, 1);
	er_span_end(name);
	er_span_begin(NULL, 1);
	er_span_end(NULL);
	er_span_begin("", 1);
	er_span_end("");
	er_span_begin("requests", 1);
	er_span_end("reques");
	free(name);
	return arg;
}

static int wrong(void)
{
	pthread_t t;

	do_wrong(NULL);
	if (pthread_create(&t, NULL, do_wrong, NULL))
		return 1;
	pthread_join(t, NULL);
	printf("count\t2\nleft\t%d\nends\t%d\n", 2 * (BEGINS - 1), 2 * ENDS);
	return 0;
}

static int cost(long n)
{
	double begin = seconds();

	for (long i = 0; i < n; i++) {
		er_span_begin("request", i);
		er_span_end("request");
	}
	printf("cost\t%.2f\n", (seconds() - begin) / n * 1e9);
	return 0;
}

static int until_gone(const char *file)
{
	unsigned long id = 0;

	printf("ready\t1\n");
	fflush(stdout);
	while (!access(file, F_OK)) {
		request(++id);
		usleep(1000);
	}
	for (int i = 0; i < LAST; i++)
		request(++id);
	printf("last\t%d\nrequest\t%lu\n", LAST, id);
	return 0;
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";

	if (!strcmp(how, "wrong"))
		return wrong();
	if (!strcmp(how, "cost"))
		return cost(argc > 2 ? atol(argv[2]) : 1);
	if (!strcmp(how, "wait") && argc > 2)
		return until_gone(argv[2]);
	return threads();
}
