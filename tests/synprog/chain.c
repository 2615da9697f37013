/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * chain seconds
 *
 * Three processes, each with the name of its part: `client` asks `front`, which asks `back`, which
 * computes for 5 ms and answers; they talk through pipes. Then the client sleeps for 5 ms. So the
 * client's only waits for others are for a chain of two links.
 *
 * Prints the PID of each part, and for how long the client waited for answers.
 */
#include <sys/prctl.h>
#include <sys/wait.h>

#include "tests/synprog/truth.h"

static int ask[2][2], answer[2][2]; /* client and front, front and back */

static __attribute__((noinline)) void compute(double seconds)
{
	double end = truth_thread_cpu() + seconds;
	uint64_t state = 1;

	do {
		TRUTH_TURN(state);
	} while (truth_thread_cpu() < end);
}

static __attribute__((noinline)) int receive(int fd)
{
	char byte;

	return read(fd, &byte, 1) == 1;
}

static void send_to(int fd)
{
	if (write(fd, "x", 1) != 1)
		truth_die("chain: write");
}

static void front(void)
{
	while (receive(ask[0][0])) {
		send_to(ask[1][1]);
		receive(answer[1][0]);
		send_to(answer[0][1]);
	}
	close(ask[1][1]);
}

static void back(void)
{
	close(ask[1][1]);
	while (receive(ask[1][0])) {
		compute(0.005);
		send_to(answer[1][1]);
	}
}

static pid_t start(const char *name, void (*part)(void))
{
	pid_t pid = fork();

	if (pid)
		return pid;
	prctl(PR_SET_NAME, name);
	close(ask[0][1]);
	part();
	_exit(0);
}

int main(int argc, char **argv)
{
	struct timespec pause = { 0, 5000000 };
	double end = truth_clock(CLOCK_MONOTONIC) + (argc > 1 ? atof(argv[1]) : 2), waited = 0;

	for (int i = 0; i < 2; i++) {
		if (pipe(ask[i]) || pipe(answer[i]))
			truth_die("chain: pipe");
	}
	prctl(PR_SET_NAME, "client");
	printf("back\t%d\n", start("back", back));
	printf("front\t%d\n", start("front", front));
	printf("client\t%d\n", getpid());
	fflush(stdout);
	while (truth_clock(CLOCK_MONOTONIC) < end) {
		double before = truth_clock(CLOCK_MONOTONIC);

		send_to(ask[0][1]);
		receive(answer[0][0]);
		waited += truth_clock(CLOCK_MONOTONIC) - before;
		nanosleep(&pause, NULL);
	}
	close(ask[0][1]);
	close(ask[1][1]);
	truth_say("waited", waited);
	while (wait(NULL) > 0)
		;
	return 0;
}
