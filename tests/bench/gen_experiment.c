/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes an experiment with given numbers of samples, distinct stacks and frames per stack, for
 * measuring readers:
 *
 *	gen_experiment [DIR/]NAME.er [samples [stacks [frames [functions [waits [sites [waiters]]]]]]]
 *
 * By default there are 3,000 functions. Stacks are random, but the same for the same numbers. With
 * `sites`, at most 256, each function has so many calls, each of one function: a stack is a random
 * walk through this graph, so functions × sites pcs are possible. Without, or with 0, any function
 * calls any. It prints the totals that a reader must show. 1,000 threads, or `waiters`, wait for 500
 * locks, for messages from each other, and for a CPU.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/base/alloc.h"
#include "analysis/base/diag.h"
#include "analysis/base/map.h"
#include "analysis/experiment/expwriter.h"

enum { FUNC_SIZE = 256, BASE = 0x100000, PTIMER_US = 1000, FRAMES_MAX = 8000 };

static const uint64_t start_ns = 1000ULL * 1000000000;

static uint64_t random_next(uint64_t *state)
{
	*state += 0x9e3779b97f4a7c15ULL;
	return hash64(*state);
}

static void write_functions(struct expwriter *w, uint64_t nfunctions)
{
	for (uint64_t i = 0; i < nfunctions; i++) {
		char name[32];

		snprintf(name, sizeof(name), "function_%" PRIu64, i);
		expwriter_function(w, start_ns, BASE + (uint64_t)i * FUNC_SIZE, FUNC_SIZE, name);
	}
}

struct shape {
	uint64_t nstacks, nframes, nfunctions;
	uint64_t sites; /* calls of a function; 0: stacks follow no graph */
	uint64_t nwaiters;
};

/* All stacks have the same root; the other frames are random. */
static void random_stack(const struct shape *s, uint64_t *state, uint64_t *pcs)
{
	for (uint64_t i = 0; i < s->nframes; i++)
		pcs[i] = BASE + random_next(state) % s->nfunctions * FUNC_SIZE +
			 random_next(state) % 16;
	pcs[s->nframes - 1] = BASE;
}

/* From the root to the leaf: each call site always calls the same function. */
static void walked_stack(const struct shape *s, uint64_t *state, uint64_t *pcs)
{
	uint64_t func = 0;

	for (uint64_t i = s->nframes; i > 0; i--) {
		uint64_t site = random_next(state) % s->sites;

		pcs[i - 1] = BASE + func * FUNC_SIZE + site * (FUNC_SIZE / s->sites);
		func = hash64(func << 8 | site) % s->nfunctions;
	}
}

static void write_stacks(struct expwriter *w, const struct shape *s)
{
	uint64_t state = 1, pcs[FRAMES_MAX];

	for (uint64_t id = 1; id <= s->nstacks; id++) {
		if (s->sites)
			walked_stack(s, &state, pcs);
		else
			random_stack(s, &state, pcs);
		expwriter_stack(w, id, pcs, s->nframes);
		if (expwriter_pending(w) > 1 << 20)
			expwriter_flush(w);
	}
}

static void write_samples(struct expwriter *w, uint64_t nsamples, uint64_t nstacks)
{
	uint64_t state = 2;

	for (uint64_t i = 0; i < nsamples; i++) {
		uint64_t r = random_next(&state);

		expwriter_clock(w, &(struct clock_packet){
			.lwp = 100 + i % 8, .thread = 100 + i % 8, .cpu = i % 4,
			.time_ns = start_ns + i * 10000, .stack = 1 + r % nstacks,
			.state = r >> 60 ? MS_USER : MS_SYSTEM, .nticks = 1, .seq = i / 4 });
		if (expwriter_pending(w) > 1 << 20)
			expwriter_flush(w);
	}
}

enum { LOCKS = 500, FIRST_WAITER = 1000 };

static void write_wait(struct expwriter *w, uint64_t i, uint64_t r, const struct shape *s)
{
	static const struct kind {
		enum er_mstate state;
		enum er_reason reason;
	} kinds[] = {
		{ MS_USER_LOCK, REASON_USER_LOCK }, { MS_SLEEP, REASON_PIPE },
		{ MS_SLEEP, REASON_POLL }, { MS_WAIT_CPU, REASON_WOKEN },
	};
	const struct kind *kind = &kinds[i / s->nwaiters % 4];
	uint32_t thread = FIRST_WAITER + i % s->nwaiters;
	uint32_t other = FIRST_WAITER + (r >> 8) % s->nwaiters;
	struct wait_info info = {
		.reason = kind->reason, .syscall = r % 300, .length_ns = 1000000,
		.object = kind->reason == REASON_USER_LOCK ? 0x5000 + (r >> 20) % LOCKS * 64 : 0,
		.holder = other, .holder_pid = 100, .waker = other, .waker_pid = 100,
		.waker_stack = 1 + (r >> 30) % s->nstacks };

	expwriter_clock(w, &(struct clock_packet){
		.lwp = thread, .thread = thread, .cpu = i % 4, .time_ns = start_ns + i * 1000,
		.stack = 1 + r % s->nstacks, .state = kind->state, .nticks = 1,
		.seq = i / 4, .wait = &info });
}

static void write_waits(struct expwriter *w, uint64_t nwaits, const struct shape *s)
{
	uint64_t state = 3;

	for (uint64_t i = 0; i < nwaits; i++) {
		write_wait(w, i, random_next(&state), s);
		if (expwriter_pending(w) > 1 << 20)
			expwriter_flush(w);
	}
}

/* The writer borrows the directory's descriptor, so it stays open until the end. */
static int create(const char *path, const struct exp_header *h, struct diag *d,
		  struct expwriter **ret)
{
	const char *slash = strrchr(path, '/');
	__cleanup(freep) char *dir = slash ? xstrndup(path, slash - path + 1) : xstrdup(".");
	int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return diag_errno(d, errno, "%s: cannot open", dir);
	return expwriter_create(fd, slash ? slash + 1 : path, h, d, ret);
}

static uint64_t argument(int argc, char **argv, int i, uint64_t def)
{
	uint64_t v = argc > i ? strtoull(argv[i], NULL, 10) : def;

	if (!v) {
		fprintf(stderr, "gen_experiment: '%s': not a positive number\n", argv[i]);
		exit(2);
	}
	return v;
}

int main(int argc, char **argv)
{
	uint64_t nsamples = argument(argc, argv, 2, 1000000);
	struct shape shape = { .nstacks = argument(argc, argv, 3, 20000),
			       .nframes = argument(argc, argv, 4, 30),
			       .nfunctions = argument(argc, argv, 5, 3000),
			       .sites = argc > 7 ? strtoull(argv[7], NULL, 10) : 0,
			       .nwaiters = argument(argc, argv, 8, 1000) };
	uint64_t nwaits = argc > 6 ? strtoull(argv[6], NULL, 10) : 0;
	struct diag d = { .prefix = "gen_experiment" };
	struct exp_header h = { .collector = "gen_experiment", .hostname = "bench", .arch = "x86_64",
				.os = "Linux", .pagesize = 4096, .npages = 1, .pid = 100, .cwd = "/",
				.command = "bench", .wordsize = 64, .start_ns = start_ns,
				.start_epoch = 1700000000 };
	struct expwriter *w;

	if (argc < 2 || shape.nframes > FRAMES_MAX || shape.sites > FUNC_SIZE) {
		fputs("usage: gen_experiment [DIR/]NAME.er [samples [stacks [frames "
		      "[functions [waits [sites [waiters]]]]]]]\n", stderr);
		return 2;
	}
	if (create(argv[1], &h, &d, &w) < 0)
		return 1;
	expwriter_clock_profile(w, PTIMER_US, STATES_ALL, nwaits > 0);
	write_functions(w, shape.nfunctions);
	write_stacks(w, &shape);
	write_samples(w, nsamples, shape.nstacks);
	write_waits(w, nwaits, &shape);
	expwriter_exit(w, start_ns + nsamples * 10000);
	if (expwriter_close(w) < 0) {
		fprintf(stderr, "gen_experiment: %s: could not be written\n", argv[1]);
		return 1;
	}
	printf("%" PRIu64 " samples of 1 ms, total CPU %.3f sec.\n", nsamples, nsamples / 1e3);
	return 0;
}
