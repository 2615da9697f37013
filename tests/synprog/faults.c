/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * faults PAGES SWITCHES: touches PAGES pages in user mode, lets the kernel touch as many in
 * system calls, touches all pages of a variable, and leaves the CPU SWITCHES times. Prints the kernel's
 * count of each:
 *
 *	pid PID
 *	touch_pages MINFLT
 *	kernel_touches MINFLT
 *	table MINFLT
 *	leave_often SWITCHES
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "tests/synprog/truth.h"

enum { PAGE = 4096, TABLE_PAGES = 1000 };

static char table[TABLE_PAGES * PAGE] __attribute__((aligned(PAGE)));

static char *fresh(size_t pages)
{
	char *p = mmap(NULL, pages * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		exit(2);
	madvise(p, pages * PAGE, MADV_NOHUGEPAGE);
	return p;
}

static struct rusage usage(void)
{
	struct rusage ru;

	getrusage(RUSAGE_SELF, &ru);
	return ru;
}

static void touch_pages(volatile char *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		p[i * PAGE] = 1;
}

static void fill_table(void)
{
	for (size_t i = 0; i < TABLE_PAGES; i++)
		*(volatile char *)&table[i * PAGE] = 1;
}

/* Page by page: a system call that meets a fault may stop early. */
static void kernel_touches(char *p, size_t n)
{
	int fd = open("/dev/zero", O_RDONLY);

	for (size_t i = 0; i < n; i++)
		if (raw_call(SYS_read, fd, (long)(p + i * PAGE), 64) != 64)
			exit(2);
	close(fd);
}

static void leave_often(size_t n)
{
	struct timespec moment = { .tv_nsec = 1000 };

	for (size_t i = 0; i < n; i++)
		raw_call(SYS_nanosleep, (long)&moment, 0, 0);
}

int main(int argc, char **argv)
{
	size_t pages = argc > 1 ? strtoul(argv[1], NULL, 10) : 1000;
	size_t switches = argc > 2 ? strtoul(argv[2], NULL, 10) : 0;
	char *ours = fresh(pages), *kernels = fresh(pages);
	struct rusage before, between, after, filled, end;

	before = usage();
	touch_pages(ours, pages);
	between = usage();
	kernel_touches(kernels, pages);
	after = usage();
	madvise(table, sizeof(table), MADV_NOHUGEPAGE);
	fill_table();
	filled = usage();
	leave_often(switches);
	end = usage();
	printf("pid\t%d\n", getpid());
	printf("touch_pages\t%ld\n", between.ru_minflt - before.ru_minflt);
	printf("kernel_touches\t%ld\n", after.ru_minflt - between.ru_minflt);
	printf("table\t%ld\n", filled.ru_minflt - after.ru_minflt);
	printf("leave_often\t%ld\n", end.ru_nvcsw + end.ru_nivcsw - filled.ru_nvcsw - filled.ru_nivcsw);
	return 0;
}
