/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * make_kinds DIR writes experiments with kinds of data that this machine may be unable to record.
 * mem.1.er has two counters with data addresses, l3 (tag 0) and loads (tag 1), with known results.
 * data.1.er has the same for variables of a program. trace.1.er has synchronization, heap and I/O.
 * heap.1.er has calls for memory of two processes; some.1.er has the same of a sampled heap.
 * old.1.er has clock packets in their old form, and Java.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "analysis/base/diag.h"
#include "analysis/symbols/archive.h"
#include "tests/fixtures/exp_builder.h"
#include "tests/fixtures/tempdir.h"

#define KB 1024ULL
#define PAGE(n) (0x7f0000000000ULL + (n) * 8 * KB)

struct access {
	const char *stack;
	int tag;
	int64_t count;
	uint64_t vaddr, paddr;
};

/* Two adjacent pages of 8 KB, one far away, and one address that is not valid. */
static const struct access accesses[] = {
	{ "main>scan", 0, 1000, PAGE(0) + 8, 0x1000 },
	{ "main>scan", 0, 1000, PAGE(0) + 64, 0x1040 },
	{ "main>scan", 0, 1000, PAGE(1), 0x8000 },
	{ "main>scan>next", 0, 1000, PAGE(1) + 100, 0x8064 },
	{ "main>scan>next", 1, 5000, PAGE(0) + 9, 0x1009 },
	{ "main>sum", 1, 5000, PAGE(4096), 0 },
	{ "main>sum", 1, 5000, 12, 0 },
};

static void put_access(struct exp_builder *b, const struct access *a, int n)
{
	uint64_t stack = exp_builder_stack(b, a->stack);
	int64_t values[] = { 1, 1, n % 2, exp_builder_now(b), stack, a->tag, a->count, a->vaddr, 0,
			     a->paddr, 0, 4096, 4096, 0, 0, 0, 0, 10 * n, 0 };

	expwriter_packet(exp_builder_writer(b), ER_PKT_MHWC, values, NULL);
}

static void mem(const char *dir)
{
	struct exp_builder *b = exp_builder_new(dir, "mem.1.er");
	struct expwriter *w = exp_builder_writer(b);

	expwriter_profile(w, ER_PKT_MHWC, "hwcname=\"l3\" int_name=\"l3\" tag=\"0\" interval=\"1000\" "
					  "timecvt=\"0\" memop=\"2\" metric=\"L3 Misses\"");
	expwriter_profile(w, ER_PKT_HWC, "hwcname=\"loads\" int_name=\"loads\" tag=\"1\" "
					 "interval=\"5000\" timecvt=\"0\" memop=\"1\" metric=\"Loads\"");
	exp_builder_profile(b, 1, "main>scan", MS_USER, 10);
	for (int i = 0; i < (int)(sizeof(accesses) / sizeof(accesses[0])); i++)
		put_access(b, &accesses[i], i);
	exp_builder_close(b);
}

/* Variables of this program itself, recorded as another program's; it is in the archive. */
enum { PROGRAM = 0x5000000 };

static long table_of_hits[16] = { 1 };
static char zeroes[300];

static uint64_t program_address(const void *p)
{
	Dl_info info;
	struct link_map *map;

	if (!dladdr1(table_of_hits, &info, (void **)&map, RTLD_DL_LINKMAP))
		abort();
	return PROGRAM + (uintptr_t)p - map->l_addr;
}

static void variables(const char *dir)
{
	const struct access uses[] = {
		{ "main>count", 0, 300, program_address(&table_of_hits[0]), 0 },
		{ "main>count", 0, 200, program_address(&table_of_hits[5]), 0 },
		{ "main>count>add", 0, 100, program_address(&table_of_hits[5]), 0 },
		{ "main>clear", 1, 4000, program_address(&zeroes[33]), 0 },
		{ "main>clear", 1, 1000, program_address(&zeroes[299]), 0 },
		{ "main>clear", 1, 500, 0x7ffd00000000, 0 },
		{ "main>clear", 1, 500, 3, 0 },
	};
	struct exp_builder *b = exp_builder_new(dir, "data.1.er");
	struct expwriter *w = exp_builder_writer(b);
	struct diag d = { .prefix = "make_kinds" };
	int self = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

	expwriter_profile(w, ER_PKT_MHWC, "hwcname=\"l3\" int_name=\"l3\" tag=\"0\" interval=\"1000\" "
					  "timecvt=\"0\" memop=\"2\" metric=\"L3 Misses\"");
	expwriter_profile(w, ER_PKT_HWC, "hwcname=\"loads\" int_name=\"loads\" tag=\"1\" "
					 "interval=\"5000\" timecvt=\"0\" memop=\"1\" metric=\"Loads\"");
	exp_builder_segment(b, "/opt/program", PROGRAM, 0x1000, 0);
	exp_builder_profile(b, 1, "main>0x5000010", MS_USER, 1);
	for (size_t i = 0; i < sizeof(uses) / sizeof(uses[0]); i++)
		put_access(b, &uses[i], i);
	expwriter_flush(w);
	if (self < 0 || archive_add(expwriter_dirfd(w), self, "/opt/program", ARCHIVE_COPY, &d))
		abort();
	close(self);
	exp_builder_close(b);
}

enum { MS = 1000000 };

/* Duration of a call in microseconds, and the bytes that it moved. */
static void put_io(struct exp_builder *b, const char *stack, int type, int fd, int64_t bytes, int us,
		   const char *name)
{
	int64_t end, values[] = { 1, 1, 0, 0, exp_builder_stack(b, stack), type, fd, bytes, 0, -1, 23, 0, 0 };

	exp_builder_sleep(b, MS);
	end = exp_builder_now(b);
	values[3] = end;
	values[8] = end - us * 1000;
	expwriter_packet(exp_builder_writer(b), ER_PKT_IO, values, name);
}

static void put_heap(struct exp_builder *b, const char *stack, int type, int64_t size,
		     int64_t addr, int64_t old)
{
	int64_t values[] = { 1, 1, 0, exp_builder_now(b), exp_builder_stack(b, stack), type, size, addr,
			     old };

	exp_builder_sleep(b, MS);
	expwriter_packet(exp_builder_writer(b), ER_PKT_HEAP, values, NULL);
}

static void put_lock(struct exp_builder *b, const char *stack, int64_t us, int64_t object)
{
	int64_t end, values[] = { 2, 2, 1, 0, exp_builder_stack(b, stack), 0, object };

	exp_builder_sleep(b, MS);
	end = exp_builder_now(b);
	values[3] = end;
	values[5] = end - us * 1000;
	expwriter_packet(exp_builder_writer(b), ER_PKT_SYNC, values, NULL);
}

enum { READ, WRITE, OPEN, CLOSE, OTHER, ERRORS };

/*
 * I/O on files. Descriptor 3 is used for one file, then for another; one of the files is opened
 * twice. There is a pipe from before the recording, and there are calls that fail.
 */
static void put_files(struct exp_builder *b)
{
	put_io(b, "main>load>open", OPEN, 3, 0, 50, "/data/in");
	put_io(b, "main>load>read", READ, 3, 4096, 100, "");
	put_io(b, "main>load>read", READ, 3, 100, 10, "");
	put_io(b, "main>load>lseek", OTHER, 3, 0, 1, "");
	put_io(b, "main>load>close", CLOSE, 3, 0, 2, "");
	put_io(b, "main>save>open", OPEN, 3, 0, 60, "/data/out");
	put_io(b, "main>save>write", WRITE, 3, 70000, 2000, "");
	put_io(b, "main>save>close", CLOSE, 3, 0, 3, "");
	put_io(b, "main>load>open", OPEN, 3, 0, 40, "/data/in");
	put_io(b, "main>load>read", READ, 3, 1, 5, "");
	put_io(b, "main>log>write", WRITE, 2, 80, 20, "");
	put_io(b, "main>load>open", ERRORS + OPEN, -1, 0, 7, "/data/none");
	put_io(b, "main>load>read", ERRORS + READ, 9, -1, 4, "");
}

static void trace(const char *dir)
{
	struct exp_builder *b = exp_builder_new(dir, "trace.1.er");
	struct expwriter *w = exp_builder_writer(b);

	expwriter_profile(w, ER_PKT_SYNC, "threshold=\"0\" scope=\"3\"");
	expwriter_profile(w, ER_PKT_HEAP, NULL);
	expwriter_profile(w, ER_PKT_IO, NULL);
	exp_builder_profile(b, 1, "main>work", MS_USER, 20);
	put_lock(b, "main>lock", 500, 0x5000);
	put_lock(b, "main>lock", 20, 0x5000);
	put_lock(b, "main>work>lock", 0, 0x6000);
	put_heap(b, "main>work>malloc", 0, 100, 0x100000, 0);
	put_heap(b, "main>work>malloc", 0, 2000, 0x200000, 0);
	put_heap(b, "main>free", 1, 0, 0x100000, 0);
	put_files(b);
	exp_builder_close(b);
}

struct call {
	const char *stack;
	int process, thread, type;
	int64_t size, addr, old;
};

enum { MALLOC, FREE, REALLOC, MMAP, MUNMAP };

/*
 * Blocks at addresses that were used before; frees by another thread, and of a block that is not
 * known; mappings that are unmapped in parts, one that reaches over two.
 */
static const struct call calls[] = {
	{ "main>work>malloc", 0, 1, MALLOC, 1000, 0x1000, 0 },
	{ "main>work>malloc", 0, 2, MALLOC, 500, 0x2000, 0 },
	{ "main>work>free", 0, 1, FREE, 0, 0x1000, 0 },
	{ "main>load>malloc", 1, 5, MALLOC, 70, 0x1000, 0 },
	{ "main>load>malloc", 0, 2, MALLOC, 300, 0x1000, 0 },
	{ "main>realloc", 0, 1, REALLOC, 700, 0x3000, 0x2000 },
	{ "main>load>mmap", 0, 1, MMAP, 65536, 0x100000, 0 },
	{ "main>load>mmap", 0, 2, MMAP, 65536, 0x110000, 0 },
	{ "main>work>munmap", 0, 1, MUNMAP, 16384, 0x102000, 0 },
	{ "main>work>munmap", 0, 2, MUNMAP, 32768, 0x10c000, 0 },
	{ "main>work>free", 0, 2, FREE, 0, 0x1000, 0 },
	{ "main>work>free", 0, 2, FREE, 0, 0x9000, 0 },
	{ "main>load>malloc", 1, 6, MALLOC, 9000, 0x2000, 0 },
	{ "main>work>malloc", 0, 1, MALLOC, 40, 0x3000, 0 },
	{ "main>load>free", 1, 6, FREE, 0, 0x2000, 0 },
	{ "main>load>malloc", 1, 5, MALLOC, 250000, 0x2000, 0 },
	{ "main>load>realloc", 1, 5, REALLOC, 200000, 0x2000, 0x2000 },
	{ "main>work>free", 0, 1, FREE, 0, 0x3000, 0 },
	{ "main>work>malloc", 0, 1, MALLOC, 3000, 0x3000, 0 },
	{ "main>work>munmap", 0, 1, MUNMAP, 65536, 0x110000, 0 },
};

static void put_call(struct exp_builder *b, const struct call *c, int64_t now)
{
	int64_t values[] = { c->thread, c->thread, c->thread % 2, now, exp_builder_stack(b, c->stack), c->type,
			     c->size, c->addr, c->old };

	expwriter_packet(exp_builder_writer(b), ER_PKT_HEAP, values, NULL);
}

/* A call each 700 us, but every fifth at the time of the one before. */
static void heap(const char *dir, const char *name, const char *profile)
{
	struct exp_builder *b = exp_builder_new(dir, name), *child;

	exp_builder_profile(b, 1, "main>work", MS_USER, 20);
	child = exp_builder_sub(b, "_f1.er", "child", BUILDER_PID + 1);
	expwriter_profile(exp_builder_writer(b), ER_PKT_HEAP, profile);
	expwriter_profile(exp_builder_writer(child), ER_PKT_HEAP, profile);
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		if (i % 5)
			exp_builder_sleep(b, 700 * 1000);
		put_call(calls[i].process ? child : b, &calls[i], exp_builder_now(b));
	}
	exp_builder_at(child, exp_builder_now(b) + MS - BUILDER_START_NS);
	exp_builder_close(child);
	exp_builder_close(b);
}

/* The form of old collectors, with packets of several states, and the remains of a Java program. */
static void old(const char *dir)
{
	struct exp_builder *b = exp_builder_new(dir, "old.1.er");
	struct expwriter *w = exp_builder_writer(b);
	static const char java[] = "<event kind=\"map\" object=\"jcm\" tstamp=\"0.001000000\" "
				   "vaddr=\"0x0000000000900000\" size=\"64\" methodId=\"0x12\"/>\n";
	static const struct {
		const char *stack;
		int ticks[10]; /* by state */
	} packets[] = {
		{ "main>work", { 30, 5, 1, 2, 3, 4, 6, 0, 7, 0 } },
		{ "main>rest", { 0, 0, 0, 0, 0, 0, 0, 100, 0, 8 } },
	};

	expwriter_profile(w, ER_PKT_PROF, "ptimer=\"1000\" numstates=\"10\"");
	for (size_t i = 0; i < sizeof(packets) / sizeof(packets[0]); i++) {
		int64_t values[15] = { 1, 1, 0, 0, exp_builder_stack(b, packets[i].stack) };

		exp_builder_sleep(b, MS);
		values[3] = exp_builder_now(b);
		for (int state = 0; state < 10; state++)
			values[5 + state] = packets[i].ticks[state];
		expwriter_packet(w, ER_PKT_PROF, values, NULL);
	}
	exp_builder_close(b);
	/* Written directly: the writer would report the changed file length. */
	tempdir_append(dir, "old.1.er/map.xml", java, sizeof(java) - 1);
}

int main(int argc, char **argv)
{
	if (argc != 2) {
		fprintf(stderr, "usage: make_kinds DIR\n");
		return 2;
	}
	mem(argv[1]);
	variables(argv[1]);
	trace(argv[1]);
	heap(argv[1], "heap.1.er", NULL);
	heap(argv[1], "some.1.er", "sampled=\"1\"");
	old(argv[1]);
	return 0;
}
