/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * make_fixtures DIR writes the experiments for the golden cases; every run writes the same bytes.
 * tree.1.er is the tree of Sun's worked example, with units of 10 ms. sys.1.er is a recording of
 * the system with two followed processes. rec.1.er has recursion. twin.1.er has a function with the
 * same name as one in sys.1.er. calls.1.er has traced calls and counters. cut.1.er was not closed.
 * hostile.1.er has names that are dangerous for a terminal, markup.1.er names that end elements of
 * HTML.
 */
#include <stdio.h>
#include <string.h>

#include "analysis/base/diag.h"
#include "tests/fixtures/exp_builder.h"

enum { UNIT = 10 };

static void tree(const char *dir)
{
	static const struct {
		const char *stack;
		unsigned units;
	} stacks[] = {
		{ "main", 2 }, { "main>A>C", 2 }, { "main>A>C>E", 4 }, { "main>A>C>F", 2 },
		{ "main>A>C>F>G", 2 }, { "main>B", 5 }, { "main>B>C", 3 }, { "main>B>C>E", 6 },
		{ "main>B>C>F", 3 }, { "main>B>C>F>G", 3 },
	};
	struct exp_builder *b = exp_builder_new(dir, "tree.1.er");

	exp_builder_sample(b, "start", 0);
	for (size_t i = 0; i < sizeof(stacks) / sizeof(stacks[0]); i++)
		exp_builder_profile_cpu(b, i % 2 + 1, i % 2, stacks[i].stack, MS_USER,
					stacks[i].units * UNIT);
	exp_builder_sample(b, "end of run", 320000000);
	exp_builder_close(b);
}

/* Two functions named `init`, and states other than user. */
static void sys(const char *dir)
{
	struct exp_builder *b = exp_builder_new_kernel(dir, "sys.1.er"), *sub;

	exp_builder_sample(b, "start", 0);
	exp_builder_profile_cpu(b, 1, 0, "k:entry_SYSCALL_64>k:do_syscall_64>k:vfs_read",
				MS_KERNEL_CPU, 300);
	exp_builder_profile_cpu(b, 2, 1, "k:kthread>k:init", MS_KERNEL_CPU, 150);
	exp_builder_profile_cpu(b, 2, 1, "k:kthread>k:ext4`init", MS_KERNEL_CPU, 50);
	exp_builder_sleep(b, 600000000);
	exp_builder_sample(b, "first", 500000000);
	exp_builder_profile_cpu(b, 3, 1, "...>?", MS_KERNEL_CPU, 10);
	exp_builder_sample(b, "second", 510000000);
	sub = exp_builder_sub(b, "_work_PID_12.1.er", "./work hard", 12);
	exp_builder_profile(sub, 12, "main>work>k:entry_SYSCALL_64>k:do_syscall_64>k:vfs_read",
			    MS_SYSTEM, 40);
	exp_builder_profile(sub, 12, "main>work", MS_USER, 160);
	exp_builder_close(sub);
	exp_builder_close(b);
}

static void recursion(const char *dir)
{
	struct exp_builder *b = exp_builder_new(dir, "rec.1.er");

	exp_builder_profile(b, 1, "main>r>r>r", MS_USER, 1);
	exp_builder_close(b);
}

/* A function `work` other than the one in sys.1.er. */
static void twin(const char *dir)
{
	struct exp_builder *b = exp_builder_new(dir, "twin.1.er");

	exp_builder_profile(b, 1, "main>boss>work", MS_USER, 7);
	exp_builder_close(b);
}

static void cut(const char *dir)
{
	struct exp_builder *b = exp_builder_new(dir, "cut.1.er");

	exp_builder_profile(b, 1, "main>work", MS_USER, 5);
	exp_builder_abandon(b);
}

static void hostile(const char *dir)
{
	struct exp_builder *b = exp_builder_new(dir, "hostile.1.er");

	exp_builder_profile(b, 1, "main>\033]0;owned\007", MS_USER, 5);
	exp_builder_profile(b, 1, "main>a,\"b\"", MS_USER, 3);
	exp_builder_profile(b, 1, "main>r\xc3\xa9sum\xc3\xa9", MS_USER, 2);
	exp_builder_close(b);
}

/* Names that end elements, reverse text, or do not fit anywhere. */
static void markup(const char *dir)
{
	struct exp_builder *b = exp_builder_new(dir, "markup.1.er");
	char big[60000] = "main>";

	memset(big + 5, 'x', sizeof(big) - 6);
	exp_builder_profile(b, 1, "main></script <img src=x onerror=alert(1)", MS_USER, 5);
	exp_builder_profile(b, 1, "main>\xe2\x80\xaegnp.exe", MS_USER, 3);
	exp_builder_profile(b, 2, "main><!-- <b", MS_SLEEP, 2);
	exp_builder_profile(b, 2, big, MS_USER, 4);
	exp_builder_close(b);
}

static void trace_packet(struct exp_builder *b, enum er_packet kind, const char *stack,
			 const int64_t *rest, size_t n, const char *string)
{
	int64_t values[16] = { 1, 1, 0, exp_builder_now(b), exp_builder_stack(b, stack) };

	for (size_t i = 0; i < n; i++)
		values[5 + i] = rest[i];
	expwriter_packet(exp_builder_writer(b), kind, values, string);
	exp_builder_sleep(b, 1000000);
}

#define TRACE(b, kind, stack, string, ...)                                                         \
	trace_packet(b, kind, stack, (const int64_t[]){ __VA_ARGS__ },                             \
		     sizeof((const int64_t[]){ __VA_ARGS__ }) / sizeof(int64_t), string)

/* An I/O call of `us` microseconds: type, descriptor, bytes. */
static void io(struct exp_builder *b, const char *stack, int type, int fd, int bytes, int us,
	       const char *file)
{
	TRACE(b, ER_PKT_IO, stack, file, type, fd, bytes, exp_builder_now(b) - us * 1000, 0, 0, 0, 0);
}

static void counters(struct exp_builder *b)
{
	static const char *const names[] = { "cycles", "insts" };

	for (int i = 0; i < 2; i++) {
		char attrs[128];

		snprintf(attrs, sizeof(attrs), "cpuver=\"0\" hwcname=\"%s\" int_name=\"%s\" "
			 "interval=\"1000003\" tag=\"%d\"", names[i], names[i], i);
		expwriter_profile(exp_builder_writer(b), ER_PKT_HWC, attrs);
	}
	TRACE(b, ER_PKT_HWC, "main>work", NULL, 0, 9000027);
	TRACE(b, ER_PKT_HWC, "main>work", NULL, 1, 3000009);
	TRACE(b, ER_PKT_HWC, "main>rest", NULL, 0, 1000003);
}

/* Every kind of call that gprofng traces, and two counters. */
static void traced(const char *dir)
{
	struct exp_builder *b = exp_builder_new(dir, "calls.1.er");
	struct expwriter *w = exp_builder_writer(b);

	expwriter_profile(w, ER_PKT_HEAP, "");
	expwriter_profile(w, ER_PKT_IO, "");
	expwriter_profile(w, ER_PKT_SYNC, "threshold=\"0\" scope=\"1\"");
	exp_builder_profile(b, 1, "main>work", MS_USER, 20);
	TRACE(b, ER_PKT_HEAP, "main>work>malloc", NULL, 0, 100, 0x1000, 0);
	TRACE(b, ER_PKT_HEAP, "main>work>malloc", NULL, 0, 5000, 0x2000, 0);
	TRACE(b, ER_PKT_HEAP, "main>malloc", NULL, 0, 64, 0x4000, 0);
	TRACE(b, ER_PKT_HEAP, "main>work>free", NULL, 1, 0, 0x1000, 0);
	TRACE(b, ER_PKT_HEAP, "main>realloc", NULL, 2, 200, 0x5000, 0x4000);
	TRACE(b, ER_PKT_HEAP, "main>mmap", NULL, 3, 65536, 0x100000, 0);
	TRACE(b, ER_PKT_HEAP, "main>munmap", NULL, 4, 4096, 0x100000, 0);
	io(b, "main>work>open", 2, 3, 0, 50, "/etc/passwd");
	io(b, "main>work>read", 0, 3, 2000, 300, NULL);
	io(b, "main>work>read", 0, 3, 10, 20, NULL);
	io(b, "main>work>close", 3, 3, 0, 5, NULL);
	io(b, "main>log>open", 2, 3, 0, 60, "/tmp/\033[31mlog");
	io(b, "main>log>write", 1, 3, 9000, 900, NULL);
	io(b, "main>log>open", 7, -1, 0, 10, "/no/such");
	TRACE(b, ER_PKT_SYNC, "main>lock", NULL, exp_builder_now(b) - 7000000, 0xbeef);
	counters(b);
	exp_builder_close(b);
}

int main(int argc, char **argv)
{
	if (argc != 2) {
		fprintf(stderr, "usage: make_fixtures DIR\n");
		return 2;
	}
	tree(argv[1]);
	sys(argv[1]);
	recursion(argv[1]);
	twin(argv[1]);
	cut(argv[1]);
	hostile(argv[1]);
	markup(argv[1]);
	traced(argv[1]);
	return 0;
}
