/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * filestack FILE RULES: sleeps on a stack that is a mapped file of tests/synprog/fuse.c with these rules.
 * The upper half of the file has not been read, and is not read any more. Another thread burns CPU time.
 */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { HALF = 32768 };

static const char *rules;

static void sleep_here(int sig __attribute__((unused)))
{
	int fd = open(rules, O_WRONLY | O_TRUNC);

	if (write(fd, "READ", 4) < 0)
		perror("filestack");
	close(fd);
	puts("held");
	fflush(stdout);
	for (;;)
		pause();
}

static void *sleep_on(void *stack)
{
	sigaltstack(&(stack_t){ .ss_sp = stack, .ss_size = HALF }, NULL);
	raise(SIGUSR1);
	return NULL;
}

int main(int argc, char **argv)
{
	struct sigaction sa = { .sa_handler = sleep_here, .sa_flags = SA_ONSTACK };
	pthread_t sleeps;
	void *stack;
	int fd;

	if (argc != 3)
		return 2;
	rules = argv[2];
	fd = open(argv[1], O_RDONLY);
	stack = mmap(NULL, 2 * HALF, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	if (stack == MAP_FAILED)
		return 1;
	madvise(stack, 2 * HALF, MADV_RANDOM); /* a page is read when it is used, and no other page */
	sigaction(SIGUSR1, &sa, NULL);
	pthread_create(&sleeps, NULL, sleep_on, stack);
	for (;;)
		;
}
