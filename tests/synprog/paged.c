/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A thread computes in deep(), on top of 20 frames of 8 KiB. Their pages are taken out of its memory all the
 * time. Its stack lies in a shared mapping, so the pages stay in the kernel, but the process has to fetch them again.
 * `paged S`: for S seconds. `paged S uffd`: a userfaultfd is registered for the stack. Status 77: that is not possible.
 * `paged S sleep`: sleeps in place of computing. Prints "ready" when it begins.
 */
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { STACK = 1 << 20, FRAME = 8 << 10, DEPTH = 20 };

static char *stack;
static bool sleeps;
static double until;

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

static void spin(void)
{
	if (sleeps) {
		usleep(2000);
		return;
	}
	for (volatile int i = 0; i < 1000000; i++)
		;
}

/* All pages above this frame's own. */
static void forget(void)
{
	uintptr_t here = ((uintptr_t)__builtin_frame_address(0) | 4095) + 1 + 4096;

	madvise((void *)here, (uintptr_t)stack + STACK - here, MADV_DONTNEED);
}

static void deep(int depth)
{
	volatile char frame[FRAME];

	frame[FRAME - 1] = depth;
	if (depth)
		deep(depth - 1);
	else
		for (; now() < until; spin())
			forget();
	frame[0] = frame[FRAME - 1];
}

static void *enter(void *unused)
{
	deep(DEPTH);
	return unused;
}

static void ask_for_faults(void)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register reg = { .range = { (uintptr_t)stack, STACK }, .mode = UFFDIO_REGISTER_MODE_MISSING };
	int fd = syscall(SYS_userfaultfd, O_CLOEXEC);

	if (fd < 0 || ioctl(fd, UFFDIO_API, &api) || ioctl(fd, UFFDIO_REGISTER, &reg)) {
		perror("userfaultfd");
		exit(77);
	}
}

int main(int argc, char **argv)
{
	int fd = memfd_create("stack", MFD_CLOEXEC);
	pthread_attr_t attr;
	pthread_t t;

	if (argc < 2 || fd < 0 || ftruncate(fd, STACK))
		return 1;
	stack = mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (stack == MAP_FAILED)
		return 1;
	memset(stack, 0, STACK);
	sleeps = argc > 2 && !strcmp(argv[2], "sleep");
	if (argc > 2 && !sleeps)
		ask_for_faults();
	puts("ready");
	fflush(stdout);
	until = now() + atof(argv[1]);
	pthread_attr_init(&attr);
	pthread_attr_setstack(&attr, stack, STACK);
	return pthread_create(&t, &attr, enter, NULL) || pthread_join(t, NULL);
}
