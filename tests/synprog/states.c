/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * states [-d directory] [-p] kind:seconds …
 *
 * Threads that wait, each for one kind of thing only and for so many seconds, all
 * at the same time; a kind that others must not feel has a process of its own.
 * "kind" tells what for, and after whom a thread is named; whoever ends its waits
 * is a thread "kind-peer". The directory is on a disk, for those that need one.
 *
 * Says of each thread, tab separated: "thread", kind, PID, TID, TID of the peer (0
 * none), and in seconds: how long it must have been in the state of its kind
 * (around each wait the clock's time without the CPU time and without the time
 * that it could run and had no CPU, by the kernel's own figures), and over all:
 * the clock's time, CPU time, user, system, run-queue wait.
 *
 * With -p they do not end when their time is over: they say "parked" and are
 * asleep in a futex, until standard input ends, so that a recording can end
 * between, and what the kernel counted stands still.
 */
#include "tests/synprog/kinds.h"

enum { MAX_ACTORS = 24 };

static __thread int schedstat = -1;

/* The thread's run-queue wait, which is exact while it runs. */
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
 * Time off the CPU that was no waiting for one, so far, up to a constant. The clocks
 * belong together only if the thread had its CPU all the while they were read.
 */
static double blocked_now(void)
{
	for (;;) {
		double runq = runq_now(), wall = truth_clock(CLOCK_MONOTONIC);
		double cpu = truth_thread_cpu();

		if (runq_now() == runq)
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

/* In memory that processes share: how many are parked, and when that is over. */
static struct {
	atomic_int parked, over;
} *park;

static void stay(void)
{
	atomic_fetch_add(&park->parked, 1);
	while (!atomic_load(&park->over))
		syscall(SYS_futex, &park->over, FUTEX_WAIT, 0, NULL, NULL, 0);
}

/* Of a thread that is parked, exact: it does not run. */
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

/* All n threads asleep; then to the end of standard input. */
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

/* In the calling process: the actor and its peer, to their end. */
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
	/* Its peer may be waiting for the actor's next turn. */
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
		a->child = pid; /* in the parent only: the memory is shared */
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
	/* Processes first: a fork copies no other thread. */
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
