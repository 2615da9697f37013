/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * attach OBJECT [NS]: loads a BPF object and attaches all its programs until a signal. Programs
 * for perf events run on a clock with this interval in ns, on each CPU.
 */
#include <bpf/libbpf.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The same clock events as er_kernel's. */
static int attach_clocks(const struct bpf_program *program, unsigned long long interval_ns)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = interval_ns,
		.exclude_idle = 1,
	};
	long ncpus = sysconf(_SC_NPROCESSORS_ONLN);

	for (long cpu = 0; cpu < ncpus; cpu++) {
		int fd = syscall(SYS_perf_event_open, &attr, -1, (int)cpu, -1, PERF_FLAG_FD_CLOEXEC);

		if (fd < 0 || !bpf_program__attach_perf_event(program, fd))
			return -1;
	}
	return 0;
}

int main(int argc, char **argv)
{
	struct bpf_object *object = argc > 1 ? bpf_object__open_file(argv[1], NULL) : NULL;
	unsigned long long interval_ns = argc > 2 ? strtoull(argv[2], NULL, 10) : 10000000;
	struct bpf_program *program;

	if (!object || bpf_object__load(object))
		return 2;
	bpf_object__for_each_program(program, object) {
		if (bpf_program__type(program) == BPF_PROG_TYPE_PERF_EVENT) {
			if (attach_clocks(program, interval_ns) < 0)
				return 2;
		} else if (!bpf_program__attach(program)) {
			return 2;
		}
	}
	pause();
	return 0;
}
