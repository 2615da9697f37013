/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "loaders/clocks.h"

#include <errno.h>
#include <stdlib.h>

#include "analysis/base/alloc.h"
#include "analysis/base/diag.h"
#include "loaders/perf_event.h"
#include "loaders/rings.h"

struct clock {
	int fd;            /* -1: the CPU was offline */
	uint64_t hotplugs; /* hotplug events of its CPU that were handled */
};

struct clocks {
	const struct rings *rings;
	uint64_t interval_ns;
	bool idle;
	bool enabled;
	int prog_fd;
	struct clock *clocks; /* one per ring */
};

static int clock_error(struct diag *d, int err)
{
	long paranoid = kernel_sysctl("perf_event_paranoid", 2);

	/* Debian and Ubuntu have levels above 2, which need CAP_SYS_ADMIN. */
	if (err == -EACCES || err == -EPERM)
		return diag_errno(d, -err,
				  "cannot open the clock event of a CPU: run as root, or with the "
				  "capabilities cap_bpf and cap_perfmon%s",
				  paranoid > 2 ? "; they suffice only if kernel.perf_event_paranoid is 2 or "
						 "less: lower it, or add cap_sys_admin" : "");
	if (err == -EMFILE)
		return diag_errno(d, EMFILE,
				  "cannot open a clock event for each CPU: raise the "
				  "limit of open files (ulimit -n)");
	return diag_errno(d, -err, "cannot open the clock event of a CPU");
}

int clocks_open(const struct rings *rings, uint64_t interval_ns, bool idle, struct diag *d,
		struct clocks **ret)
{
	int n = rings_nrings(rings), err = 0;
	struct clocks *c = xcalloc(1, sizeof(*c));

	*c = (struct clocks){ .rings = rings, .interval_ns = interval_ns, .idle = idle };
	c->clocks = xcalloc(n, sizeof(*c->clocks));
	for (int i = 0; i < n; i++)
		c->clocks[i].fd = -1;
	for (int i = 0; interval_ns && i < n && !err; i++) {
		int fd = perf_clock_open(rings_cpu(rings, i), interval_ns, !idle);

		if (fd >= 0)
			c->clocks[i].fd = fd;
		else if (fd != -ENODEV) /* offline */
			err = fd;
	}
	if (err) {
		clocks_close(c);
		return clock_error(d, err);
	}
	*ret = c;
	return 0;
}

void clocks_close(struct clocks *c)
{
	if (!c)
		return;
	for (int i = 0; i < rings_nrings(c->rings); i++)
		closep(&c->clocks[i].fd);
	free(c->clocks);
	free(c);
}

int clocks_attach(struct clocks *c, int prog_fd)
{
	int err = 0;

	c->prog_fd = prog_fd;
	for (int i = 0; i < rings_nrings(c->rings) && !err; i++)
		if (c->clocks[i].fd >= 0)
			err = perf_event_run(c->clocks[i].fd, prog_fd);
	return err;
}

static int set_all(const struct clocks *c, int (*set)(int fd))
{
	int err = 0;

	for (int i = 0; i < rings_nrings(c->rings); i++) {
		int e = c->clocks[i].fd < 0 ? 0 : set(c->clocks[i].fd);

		err = err ? err : e;
	}
	return err;
}

int clocks_enable(struct clocks *c)
{
	c->enabled = true;
	return set_all(c, perf_event_enable);
}

int clocks_disable(struct clocks *c)
{
	c->enabled = false;
	return set_all(c, perf_event_disable);
}

static int open_again(struct clocks *c, int cpu, struct clock *clock)
{
	int fd = perf_clock_open(cpu, c->interval_ns, !c->idle), err;

	closep(&clock->fd);
	clock->fd = fd < 0 ? -1 : fd;
	if (fd < 0)
		return fd;
	err = perf_event_run(fd, c->prog_fd);
	return err || !c->enabled ? err : perf_event_enable(fd);
}

/* Hotplug events so far of the i-th ring's CPU. */
static uint64_t hotplugs(const struct clocks *c, int i)
{
	const volatile struct er_cpu *cpu = rings_cpu_state(c->rings, rings_cpu(c->rings, i));

	return cpu->counts.hotplugs;
}

bool clocks_changed(const struct clocks *c)
{
	for (int i = 0; i < rings_nrings(c->rings); i++)
		if (hotplugs(c, i) != c->clocks[i].hotplugs)
			return true;
	return false;
}

void clocks_follow(struct clocks *c, void (*fn)(void *ctx, int cpu, int err), void *ctx)
{
	for (int i = 0; i < rings_nrings(c->rings); i++) {
		int cpu = rings_cpu(c->rings, i), err;
		uint64_t n = hotplugs(c, i); /* read first: a later change is seen again */

		if (n == c->clocks[i].hotplugs)
			continue;
		c->clocks[i].hotplugs = n;
		if (!c->interval_ns)
			continue;
		err = open_again(c, cpu, &c->clocks[i]);
		if (err != -ENODEV) /* the CPU is offline */
			fn(ctx, cpu, err);
	}
}
