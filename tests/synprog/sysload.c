/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sysload kind:seconds …
 *
 * Uses system time of known kinds: zero (reads a megabyte of /dev/zero; hardly any user time),
 * ppid (the shortest system call, in a loop), null (small writes to /dev/null), map (mmap,
 * touch, munmap: page faults). Prints for each kind the thread's CPU time, and getrusage.
 */
#include <fcntl.h>
#include <sys/mman.h>

#include "tests/synprog/truth.h"

static int zero_fd, null_fd;
static char big[1 << 20];

static void load_zero(void)
{
	for (int i = 0; i < 50; i++)
		if (raw_call(SYS_read, zero_fd, (long)big, sizeof(big)) < 0)
			truth_die("/dev/zero");
}

static void load_ppid(void)
{
	for (int i = 0; i < 1000; i++)
		raw_call(SYS_getppid, 0, 0, 0);
}

static void load_null(void)
{
	for (int i = 0; i < 500; i++)
		if (raw_call(SYS_write, null_fd, (long)big, 16) < 0)
			truth_die("/dev/null");
}

static void load_map(void)
{
	size_t size = 4 << 20;
	char *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		truth_die("mmap");
	for (size_t i = 0; i < size; i += 4096)
		p[i] = 1;
	raw_call(SYS_munmap, (long)p, size, 0);
}

static const struct {
	const char *name;
	void (*fn)(void);
} kinds[] = {
	{ "zero", load_zero },
	{ "ppid", load_ppid },
	{ "null", load_null },
	{ "map", load_map },
};

static int run(const char *arg)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		size_t n = strlen(kinds[i].name);

		if (strncmp(arg, kinds[i].name, n) || arg[n] != ':')
			continue;
		double seconds = atof(arg + n + 1), start = truth_thread_cpu();

		while (truth_thread_cpu() - start < seconds)
			kinds[i].fn();
		truth_say(kinds[i].name, truth_thread_cpu() - start);
		return 0;
	}
	fprintf(stderr, "sysload: '%s': not kind:seconds\n", arg);
	return 2;
}

int main(int argc, char **argv)
{
	zero_fd = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	null_fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
	if (argc < 2 || zero_fd < 0 || null_fd < 0)
		return 2;
	memset(big, 1, sizeof(big));
	for (int i = 1; i < argc; i++)
		if (run(argv[i]))
			return 2;
	truth_say_usage("", RUSAGE_SELF);
	return 0;
}
