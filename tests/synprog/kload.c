/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kload seconds
 *
 * Uses many parts of the kernel: creates, renames and removes files, maps and touches memory,
 * uses sockets and signals, reads /proc. Prints the rounds of each, and getrusage.
 */
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include "tests/synprog/truth.h"

static char buffer[64 << 10];

static void round_files(void)
{
	char a[] = "kload-a-XXXXXX", b[sizeof(a) + 2];
	int fd = mkstemp(a);

	if (fd < 0)
		truth_die("kload: mkstemp");
	snprintf(b, sizeof(b), "%s.b", a);
	if (write(fd, buffer, 16 << 10) < 0)
		truth_die("kload: write");
	close(fd);
	rename(a, b);
	unlink(b);
}

static void round_memory(void)
{
	size_t size = 512 << 10;
	char *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		truth_die("kload: mmap");
	memset(p, 1, size);
	munmap(p, size);
}

static void round_socket(void)
{
	int fds[2];

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, fds))
		truth_die("kload: socketpair");
	for (int i = 0; i < 8; i++)
		if (write(fds[0], buffer, 4096) < 0 || read(fds[1], buffer, 4096) < 0)
			truth_die("kload: socket");
	close(fds[0]);
	close(fds[1]);
}

static void round_proc(void)
{
	int fd = open("/proc/self/status", O_RDONLY | O_CLOEXEC);

	if (fd < 0 || read(fd, buffer, sizeof(buffer)) < 0)
		truth_die("kload: /proc");
	close(fd);
}

static void round_signal(void)
{
	kill(getpid(), SIGUSR1);
}

static const struct {
	const char *name;
	void (*fn)(void);
} rounds[] = {
	{ "files", round_files },   { "memory", round_memory }, { "socket", round_socket },
	{ "proc", round_proc },     { "signal", round_signal },
};

enum { NROUNDS = sizeof(rounds) / sizeof(rounds[0]) };

int main(int argc, char **argv)
{
	double end = truth_clock(CLOCK_MONOTONIC) + (argc > 1 ? atof(argv[1]) : 1);
	long done = 0;

	signal(SIGUSR1, SIG_IGN);
	while (truth_clock(CLOCK_MONOTONIC) < end) {
		for (int i = 0; i < NROUNDS; i++)
			rounds[i].fn();
		done++;
	}
	for (int i = 0; i < NROUNDS; i++)
		truth_say(rounds[i].name, done);
	truth_say_usage("", RUSAGE_SELF);
	return 0;
}
