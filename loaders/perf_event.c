/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "loaders/perf_event.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "analysis/base/alloc.h"
#include "loaders/capture.h"

/*
 * A period, not a frequency: the kernel neither adapts a period nor refuses it. The hrtimer
 * behind it has a minimum of 10,000 ns.
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

/*
 * Do not set PERF_SAMPLE_PERIOD: with it the kernel lets software counters overflow at every
 * event.
 */
static int counter_open(int cpu, const struct capture_counter *c, unsigned precise)
{
	struct perf_event_attr attr = {
		.type = c->type,
		.size = sizeof(attr),
		.config = c->config,
		.config1 = c->config1,
		.config2 = c->config2,
		.sample_period = c->interval,
		.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING,
		.disabled = 1,
		.exclude_user = c->no_user,
		.exclude_kernel = c->no_kernel,
		.precise_ip = precise,
		.sample_type = c->data ? PERF_SAMPLE_ADDR : 0,
	};
	int fd = syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

/* Try the most precise level first. precise_ip 3 means no skid, 1 constant skid. */
int perf_counter_open(int cpu, const struct capture_counter *c, bool *precise)
{
	for (unsigned level = *precise ? 3 : 0; level; level--) {
		int fd = counter_open(cpu, c, level);

		if (fd >= 0)
			return fd;
	}
	*precise = false;
	return counter_open(cpu, c, 0);
}

int perf_counter_read(int fd, struct capture_counted *sum)
{
	uint64_t v[3]; /* in the order of read_format */
	ssize_t n = read(fd, v, sizeof(v));

	if (n != sizeof(v))
		return n < 0 ? -errno : -EIO;
	sum->events += v[0];
	sum->enabled_ns += v[1];
	sum->running_ns += v[2];
	return 0;
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
