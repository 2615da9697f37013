/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes a recording of many short processes, as er_kernel lays it out, for measuring readers:
 *
 *	gen_processes NAME.er [processes]
 *
 * The processes run PROGRAMS programs, each of which is a pool. Each process has a thread with
 * SAMPLES clock samples and WAITS waits, and a line in threads.xml, names.xml and processes.xml.
 * It prints the total that a reader must show.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "analysis/base/alloc.h"
#include "analysis/base/buf.h"
#include "analysis/base/diag.h"
#include "analysis/base/map.h"
#include "analysis/experiment/expwriter.h"

enum { PROGRAMS = 50, STACKS = 400, FRAMES = 30, SAMPLES = 5, WAITS = 5, FUNCTIONS = 500,
       FUNC_SIZE = 256, FIRST_PID = 1000, PTIMER_US = 1, LIFE_NS = 20000000, EVERY_NS = 1000000 };

#define BASE 0x100000ULL

static const uint64_t start_ns = 1000ULL * 1000000000;

struct writers {
	struct expwriter *founder, *pools[PROGRAMS];
	struct diag diag;
	struct exp_header header;
};

static int create(struct writers *g, const char *name)
{
	struct exp_header *h = &g->header;

	*h = (struct exp_header){ .collector = "gen_processes", .hostname = "bench",
				  .arch = "x86_64", .os = "Linux", .pagesize = 4096, .npages = 1,
				  .cwd = "/", .command = "bench", .wordsize = 64,
				  .start_ns = start_ns, .start_epoch = 1700000000 };
	if (expwriter_create(AT_FDCWD, name, h, &g->diag, &g->founder) < 0)
		return -1;
	expwriter_clock_profile(g->founder, PTIMER_US, STATES_KERNEL, true);
	expwriter_parts_begin(g->founder, h);
	expwriter_clock_profile(g->founder, PTIMER_US, STATES_ALL, true);
	expwriter_parts_end(g->founder);
	expwriter_replace(g->founder, "recorder.xml", "<recorder scope=\"system\"/>\n");
	return 0;
}

/* Every pool has the same stacks, in functions of its own. */
static int create_pool(struct writers *g, unsigned i)
{
	char name[32], command[32];
	uint64_t pcs[FRAMES], base = BASE + (uint64_t)i * FUNCTIONS * FUNC_SIZE, n = 0;
	struct expwriter *w;

	snprintf(name, sizeof(name), "_program%u.1.er", i);
	snprintf(command, sizeof(command), "/usr/bin/program%u", i);
	g->header.command = command;
	if (expwriter_create_part(g->founder, name, &g->header, &g->diag, &w) < 0)
		return -1;
	for (unsigned k = 0; k < FUNCTIONS; k++) {
		snprintf(name, sizeof(name), "function_%u_%u", i, k);
		expwriter_function(w, start_ns, base + (uint64_t)k * FUNC_SIZE, FUNC_SIZE, name);
	}
	for (unsigned id = 1; id <= STACKS; id++) {
		for (unsigned k = 0; k < FRAMES; k++)
			pcs[k] = base + hash64(n++) % (FUNCTIONS * FUNC_SIZE);
		expwriter_stack(w, id, pcs, FRAMES);
	}
	g->pools[i] = w;
	return 0;
}

static void put_packets(struct expwriter *w, uint64_t i, uint64_t begin_ns)
{
	struct wait_info info = { .reason = REASON_PIPE, .syscall = 0, .length_ns = EVERY_NS };
	uint64_t pid = FIRST_PID + i;

	for (unsigned k = 0; k < SAMPLES + WAITS; k++) {
		bool waits = k >= SAMPLES;

		expwriter_clock(w, &(struct clock_packet){
			.lwp = pid, .thread = pid, .cpu = i % 4,
			.time_ns = begin_ns + (k + 1) * EVERY_NS,
			.stack = 1 + hash64(i * (SAMPLES + WAITS) + k) % STACKS,
			.state = waits ? MS_SLEEP : MS_USER, .nticks = EVERY_NS / 1000,
			.seq = i, .wait = waits ? &info : NULL });
	}
}

static void put_lines(struct expwriter *founder, uint64_t i, uint64_t begin)
{
	uint64_t pid = FIRST_PID + i, program = i % PROGRAMS;
	uint64_t busy = (uint64_t)SAMPLES * EVERY_NS, asleep = LIFE_NS - busy;
	struct buf b = { 0 };

	buf_printf(&b, "<thread pid=\"%" PRIu64 "\" tid=\"%" PRIu64 "\" comm=\"program%" PRIu64
		   "\" begin=\"%" PRIu64 "\" end=\"%" PRIu64 "\" run=\"%" PRIu64 "\" user=\"%" PRIu64
		   "\" sleep=\"%" PRIu64 "\" nsleep=\"%d\" waits=\"%d\" minflt=\"300\" born=\"1\" "
		   "ended=\"1\" cgroup=\"/system.slice/build.service\" "
		   "experiment=\"_program%" PRIu64 ".1.er\"/>", pid, pid, program, begin,
		   begin + LIFE_NS, busy, busy, asleep, WAITS, WAITS, program);
	expwriter_text(founder, "threads.xml", b.data);
	buf_clear(&b);
	buf_printf(&b, "<name pid=\"%" PRIu64 "\" tid=\"%" PRIu64 "\" at=\"%" PRIu64
		   "\" comm=\"program%" PRIu64 "\"/>", pid, pid, begin, program);
	expwriter_text(founder, "names.xml", b.data);
	buf_clear(&b);
	buf_printf(&b, "<process pid=\"%" PRIu64 "\" ppid=\"1\" begin=\"%" PRIu64 "\" comm=\"program%"
		   PRIu64 "\" command=\"/usr/bin/program%" PRIu64 " -quiet -I /usr/include "
		   "file%" PRIu64 ".c\" program=\"/usr/bin/program%" PRIu64
		   "\" experiment=\"_program%" PRIu64 ".1.er\"/>", pid, begin, program, program, i,
		   program, program);
	expwriter_text(founder, "processes.xml", b.data);
	buf_free(&b);
}

static void write_process(struct writers *g, uint64_t i)
{
	uint64_t begin = i * EVERY_NS;
	struct expwriter *w = g->pools[i % PROGRAMS];

	put_lines(g->founder, i, begin);
	put_packets(w, i, start_ns + begin);
	if (expwriter_pending(w) + expwriter_pending(g->founder) > 1 << 20) {
		expwriter_flush(g->founder);
		expwriter_flush(w);
	}
}

static int end(struct writers *g, uint64_t time_ns)
{
	int err = 0;

	for (unsigned i = 0; i < PROGRAMS; i++) {
		expwriter_exit(g->pools[i], time_ns);
		err |= expwriter_close(g->pools[i]);
	}
	expwriter_exit(g->founder, time_ns);
	return err | expwriter_close(g->founder);
}

int main(int argc, char **argv)
{
	uint64_t n = argc > 2 ? strtoull(argv[2], NULL, 10) : 100000;
	struct writers g = { .diag = { .prefix = "gen_processes" } };

	if (argc < 2 || !n || n > INT32_MAX - FIRST_PID) {
		fputs("usage: gen_processes NAME.er [processes]\n", stderr);
		return 2;
	}
	if (create(&g, argv[1]) < 0)
		return 1;
	for (unsigned i = 0; i < PROGRAMS; i++) {
		if (create_pool(&g, i) < 0)
			return 1;
	}
	for (uint64_t i = 0; i < n; i++)
		write_process(&g, i);
	if (end(&g, start_ns + n * EVERY_NS + LIFE_NS)) {
		fprintf(stderr, "gen_processes: %s: could not be written\n", argv[1]);
		return 1;
	}
	printf("%" PRIu64 " processes, total CPU %.3f sec.\n", n, n * SAMPLES * (EVERY_NS / 1e9));
	return 0;
}
