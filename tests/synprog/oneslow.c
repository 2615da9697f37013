/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * oneslow CAUSE [FILE]: a server that answers REQUESTS requests; one in a hundred is slow, for one
 * cause: lock, fsync, fault, hog, sleep or child. fsync and fault make FILE and use it. Each request is
 * a call of request(). Prints, a line each:
 *
 *	cause<TAB>seconds   what the slow requests waited for the cause, by the kernel's own figures
 *	slow<TAB>seconds    how long the slow requests took
 *	requests<TAB>number
 *
 * The server has a real-time priority, so other programs hardly make requests slow. It exits with
 * 77, and says why, if this machine cannot cause the trouble.
 */
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "tests/synprog/truth.h"

enum { REQUESTS = 1000, SLOW = 100, SLOW_NS = 40000000, PAGE = 4096, FILE_PAGES = 4096, SKIP = 77 };
enum { SERVER_PRIORITY = 10, HOG_PRIORITY = 20 };

static const char *file;
static pid_t server;
static atomic_bool ready, entered, stop; /* between the server and the thread that troubles it */
static uint64_t state = 88172645463325252ULL;

static int64_t now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000LL + ts.tv_nsec;
}

static void skip(const char *why)
{
	printf("skip\t%s\n", why);
	exit(SKIP);
}

static void nap(void)
{
	nanosleep(&(struct timespec){ .tv_nsec = SLOW_NS }, NULL);
}

/* Run time and time in a run queue of the server's thread, in ns. */
static void schedstat(int64_t *ran, int64_t *queued)
{
	FILE *f = fopen("/proc/thread-self/schedstat", "r");
	long long r, q;

	if (!f || fscanf(f, "%lld %lld", &r, &q) != 2)
		skip("this kernel has no schedstat");
	fclose(f);
	*ran = r;
	*queued = q;
}

static void priority(pid_t pid, int prio)
{
	if (sched_setscheduler(pid, SCHED_FIFO, &(struct sched_param){ .sched_priority = prio }))
		skip("real-time priorities are denied here");
}

/* --- causes: prepare() before each slow request, suffer() in it --- */

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

/* The letter of the server's state in its stat: S if it waits. */
static char server_state(void)
{
	char path[64], letter = '?';
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", server);
	f = fopen(path, "r");
	if (!f || fscanf(f, "%*d (%*[^)]) %c", &letter) != 1)
		truth_die("stat");
	fclose(f);
	return letter;
}

/* Hold the lock until the server has waited for it long enough. */
static void *hold(void *arg)
{
	pthread_mutex_lock(&mutex);
	ready = true;
	while (!entered || server_state() != 'S')
		sched_yield();
	nap();
	pthread_mutex_unlock(&mutex);
	return arg;
}

/* Take the server's CPU, on which this thread runs, for a while. */
static void *hog(void *arg)
{
	int64_t began;

	ready = true;
	while (!entered)
		nanosleep(&(struct timespec){ .tv_nsec = 10000 }, NULL);
	for (began = now(); now() - began < SLOW_NS;)
		TRUTH_TURN(state);
	stop = true;
	return arg;
}

static void start(void *(*run)(void *), int prio)
{
	static pthread_attr_t attr;
	pthread_t thread;

	ready = entered = stop = false;
	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	pthread_attr_setinheritsched(&attr, PTHREAD_EXPLICIT_SCHED);
	pthread_attr_setschedpolicy(&attr, prio ? SCHED_FIFO : SCHED_OTHER);
	pthread_attr_setschedparam(&attr, &(struct sched_param){ .sched_priority = prio });
	if (pthread_create(&thread, &attr, run, NULL))
		truth_die("pthread_create");
	while (!ready)
		nanosleep(&(struct timespec){ .tv_nsec = 100000 }, NULL);
}

static void lock_prepare(void) { start(hold, 0); }

static void lock_suffer(void)
{
	entered = true;
	pthread_mutex_lock(&mutex);
	pthread_mutex_unlock(&mutex);
}

static void hog_prepare(void)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	sched_setaffinity(0, sizeof(one), &one);
	start(hog, HOG_PRIORITY);
}

static void hog_suffer(void)
{
	entered = true;
	while (!stop)
		;
}

/* However fast the disk is: until the time is over. */
static void fsync_suffer(void)
{
	static char block[PAGE];
	int64_t began = now();
	int fd = open(file, O_CREAT | O_WRONLY, 0600);

	if (fd < 0)
		truth_die(file);
	for (unsigned i = 0; now() - began < SLOW_NS; i++) {
		if (pwrite(fd, block, sizeof(block), i % 1024 * sizeof(block)) < 0 || fsync(fd))
			truth_die("fsync");
	}
	close(fd);
}

static volatile char *pages;

/* Each page of the file comes from the disk when it is touched. */
static void fault_prepare(void)
{
	static char block[PAGE] = "x";
	int fd = open(file, O_CREAT | O_RDWR, 0600);

	if (fd < 0)
		truth_die(file);
	if (lseek(fd, 0, SEEK_END) == 0)
		for (int i = 0; i < FILE_PAGES; i++)
			if (write(fd, block, PAGE) != PAGE)
				truth_die("write");
	if (pages)
		munmap((void *)pages, (size_t)FILE_PAGES * PAGE);
	fsync(fd);
	posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
	pages = mmap(NULL, (size_t)FILE_PAGES * PAGE, PROT_READ, MAP_SHARED, fd, 0);
	if (pages == MAP_FAILED)
		truth_die("mmap");
	madvise((void *)pages, (size_t)FILE_PAGES * PAGE, MADV_RANDOM);
	close(fd);
}

static void fault_suffer(void)
{
	int64_t began = now();

	for (int i = 0; i < FILE_PAGES && now() - began < SLOW_NS; i++)
		state += pages[(size_t)i * PAGE];
}

static void child_suffer(void)
{
	pid_t child = truth_fork();

	if (!child) {
		nap();
		_exit(0);
	}
	waitpid(child, NULL, 0);
}

static void nothing(void) {}

static const struct cause {
	const char *name;
	void (*prepare)(void), (*suffer)(void);
	bool queued; /* it is time in a run queue, else time asleep */
} causes[] = {
	{ "lock", lock_prepare, lock_suffer, false },   { "fsync", nothing, fsync_suffer, false },
	{ "fault", fault_prepare, fault_suffer, false }, { "hog", hog_prepare, hog_suffer, true },
	{ "sleep", nothing, nap, false },               { "child", nothing, child_suffer, false },
};

/* --- the server --- */

__attribute__((noinline)) void request(const struct cause *cause, bool slow)
{
	for (int i = 0; i < 2000; i++)
		state = state * 6364136223846793005ULL + 1;
	if (slow)
		cause->suffer();
}

static void answer_slowly(const struct cause *c, int64_t *cause, int64_t *slow)
{
	int64_t ran[2], queued[2], began, took;

	c->prepare();
	schedstat(&ran[0], &queued[0]);
	began = now();
	request(c, true);
	took = now() - began;
	schedstat(&ran[1], &queued[1]);
	queued[1] -= queued[0];
	*cause += c->queued ? queued[1] : took - (ran[1] - ran[0]) - queued[1];
	*slow += took;
}

int main(int argc, char **argv)
{
	const struct cause *c = causes;
	int64_t cause = 0, slow = 0;

	while (argc > 1 && c < causes + sizeof(causes) / sizeof(*causes) && strcmp(c->name, argv[1]))
		c++;
	if (argc < 2 || c == causes + sizeof(causes) / sizeof(*causes))
		return 2;
	file = argc > 2 ? argv[2] : "";
	server = getpid();
	priority(0, SERVER_PRIORITY);
	for (int i = 0; i < REQUESTS; i++) {
		if (i % SLOW == SLOW / 2)
			answer_slowly(c, &cause, &slow);
		else
			request(c, false);
	}
	truth_say("cause", cause / 1e9);
	truth_say("slow", slow / 1e9);
	truth_say("requests", REQUESTS);
	return 0;
}
