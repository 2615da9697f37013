/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "loaders/perf_event.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "analysis/base/alloc.h"

/*
 * A period and not a frequency: the kernel then neither adapts nor refuses it.
 * The hrtimer behind it has a floor of 10,000 ns.
 */
int perf_clock_open(int cpu, uint64_t interval_ns, bool exclude_idle)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = interval_ns,
		.disabled = 1,
		.exclude_idle = exclude_idle,
	};
	int fd = syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

int perf_event_enable(int fd)
{
	return ioctl(fd, PERF_EVENT_IOC_ENABLE, 0) ? -errno : 0;
}

int perf_event_disable(int fd)
{
	return ioctl(fd, PERF_EVENT_IOC_DISABLE, 0) ? -errno : 0;
}

int perf_event_run(int fd, int prog_fd)
{
	return ioctl(fd, PERF_EVENT_IOC_SET_BPF, prog_fd) ? -errno : 0;
}

long kernel_sysctl(const char *name, long otherwise)
{
	__cleanup(freep) char *path = xasprintf("/proc/sys/kernel/%s", name);
	__cleanup(fclosep) FILE *f = fopen(path, "re");
	long value;

	return f && fscanf(f, "%ld", &value) == 1 ? value : otherwise;
}
