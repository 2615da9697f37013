/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * states [-d directory] [-p] kind:seconds …
 *
 * Runs threads that wait, all at the same time. Each waits for one kind of thing only, for the
 * given seconds. A kind that would disturb other threads has its own process. A thread has its
 * kind's name; the thread that ends its waits is called "kind-peer". Kinds that need a disk use
 * the directory.
 *
 * Prints a line for each thread, tab separated: "thread", kind, PID, TID, the peer's TID (0:
 * none), and these times in seconds: the time that it must have been in its kind's state, and
 * over its whole life elapsed time, CPU time, user time, system time and run-queue wait. The
 * first is summed around each wait: elapsed time minus CPU time and minus time waiting for a
 * CPU, by the kernel's own figures.
 *
 * With -p the threads do not end when their time is over. The program prints "parked", and they
 * sleep in a futex until standard input ends. So a recording can end in between, while the
 * kernel's counts do not change.
 */
#include "tests/synprog/kinds.h"

enum { MAX_ACTORS = 24 };

static __thread int schedstat = -1;

/* The thread's run-queue wait so far, which is exact while the thread runs. */
static double runq_now(void)
{
	unsigned long long ran, waited;
	char text[80];
	ssize_t n;

	if (schedstat < 0)
		schedstat = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
	n = pread(schedstat, text, sizeof(text) - 1, 0);
	text[n > 0 ? n : 0] = 0;
	if (sscanf(text, "%llu %llu", &ran, &waited) != 2)
		truth_die("states: /proc/thread-self/schedstat");
	return waited / 1e9;
}

/*
 * The time off the CPU so far, without waits for a CPU, up to a constant. The clocks are
 * consistent only if the thread did not lose its CPU between reading them, and if no hypervisor held
 * up the CPU there for milliseconds, which the kernel charges to the thread.
 */
static double blocked_now(void)
{
	for (;;) {
		double runq = runq_now(), wall = truth_clock(CLOCK_MONOTONIC);
		double cpu = truth_thread_cpu();

		if (truth_clock(CLOCK_MONOTONIC) - wall < 50e-6 && runq_now() == runq)
			return wall - cpu - runq;
	}
}

static void wait_begins(struct actor *a)
{
	a->must -= blocked_now();
}

static void wait_ends(struct actor *a)
{
	a->must += blocked_now();
}

static void sum_up(struct actor *a, double begin)
{
	struct rusage ru;

	getrusage(RUSAGE_THREAD, &ru);
	a->wall = truth_clock(CLOCK_MONOTONIC) - begin;
	a->cpu = truth_thread_cpu();
	a->user = truth_seconds(ru.ru_utime);
	a->system = truth_seconds(ru.ru_stime);
	a->runq = runq_now();
}

/* Shared by all processes: how many threads are parked, and whether they may end. */
static struct {
	atomic_int parked, over;
} *park;

static void stay(void)
{
	atomic_fetch_add(&park->parked, 1);
	while (!atomic_load(&park->over))
		syscall(SYS_futex, &park->over, FUTEX_WAIT, 0, NULL, NULL, 0);
}

/* Exact for a parked thread, because it does not run. */
static void read_schedstat(struct actor *a)
{
	unsigned long long ran, waited;
	char path[64];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/schedstat", a->tid);
	f = fopen(path, "re");
	if (!f || fscanf(f, "%llu %llu", &ran, &waited) != 2)
		truth_die(path);
	a->cpu = ran / 1e9;
	a->runq = waited / 1e9;
	fclose(f);
}

/* Wait until all n threads sleep, then until standard input ends. */
static void hold(struct actor *actors, int n)
{
	char byte;

	while (atomic_load(&park->parked) < n)
		usleep(10000);
	usleep(100000);
	truth_say("parked", n);
	while (read(STDIN_FILENO, &byte, 1) > 0)
		;
	for (int i = 0; i < n; i++)
		read_schedstat(&actors[i]);
	atomic_store(&park->over, 1);
	syscall(SYS_futex, &park->over, FUTEX_WAKE, 1000, NULL, NULL, 0);
}

static void *act(void *arg)
{
	struct actor *a = arg;
	double begin = truth_clock(CLOCK_MONOTONIC);

	a->pid = getpid();
	a->tid = syscall(SYS_gettid);
	prctl(PR_SET_NAME, a->kind->name);
	while (truth_clock(CLOCK_MONOTONIC) < begin + a->seconds)
		a->kind->wait(a);
	sum_up(a, begin);
	close(schedstat);
	atomic_store(&a->done, 1);
	if (park)
		stay();
	return NULL;
}

static void *act_peer(void *arg)
{
	struct actor *a = arg;
	char name[16];

	snprintf(name, sizeof(name), "%s-peer", a->kind->name);
	prctl(PR_SET_NAME, name);
	a->peer = syscall(SYS_gettid);
	while (!atomic_load(&a->done))
		a->kind->peer(a);
	return NULL;
}

/* Run the actor and its peer in this process until they end. */
static void *play(void *arg)
{
	struct actor *a = arg;
	pthread_t actor, peer;

	if (a->kind->setup && a->kind->setup(a))
		truth_die(a->kind->name);
	if (a->kind->peer && pthread_create(&peer, NULL, act_peer, a))
		truth_die("states: pthread_create");
	if (pthread_create(&actor, NULL, act, a))
		truth_die("states: pthread_create");
	pthread_join(actor, NULL);
	/* The peer may still wait for the actor's next turn. */
	if (a->kind->release)
		a->kind->release(a);
	if (a->kind->peer)
		pthread_join(peer, NULL);
	return NULL;
}

static void start(struct actor *a)
{
	pid_t pid;

	if (!a->kind->own_process) {
		if (pthread_create(&a->thread, NULL, play, a))
			truth_die("states: pthread_create");
		return;
	}
	pid = fork();
	if (pid < 0)
		truth_die("states: fork");
	if (pid) {
		a->child = pid; /* only in the parent, because the memory is shared */
		return;
	}
	play(a);
	_exit(0);
}

static void finish(struct actor *a)
{
	int status = 0;

	if (!a->kind->own_process)
		pthread_join(a->thread, NULL);
	else if (waitpid(a->child, &status, 0) < 0)
		truth_die("states: waitpid");
}

static void say(const struct actor *a)
{
	char line[256];
	int n = snprintf(line, sizeof(line), "thread\t%s\t%d\t%d\t%d\t%.6f\t%.6f\t%.6f\t%.6f\t%.6f\t%.6f\n",
			 a->kind->name, a->pid, a->tid, a->peer, a->must, a->wall, a->cpu, a->user,
			 a->system, a->runq);

	if (write(STDOUT_FILENO, line, n) != n)
		_exit(1);
	if (a->part[0] + a->part[1] > 0) {
		truth_say("part_a", a->part[0]);
		truth_say("part_b", a->part[1]);
	}
}

static void parse(const char *arg, const char *dir, struct actor *a)
{
	const char *colon = strchr(arg, ':');

	for (a->kind = kinds; a->kind->name; a->kind++)
		if (colon && strlen(a->kind->name) == (size_t)(colon - arg) &&
		    !strncmp(a->kind->name, arg, colon - arg))
			break;
	if (!a->kind->name) {
		fprintf(stderr, "states: '%s': not kind:seconds\n", arg);
		exit(2);
	}
	a->seconds = atof(colon + 1);
	a->dir = dir;
}

int main(int argc, char **argv)
{
	struct actor *actors = mmap(NULL, MAX_ACTORS * sizeof(*actors), PROT_READ | PROT_WRITE,
				    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	const char *dir = ".";
	int opt, n = 0;

	while ((opt = getopt(argc, argv, "d:p")) != -1) {
		if (opt == 'd')
			dir = optarg;
		else if (opt == 'p')
			park = mmap(NULL, sizeof(*park), PROT_READ | PROT_WRITE,
				    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
		else
			return 2;
	}
	if (actors == MAP_FAILED || optind == argc || argc - optind > MAX_ACTORS)
		return 2;
	while (optind < argc)
		parse(argv[optind++], dir, &actors[n++]);
	/* Processes first, because fork copies only the calling thread. */
	for (int own = 1; own >= 0; own--)
		for (int i = 0; i < n; i++)
			if (actors[i].kind->own_process == own)
				start(&actors[i]);
	if (park)
		hold(actors, n);
	for (int i = 0; i < n; i++)
		finish(&actors[i]);
	for (int i = 0; i < n; i++)
		say(&actors[i]);
	truth_say("pid", getpid());
	return 0;
}
