/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * generated FUNCTIONS: a program as a compiler at run time leaves it. It has this many generated functions, calls
 * all of them in turn until it is killed, and names them in /tmp/perf-PID.map, which it removes when SIGTERM comes.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { SIZE = 64 };

static volatile sig_atomic_t ended;

static void end(int sig)
{
	ended = sig;
}

/* push %rbp; mov %rsp,%rbp; mov $20000,%ecx; again: dec %ecx; jnz again; pop %rbp; ret */
static const unsigned char code[] = { 0x55, 0x48, 0x89, 0xe5, 0xb9, 0x20, 0x4e, 0, 0,
				      0xff, 0xc9, 0x75, 0xfc, 0x5d, 0xc3 };

int main(int argc, char **argv)
{
	long n = argc > 1 ? atol(argv[1]) : 0;
	unsigned char *at = n > 0 ? mmap(NULL, (size_t)n * SIZE, PROT_READ | PROT_WRITE | PROT_EXEC,
					 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) : MAP_FAILED;
	char name[64];
	FILE *map;

	if (at == MAP_FAILED)
		return 2;
	snprintf(name, sizeof(name), "/tmp/perf-%d.map", getpid());
	map = fopen(name, "wx");
	if (!map)
		return 2;
	signal(SIGTERM, end);
	for (long i = 0; i < n; i++) {
		memcpy(at + i * SIZE, code, sizeof(code));
		fprintf(map, "%lx %x Lcom/example/package/ClassNumber%ld;::method%ld\n", (unsigned long)(at + i * SIZE), SIZE,
			i / 10, i % 10);
	}
	fclose(map);
	for (long i = 0; !ended; i = (i + 7919) % n)
		((void (*)(void))(void *)(at + i * SIZE))();
	return unlink(name) ? 2 : 0;
}
