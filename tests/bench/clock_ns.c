/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * clock_ns: prints the ns that a BPF program takes to read CLOCK_MONOTONIC once, when the clock's data are in the
 * cache: the least difference of a program that reads it eleven times and one that reads it once.
 */
#include <bpf/bpf.h>
#include <linux/bpf.h>
#include <stdio.h>

enum { READINGS = 10, RUNS = 200000, TURNS = 9, PACKET = 64 };

/* A program that reads the clock n times. */
static int load(int n)
{
	const struct bpf_insn read = { .code = BPF_JMP | BPF_CALL, .imm = BPF_FUNC_ktime_get_ns };
	struct bpf_insn code[READINGS + 3];
	int i = 0;

	while (i < n)
		code[i++] = read;
	code[i++] = (struct bpf_insn){ .code = BPF_ALU64 | BPF_MOV | BPF_K };
	code[i++] = (struct bpf_insn){ .code = BPF_JMP | BPF_EXIT };
	return bpf_prog_load(BPF_PROG_TYPE_SCHED_CLS, "clock_ns", "GPL", code, i, NULL);
}

/* The mean ns of a run, by the kernel's count; 0: it cannot be run. */
static unsigned run(int fd)
{
	char packet[PACKET] = { 0 };
	LIBBPF_OPTS(bpf_test_run_opts, opts, .data_in = packet, .data_size_in = sizeof(packet), .repeat = RUNS);

	return bpf_prog_test_run_opts(fd, &opts) ? 0 : opts.duration;
}

int main(void)
{
	int once = load(1), often = load(READINGS + 1);
	unsigned few = ~0u, many = ~0u, ns;

	for (int i = 0; i < TURNS; i++) {
		ns = run(once);
		few = ns < few ? ns : few;
		ns = run(often);
		many = ns < many ? ns : many;
	}
	if (once < 0 || often < 0 || !few || many <= few) {
		fprintf(stderr, "clock_ns: the kernel ran no program\n");
		return 1;
	}
	printf("%.1f\n", (double)(many - few) / READINGS);
	return 0;
}
