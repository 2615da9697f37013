/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * spin [-t threads] [-w seconds] [caller>]function:seconds …
 *
 * Burns user CPU time in named functions. Functions: alpha beta gamma_ delta; callers: outer
 * inner (outer calls inner). Each thread does all steps. -w sleeps first. Prints the inclusive
 * CPU time of each function and caller over all threads, each thread's CPU time, and getrusage.
 */
#include <pthread.h>
#include <sys/syscall.h>

#include "tests/synprog/truth.h"

TRUTH_BURNER(alpha)
TRUTH_BURNER(beta)
TRUTH_BURNER(gamma_)
TRUTH_BURNER(delta)

typedef void (*burner_fn)(double *acc, double seconds);

static __attribute__((noinline)) void inner(burner_fn fn, double *acc, double seconds)
{
	fn(acc, seconds);
}

static __attribute__((noinline)) void outer(burner_fn fn, double *acc, double seconds)
{
	inner(fn, acc, seconds);
}

static const struct {
	const char *name;
	burner_fn fn;
} leaves[] = { { "alpha", alpha }, { "beta", beta }, { "gamma_", gamma_ }, { "delta", delta } };

enum { NLEAVES = sizeof(leaves) / sizeof(leaves[0]), MAX_STEPS = 16, MAX_THREADS = 64 };
enum caller { CALLER_NONE, CALLER_INNER, CALLER_OUTER, NCALLERS };

struct step {
	enum caller caller;
	int leaf;
	double seconds;
};

static struct step steps[MAX_STEPS];
static int nsteps;

struct result {
	pthread_t thread;
	long tid;
	double cpu, leaf[NLEAVES], caller[NCALLERS];
};

static void parse_step(const char *arg)
{
	struct step *s = &steps[nsteps];
	const char *gt = strchr(arg, '>'), *name = gt ? gt + 1 : arg, *colon = strchr(name, ':');

	if (nsteps == MAX_STEPS || !colon)
		goto bad;
	if (gt)
		s->caller = !strncmp(arg, "outer>", 6) ? CALLER_OUTER : CALLER_INNER;
	s->seconds = atof(colon + 1);
	for (s->leaf = 0; s->leaf < NLEAVES; s->leaf++) {
		size_t n = strlen(leaves[s->leaf].name);

		if (n == (size_t)(colon - name) && !strncmp(leaves[s->leaf].name, name, n)) {
			nsteps++;
			return;
		}
	}
bad:
	fprintf(stderr, "spin: '%s': not [caller>]function:seconds\n", arg);
	exit(2);
}

static void do_step(const struct step *s, struct result *r)
{
	burner_fn fn = leaves[s->leaf].fn;
	double burnt = 0;

	if (s->caller == CALLER_OUTER)
		outer(fn, &burnt, s->seconds);
	else if (s->caller == CALLER_INNER)
		inner(fn, &burnt, s->seconds);
	else
		fn(&burnt, s->seconds);
	r->leaf[s->leaf] += burnt;
	r->caller[s->caller] += burnt;
}

static void *work(void *arg)
{
	struct result *r = arg;

	r->tid = syscall(SYS_gettid);
	for (int i = 0; i < nsteps; i++)
		do_step(&steps[i], r);
	r->cpu = truth_thread_cpu();
	return NULL;
}

static void say(const struct result *r, int nthreads)
{
	double leaf[NLEAVES] = { 0 }, caller[NCALLERS] = { 0 };

	for (int t = 0; t < nthreads; t++) {
		for (int i = 0; i < NLEAVES; i++)
			leaf[i] += r[t].leaf[i];
		for (int i = 0; i < NCALLERS; i++)
			caller[i] += r[t].caller[i];
		truth_say_id("thread", r[t].tid, r[t].cpu);
	}
	for (int i = 0; i < NLEAVES; i++)
		if (leaf[i])
			truth_say(leaves[i].name, leaf[i]);
	if (caller[CALLER_INNER] + caller[CALLER_OUTER])
		truth_say("inner", caller[CALLER_INNER] + caller[CALLER_OUTER]);
	if (caller[CALLER_OUTER])
		truth_say("outer", caller[CALLER_OUTER]);
	truth_say_usage("", RUSAGE_SELF);
}

int main(int argc, char **argv)
{
	static struct result results[MAX_THREADS];
	int nthreads = 1, opt;

	while ((opt = getopt(argc, argv, "t:w:")) != -1) {
		if (opt == 't')
			nthreads = atoi(optarg);
		else if (opt == 'w')
			usleep(atof(optarg) * 1e6);
		else
			return 2;
	}
	if (nthreads < 1 || nthreads > MAX_THREADS || optind == argc)
		return 2;
	while (optind < argc)
		parse_step(argv[optind++]);
	for (int t = 1; t < nthreads; t++)
		if (pthread_create(&results[t].thread, NULL, work, &results[t]))
			truth_die("pthread_create");
	work(&results[0]);
	for (int t = 1; t < nthreads; t++)
		pthread_join(results[t].thread, NULL);
	say(results, nthreads);
	return 0;
}
