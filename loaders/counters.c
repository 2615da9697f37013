/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The loader of bpf/counter.bpf.c. It opens a perf event for each counter on each CPU. */
#include "loaders/loader.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "analysis/base/alloc.h"
#include "analysis/base/diag.h"
#include "bpf/counter.skel.h"
#include "loaders/cpus.h"
#include "loaders/knobs.h"
#include "loaders/perf_event.h"
#include "loaders/rings.h"
#include "loaders/targets.h"
#include "loaders/typed.h"

/* One counter on one CPU; -1: the CPU was offline. */
struct event {
	int fd, link;
};

struct counters {
	const struct rings *rings;
	struct typed *typed;
	struct counter_bpf *skel;
	struct capture_counter *defs;
	size_t n;
	struct event *events;         /* n for each ring */
	uint64_t *hotplugs;           /* hotplug events handled, for each ring's CPU */
	bool alone;                   /* no clock loader: this one reports CPUs that came online */
	bool paused;
	bool imprecise;               /* a counter should be precise and is not */
	struct capture_counted *sums; /* counts of closed events; after the stop of all events */
	const struct er_counter_cpu *cpus;
	size_t cpus_size;
};

static bool counters_wanted(const struct capture_plan *plan)
{
	return plan->ncounters > 0;
}

static struct event *event_of(const struct counters *c, int ring, size_t counter)
{
	return &c->events[ring * c->n + counter];
}

static void close_event(struct event *e)
{
	closep(&e->link);
	closep(&e->fd);
	*e = (struct event){ -1, -1 };
}

static void counters_close(void *self)
{
	struct counters *c = self;

	if (!c)
		return;
	for (size_t i = 0; i < c->n * rings_nrings(c->rings); i++)
		close_event(&c->events[i]);
	if (c->cpus)
		munmap((void *)c->cpus, c->cpus_size);
	counter_bpf__destroy(c->skel);
	typed_close(c->typed);
	free(c->defs);
	free(c->events);
	free(c->hotplugs);
	free(c->sums);
	free(c);
}

/* --- when the kernel refuses a counter --- */

static int denied(struct diag *d, const struct capture_counter *def, int err)
{
	long paranoid = kernel_sysctl("perf_event_paranoid", 2);

	return diag_errno(d, -err,
			  "-h %s: counters of the whole system are denied: run as root, or with the "
			  "capabilities cap_bpf and cap_perfmon%s", def->name,
			  paranoid > 2 ? "; they suffice only if kernel.perf_event_paranoid is 2 or less: "
					 "lower it, or add cap_sys_admin" : "");
}

static int no_unit(struct diag *d, const struct capture_counter *def)
{
	if (def->type == PERF_TYPE_HARDWARE || def->type == PERF_TYPE_HW_CACHE ||
	    def->type == PERF_TYPE_RAW)
		return diag_error(d, "-h %s: this machine, or virtual machine, has no such hardware counter: "
				     "record on a host or on a guest with a PMU, or choose a counter that "
				     "-h alone lists", def->name);
	return diag_error(d, "-h %s: the kernel has no such event: choose one that -h alone lists", def->name);
}

int capture_counter_error(struct diag *d, const struct capture_counter *def, int err)
{
	switch (-err) {
	case EACCES:
	case EPERM:
		return denied(d, def, err);
	case ENOENT:
	case ENODEV:
	case ENXIO:
	case EOPNOTSUPP:
		return no_unit(d, def);
	case EBUSY:
		return diag_errno(d, -err, "-h %s: another program uses the counter: end it, or choose "
					   "another counter", def->name);
	case EINVAL:
	case ERANGE:
		return diag_errno(d, -err,
				  "-h %s: the kernel refuses the event, one of its attributes, or interrupts "
				  "from it: choose a counter that -h alone lists", def->name);
	case EMFILE:
		return diag_errno(d, -err, "-h %s: cannot open a counter on each CPU: raise the limit of "
					   "open files (ulimit -n)", def->name);
	}
	return diag_errno(d, -err, "-h %s: cannot open the counter", def->name);
}

/* --- opening --- */

int capture_try_counter(const struct capture_counter *def, bool *precise)
{
	bool without = false;
	struct cpu_list l;
	int fd, cpu = 0;

	if (!cpus_online(&l) && l.n)
		cpu = l.cpus[0];
	cpus_free(&l);
	fd = perf_counter_open(cpu, def, precise ? precise : &without);
	if (fd < 0)
		return fd;
	close(fd);
	return 0;
}

/* Open all counters on one CPU. Returns 0, or -errno; *bad is then the counter that failed. */
static int open_cpu(struct counters *c, int ring, size_t *bad)
{
	for (size_t i = 0; i < c->n; i++) {
		bool precise = c->defs[i].precise;
		int fd = perf_counter_open(rings_cpu(c->rings, ring), &c->defs[i], &precise);

		c->imprecise |= c->defs[i].precise && !precise;
		*bad = i;
		if (fd >= 0)
			event_of(c, ring, i)->fd = fd;
		else
			return fd;
	}
	return 0;
}

/* ENODEV means that the CPU is offline or, if it is online, that the event does not exist. */
static bool online(int cpu)
{
	struct cpu_list l;
	bool found = false;

	if (cpus_online(&l))
		return true;
	for (int i = 0; i < l.n; i++)
		found |= l.cpus[i] == cpu;
	cpus_free(&l);
	return found;
}

static int open_events(struct counters *c, struct diag *d)
{
	for (int ring = 0; ring < rings_nrings(c->rings); ring++) {
		size_t bad;
		int err = open_cpu(c, ring, &bad);

		if (err && (err != -ENODEV || online(rings_cpu(c->rings, ring))))
			return capture_counter_error(d, &c->defs[bad], err);
	}
	return 0;
}

static int map_counts(struct counters *c)
{
	size_t page = sysconf(_SC_PAGESIZE);
	void *p;

	c->cpus_size = rings_ncpus(c->rings) * sizeof(struct er_counter_cpu);
	c->cpus_size = (c->cpus_size + page - 1) & ~(page - 1);
	p = mmap(NULL, c->cpus_size, PROT_READ, MAP_SHARED,
		 bpf_map__fd(c->skel->maps.er_counter_cpus), 0);
	if (p == MAP_FAILED)
		return -errno;
	c->cpus = p;
	return 0;
}

static int open_skeleton(struct counters *c)
{
	LIBBPF_OPTS(bpf_object_open_opts, opts);
	int err = typed_open(&c->typed);

	if (err)
		return err;
	opts.btf_custom_path = typed_path(c->typed);
	c->skel = counter_bpf__open_opts(&opts);
	return c->skel ? typed_look(c->typed, c->skel->obj, NULL) : -errno;
}

static int load(struct counters *c, const struct capture_plan *plan)
{
	struct counter_bpf *skel = c->skel;
	int err;

	knobs_set(skel, plan, c->rings, typed_can_schedule(c->typed));
	skel->rodata->er_perf_step = cpus_hotplug_step("perf:online");
	skel->rodata->er_idle = plan->idle;
	bpf_program__set_autoload(skel->progs.er_overflow, !skel->rodata->er_again);
	bpf_program__set_autoload(skel->progs.er_overflow_again, skel->rodata->er_again);
	bpf_map__set_max_entries(skel->maps.er_counter_cpus, rings_ncpus(c->rings));
	/* If the clock is recorded, its loader has this program already. */
	bpf_program__set_autoload(skel->progs.er_cpuhp, c->alone && skel->rodata->er_perf_step);
	bpf_map__set_autocreate(skel->maps.er_threads, false);
	err = rings_bind(c->rings, skel->obj);
	if (!err)
		err = counter_bpf__load(skel);
	typed_loaded(c->typed);
	if (!err)
		err = targets_fill(skel->maps.er_targets, plan);
	return err ? err : map_counts(c);
}

static struct counters *counters_new(const struct capture_plan *plan, const struct rings *rings)
{
	struct counters *c = xcalloc(1, sizeof(*c));

	c->rings = rings;
	c->alone = !plan->interval_ns;
	c->n = plan->ncounters;
	c->defs = xcalloc(c->n, sizeof(*c->defs));
	for (size_t i = 0; i < c->n; i++)
		c->defs[i] = plan->counters[i];
	c->sums = xcalloc(c->n, sizeof(*c->sums));
	c->hotplugs = xcalloc(rings_nrings(rings), sizeof(*c->hotplugs));
	c->events = xcalloc(c->n * rings_nrings(rings), sizeof(*c->events));
	for (size_t i = 0; i < c->n * rings_nrings(rings); i++)
		c->events[i] = (struct event){ -1, -1 };
	return c;
}

static int counters_open(const struct capture_plan *plan, struct rings *rings, struct diag *d,
			 void **self)
{
	struct counters *c = counters_new(plan, rings);
	int err = open_events(c, d);

	if (!err) {
		err = open_skeleton(c);
		err = err ? err : load(c, plan);
		if (err)
			diag_errno(d, -err, "cannot load the counter program");
	}
	if (err) {
		counters_close(c);
		return err;
	}
	*self = c;
	return 0;
}

/* --- running --- */

static int start_event(struct counters *c, struct event *e, size_t counter)
{
	LIBBPF_OPTS(bpf_link_create_opts, opts, .perf_event.bpf_cookie = counter);
	const struct bpf_program *prog = c->skel->rodata->er_again ? c->skel->progs.er_overflow_again :
								     c->skel->progs.er_overflow;

	if (c->defs[counter].data)
		opts.perf_event.bpf_cookie |= ER_COUNTER_DATA;
	if (e->fd < 0)
		return 0;
	e->link = bpf_link_create(bpf_program__fd(prog), e->fd, BPF_PERF_EVENT, &opts);
	if (e->link < 0)
		return -errno;
	return c->paused ? 0 : perf_event_enable(e->fd);
}

static int start_cpu(struct counters *c, int ring)
{
	int err = 0;

	for (size_t i = 0; i < c->n && !err; i++)
		err = start_event(c, event_of(c, ring, i), i);
	return err;
}

static int counters_start(void *self, uint64_t start_ns, struct diag *d)
{
	struct counters *c = self;
	int err = 0;

	if (c->imprecise)
		diag_warn(d, "-h +…: this machine cannot name the exact instruction of an event: "
			     "recorded addresses may be a few instructions late");
	if (bpf_program__autoload(c->skel->progs.er_cpuhp)) {
		c->skel->links.er_cpuhp = bpf_program__attach(c->skel->progs.er_cpuhp);
		err = c->skel->links.er_cpuhp ? 0 : -errno;
	}
	for (int ring = 0; ring < rings_nrings(c->rings) && !err; ring++)
		err = start_cpu(c, ring);
	return err ? diag_errno(d, -err, "cannot start the counters") : 0;
}

static int set_all(struct counters *c, int (*set)(int fd))
{
	int err = 0;

	for (size_t i = 0; i < c->n * rings_nrings(c->rings); i++) {
		int e = c->events[i].fd < 0 ? 0 : set(c->events[i].fd);

		err = err ? err : e;
	}
	return err;
}

static int counters_pause(void *self, uint64_t *time_ns, struct buf *last, struct diag *d)
{
	struct counters *c = self;
	int err = set_all(c, perf_event_disable);

	c->paused = true;
	return err ? diag_errno(d, -err, "cannot pause the counters") : 0;
}

static int counters_resume(void *self, uint64_t time_ns, struct diag *d)
{
	struct counters *c = self;
	int err = set_all(c, perf_event_enable);

	c->paused = false;
	return err ? diag_errno(d, -err, "cannot resume the counters") : 0;
}

static int counters_stop(void *self, uint64_t *stop_ns, struct buf *last, struct diag *d)
{
	struct counters *c = self;
	int err = set_all(c, perf_event_disable);

	for (size_t i = 0; i < c->n * rings_nrings(c->rings); i++) {
		int e = c->events[i].fd < 0 ? 0 :
			perf_counter_read(c->events[i].fd, &c->sums[i % c->n]);

		err = err ? err : e;
	}
	counter_bpf__detach(c->skel);
	return err ? diag_errno(d, -err, "cannot stop the counters") : 0;
}

/* --- CPUs that come and go --- */

static uint64_t hotplugs(const struct counters *c, int ring)
{
	const volatile struct er_cpu *cpu = rings_cpu_state(c->rings, rings_cpu(c->rings, ring));

	return cpu->counts.hotplugs;
}

static void counters_resend(void *self)
{
	struct counters *c = self;

	resend_stacks(&c->skel->bss->er_seen_key);
}

static bool counters_cpus_changed(const void *self)
{
	const struct counters *c = self;

	for (int ring = 0; ring < rings_nrings(c->rings); ring++)
		if (hotplugs(c, ring) != c->hotplugs[ring])
			return true;
	return false;
}

/* An event ends when its CPU goes offline; its count can still be read. */
static int open_again(struct counters *c, int ring)
{
	size_t bad;
	int err;

	for (size_t i = 0; i < c->n; i++) {
		struct event *e = event_of(c, ring, i);

		if (e->fd >= 0)
			perf_counter_read(e->fd, &c->sums[i]);
		close_event(e);
	}
	err = open_cpu(c, ring, &bad);
	return err ? err : start_cpu(c, ring);
}

static void counters_follow_cpus(void *self, void (*fn)(void *ctx, int cpu, int err), void *ctx)
{
	struct counters *c = self;

	for (int ring = 0; ring < rings_nrings(c->rings); ring++) {
		uint64_t n = hotplugs(c, ring); /* read first: a later change is seen again */
		int err;

		if (n == c->hotplugs[ring])
			continue;
		c->hotplugs[ring] = n;
		err = open_again(c, ring);
		if (err != -ENODEV && (err || c->alone))
			fn(ctx, rings_cpu(c->rings, ring), err);
	}
}

/* --- results --- */

static void counters_counted(const void *self, size_t counter, struct capture_counted *ret)
{
	const struct counters *c = self;

	if (counter >= c->n)
		return;
	*ret = c->sums[counter];
	for (int cpu = 0; cpu < rings_ncpus(c->rings); cpu++)
		ret->seen += c->cpus[cpu].events[counter];
}

const struct loader counter_loader = {
	.wanted = counters_wanted,
	.open = counters_open,
	.start = counters_start,
	.pause = counters_pause,
	.resume = counters_resume,
	.stop = counters_stop,
	.close = counters_close,
	.resend = counters_resend,
	.cpus_changed = counters_cpus_changed,
	.follow_cpus = counters_follow_cpus,
	.counted = counters_counted,
};
