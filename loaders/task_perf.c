/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "loaders/task_perf.h"

#include <dirent.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "analysis/base/alloc.h"
#include "analysis/base/diag.h"
#include "analysis/base/map.h"
#include "analysis/base/vec.h"
#include "loaders/capture.h"
#include "loaders/cpus.h"
#include "loaders/perf_event.h"

enum {
	MOST_BYTES = 512 << 10,  /* of a ring: with its head page what kernel.perf_event_mlock_kb allows per CPU */
	LEAST_BYTES = 64 << 10,
	STACK_BYTES = 16 << 10,  /* that a sample copies, */
	SHORT_BYTES = 8 << 10,   /* and if there are many samples */
	SHORT_NS = 5000000,
	OPEN_TRIES = 10,
	RECORD_MAX = 1 << 16,
	/* AX BX CX DX SI DI BP SP IP, then R8 to R15, as bits of the kernel's perf_event_x86_regs */
	USER_REGS = 0x1ff | 0xff << 16,
	ABI_64 = PERF_SAMPLE_REGS_ABI_64,
};

/* What ends each record that is no sample. */
struct trailer {
	uint32_t pid, tid;
	uint64_t time_ns;
	uint32_t cpu, reserved;
	uint64_t id;
};

struct event {
	int fd, source;
};

struct ring {
	int cpu, fd; /* of the event that owns it */
	void *base;  /* the head page, then `bytes` of records */
};

struct task_perf {
	struct task_perf_plan plan;
	VEC(struct event) events;
	struct map sources; /* by the kernel's id of the event, plus 1 */
	VEC(struct ring) rings;
	VEC(int) fds; /* of the rings */
	VEC(pid_t) threads;
	size_t pagesize, bytes;
	int failed;        /* the source whose event could not be opened */
	uint64_t intervals[ER_MAX_COUNTERS];
	uint64_t seen[ER_MAX_COUNTERS]; /* samples */
	uint64_t record[RECORD_MAX / sizeof(uint64_t)]; /* one that wraps around the end of its ring */
};

/* --- opening --- */

static struct perf_event_attr common(void)
{
	return (struct perf_event_attr){
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(struct perf_event_attr),
		.config = PERF_COUNT_SW_TASK_CLOCK,
		.exclude_kernel = 1,
		.exclude_hv = 1,
		.disabled = 1,
		.inherit = 1,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
	};
}

static int open_event(const struct perf_event_attr *attr, pid_t tid, int cpu)
{
	struct perf_event_attr a = *attr;

	return syscall(SYS_perf_event_open, &a, tid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

int task_perf_try(pid_t pid)
{
	struct perf_event_attr attr = common();
	int fd = open_event(&attr, pid, -1), err = fd < 0 ? -errno : 0;

	if (fd >= 0)
		close(fd);
	return err;
}

/*
 * The clock's event also brings the records of processes. Without a clock nothing is sampled there.
 *
 * With inherit_stat it tells the count of each thread that ends. The kernel then exchanges the counts of
 * two threads' events when it switches between them. It pairs the events by their order, which differs
 * if they are of several PMUs (seen on 6.18), so that a counter gets nanoseconds. With counters there is
 * no such record; the time of such a thread is in what /proc counts for the process.
 */
static struct perf_event_attr attr_of(const struct task_perf *t, int source)
{
	const struct capture_counter *c = source < 0 ? NULL : &t->plan.counters[source];
	struct perf_event_attr a = common();

	a.inherit_thread = !t->plan.descend;
	a.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR |
			PERF_SAMPLE_CPU | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
	a.sample_regs_user = USER_REGS;
	a.sample_stack_user = t->plan.interval_ns && t->plan.interval_ns < SHORT_NS ? SHORT_BYTES : STACK_BYTES;
	a.sample_id_all = 1;
	a.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING | PERF_FORMAT_ID |
			PERF_FORMAT_LOST;
	a.watermark = 1;
	a.wakeup_watermark = t->bytes / 4;
	if (c) {
		a.type = c->type;
		a.config = c->config;
		a.config1 = c->config1;
		a.config2 = c->config2;
		a.sample_period = c->interval;
		return a;
	}
	a.sample_period = t->plan.interval_ns;
	a.inherit_stat = !t->plan.ncounters;
	a.mmap = a.mmap2 = a.comm = a.comm_exec = a.task = 1;
	return a;
}

static struct ring *ring_of(struct task_perf *t, int cpu)
{
	vec_for_each(r, &t->rings) {
		if (r->cpu == cpu)
			return r;
	}
	return NULL;
}

/* The first event of a CPU gets the ring. An ordinary user's memory for rings may be used up by others. */
static int make_ring(struct task_perf *t, int cpu, int fd)
{
	void *base = mmap(NULL, t->pagesize + t->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	while (base == MAP_FAILED && errno == EPERM && !t->rings.len && t->bytes > LEAST_BYTES) {
		t->bytes /= 2;
		base = mmap(NULL, t->pagesize + t->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	}
	if (base == MAP_FAILED)
		return -errno;
	vec_push(&t->rings, (struct ring){ .cpu = cpu, .fd = fd, .base = base });
	vec_push(&t->fds, fd);
	return 0;
}

/* 0 or -errno. */
static int add_event(struct task_perf *t, pid_t tid, int cpu, int source)
{
	const struct perf_event_attr attr = attr_of(t, source);
	struct event e = { .fd = open_event(&attr, tid, cpu), .source = source };
	const struct ring *r = ring_of(t, cpu);
	uint64_t id;
	int err;

	t->failed = source;
	if (e.fd < 0)
		return -errno;
	vec_push(&t->events, e);
	if (ioctl(e.fd, PERF_EVENT_IOC_ID, &id))
		return -errno;
	*map_put(&t->sources, id, NULL) = source + 1;
	err = r ? ioctl(e.fd, PERF_EVENT_IOC_SET_OUTPUT, r->fd) : 0;
	return r ? err ? -errno : 0 : make_ring(t, cpu, e.fd);
}

/* Open the events of a thread. One that has ended meanwhile needs none. */
static int add_thread(struct task_perf *t, pid_t tid, const struct cpu_list *cpus)
{
	int err = 0;

	for (int i = 0; !err && i < cpus->n; i++) {
		for (int source = TASK_PERF_CLOCK; !err && source < (int)t->plan.ncounters; source++)
			err = add_event(t, tid, cpus->cpus[i], source);
		if (err == -ENODEV)
			err = 0; /* the CPU has gone offline meanwhile */
	}
	return err == -ESRCH ? 0 : err;
}

static bool has_thread(const struct task_perf *t, pid_t tid)
{
	vec_for_each(have, &t->threads) {
		if (*have == tid)
			return true;
	}
	return false;
}

/*
 * The threads that there are now: the first time all of them, later those that have come since. Returns
 * how many, or -errno.
 */
static int list_threads(struct task_perf *t)
{
	__cleanup(freep) char *path = xasprintf("/proc/%d/task", t->plan.pid);
	DIR *dir = opendir(path);
	const struct dirent *e;
	int n = 0;

	if (!dir)
		return errno == ENOENT ? -ESRCH : -errno;
	while ((e = readdir(dir))) {
		pid_t tid = atoi(e->d_name);

		if (tid <= 0 || has_thread(t, tid))
			continue;
		vec_push(&t->threads, tid);
		n++;
	}
	closedir(dir);
	return n;
}

static void close_events(struct task_perf *t)
{
	vec_for_each(r, &t->rings)
		munmap(r->base, t->pagesize + t->bytes);
	vec_for_each(e, &t->events)
		close(e->fd);
	map_free(&t->sources);
	vec_free(&t->events);
	vec_free(&t->rings);
	vec_free(&t->fds);
	vec_free(&t->threads);
}

/*
 * Open the events of all threads. A thread that begins meanwhile may have inherited its creator's
 * events, or its creator had none yet: nobody can tell. With events of its own the first kind would
 * count twice. So all is done again until no thread has begun. Returns how many threads began at the
 * last try, or -errno.
 */
static int add_threads(struct task_perf *t, const struct cpu_list *cpus)
{
	int late = 0, err;

	for (int try = 0; try < OPEN_TRIES; try++) {
		close_events(t);
		err = list_threads(t);
		for (size_t i = 0; err >= 0 && i < t->threads.len; i++)
			err = add_thread(t, t->threads.data[i], cpus);
		late = err < 0 ? err : list_threads(t);
		if (late <= 0)
			break;
	}
	return late;
}

static const char *remedy(int err)
{
	return err == -EMFILE ? "raise the limit of open files (ulimit -n)" :
	       err == -EPERM ? "end other profilers of yours, or as root: sysctl kernel.perf_event_mlock_kb=2048" :
			       "run as root";
}

int task_perf_open(const struct task_perf_plan *plan, struct diag *d, struct task_perf **ret)
{
	struct task_perf *t = xcalloc(1, sizeof(*t));
	struct cpu_list cpus;
	int err = cpus_online(&cpus), late = 0;

	t->plan = *plan;
	for (size_t i = 0; i < plan->ncounters; i++)
		t->intervals[i] = plan->counters[i].interval;
	t->pagesize = sysconf(_SC_PAGESIZE);
	t->bytes = MOST_BYTES;
	late = err ? err : add_threads(t, &cpus);
	err = late < 0 ? late : 0;
	cpus_free(&cpus);
	if (!err && !t->rings.len)
		err = -ESRCH;
	if (err && err != -EMFILE && err != -ESRCH && t->failed >= 0) {
		capture_counter_error(d, &plan->counters[t->failed], err);
		task_perf_close(t);
		return err;
	}
	if (err) {
		diag_errno(d, -err, "process %d: its perf events cannot be opened: %s", plan->pid, remedy(err));
		task_perf_close(t);
		return err;
	}
	if (late)
		diag_warn(d, "process %d: %d threads began while its perf events were opened: they may have no samples: "
			  "run as root", plan->pid, late);
	t->plan.counters = NULL; /* borrowed for this call */
	*ret = t;
	return 0;
}

void task_perf_close(struct task_perf *t)
{
	if (!t)
		return;
	close_events(t);
	free(t);
}

void task_perf_enable(struct task_perf *t, bool on)
{
	if (!t)
		return;
	vec_for_each(e, &t->events) {
		if (on)
			perf_event_enable(e->fd);
		else
			perf_event_disable(e->fd);
	}
}

const int *task_perf_fds(const struct task_perf *t, size_t *n)
{
	*n = t->fds.len;
	return t->fds.data;
}

/* --- counts --- */

struct reading {
	uint64_t value, enabled_ns, running_ns, id, lost;
};

static struct reading read_event(const struct event *e)
{
	struct reading r;

	return read(e->fd, &r, sizeof(r)) == sizeof(r) ? r : (struct reading){ 0 };
}

uint64_t task_perf_lost(const struct task_perf *t, bool of_clock)
{
	uint64_t n = 0;

	vec_for_each(e, &t->events)
		n += (e->source == TASK_PERF_CLOCK) == of_clock ? read_event(e).lost : 0;
	return n;
}

uint64_t task_perf_cpu_ns(const struct task_perf *t)
{
	uint64_t ns = 0;

	vec_for_each(e, &t->events)
		ns += e->source == TASK_PERF_CLOCK ? read_event(e).value : 0;
	return ns;
}

void task_perf_counted(const struct task_perf *t, size_t counter, struct capture_counted *ret)
{
	*ret = (struct capture_counted){ .seen = t->seen[counter] * t->intervals[counter] };
	vec_for_each(e, &t->events) {
		struct reading r;

		if (e->source != (int)counter)
			continue;
		r = read_event(e);
		ret->events += r.value;
		ret->enabled_ns += r.enabled_ns;
		ret->running_ns += r.running_ns;
	}
	/* An event is enabled while its thread runs on any CPU, and counts while it runs on its own. */
	ret->enabled_ns /= t->rings.len;
	if (ret->enabled_ns < ret->running_ns)
		ret->enabled_ns = ret->running_ns;
}

/* --- records --- */

/* PERF_RECORD_SAMPLE up to the registers. */
struct sample {
	struct perf_event_header h;
	uint64_t id;
	uint32_t pid, tid;
	uint64_t time_ns, address;
	uint32_t cpu, reserved;
	uint64_t abi;
	uint64_t words[]; /* registers, if there is an abi; size; the copy and its true size, if size is not 0 */
};

/* PERF_RECORD_READ. */
struct used {
	struct perf_event_header h;
	uint32_t pid, tid;
	struct reading r;
};

/* From the order of the kernel's bits to that of DWARF. */
static void by_dwarf(const uint64_t *from, uint64_t regs[TASK_PERF_REGS])
{
	static const unsigned char places[TASK_PERF_REGS] = {
		0, 3, 2, 1, 4, 5, 6, 7, 9, 10, 11, 12, 13, 14, 15, 16, 8,
	};

	for (int i = 0; i < TASK_PERF_REGS; i++)
		regs[i] = from[places[i]];
}

static void take_sample(struct task_perf *t, const struct sample *r, const struct task_perf_sink *sink)
{
	struct task_sample s = { .pid = r->pid, .tid = r->tid, .cpu = r->cpu, .time_ns = r->time_ns,
				 .address = r->address };
	const uint64_t *word = r->words, *end = (const uint64_t *)((const char *)r + r->h.size);
	const uint64_t *source = map_get(&t->sources, r->id);
	uint64_t regs[TASK_PERF_REGS], size;

	if (!source)
		return;
	s.source = (int)*source - 1;
	if (r->abi == ABI_64 && end - word > TASK_PERF_REGS) {
		by_dwarf(word, regs);
		s.regs = regs;
		word += TASK_PERF_REGS;
		size = *word++ / sizeof(*word);
		if (size && size < (size_t)(end - word)) {
			s.stack = word;
			s.nstack = (word[size] < size * sizeof(*word) ? word[size] : size * sizeof(*word)) & ~7ULL;
		}
	}
	if (s.source >= 0)
		t->seen[s.source]++;
	sink->sample(sink->ctx, &s);
}

/* sideband_parse expects the time at the end. */
static void take_process(struct perf_event_header *h, const struct task_perf_sink *sink)
{
	struct trailer tail;
	char *at = (char *)h + h->size - sizeof(tail);

	if (h->size < sizeof(*h) + sizeof(tail))
		return;
	memcpy(&tail, at, sizeof(tail));
	memcpy(at, &tail.time_ns, sizeof(tail.time_ns));
	h->size -= sizeof(tail) - sizeof(tail.time_ns);
	sink->process(sink->ctx, h, h->size);
}

static void take_record(struct task_perf *t, struct perf_event_header *h,
			const struct task_perf_sink *sink)
{
	const struct used *u = (const struct used *)h;

	switch (h->type) {
	case PERF_RECORD_SAMPLE:
		if (h->size >= sizeof(struct sample))
			take_sample(t, (const struct sample *)h, sink);
		break;
	case PERF_RECORD_READ:
		if (h->size >= sizeof(*u))
			sink->used(sink->ctx, u->pid, u->tid, u->r.value);
		break;
	case PERF_RECORD_MMAP2:
	case PERF_RECORD_COMM:
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
		take_process(h, sink);
	}
}

static void read_ring(struct task_perf *t, const struct ring *r, const struct task_perf_sink *sink)
{
	struct perf_event_mmap_page *page = r->base;
	const char *data = (const char *)r->base + t->pagesize;
	uint64_t head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE), tail = page->data_tail;
	struct perf_event_header h;

	for (; tail < head; tail += h.size) {
		size_t off = tail % t->bytes, first;

		/* Records are aligned to 8 bytes, so a header never wraps. */
		memcpy(&h, data + off, sizeof(h));
		if (h.size < sizeof(h) || h.size > head - tail)
			break;
		first = h.size < t->bytes - off ? h.size : t->bytes - off;
		memcpy(t->record, data + off, first);
		memcpy((char *)t->record + first, data, h.size - first);
		take_record(t, (struct perf_event_header *)t->record, sink);
	}
	__atomic_store_n(&page->data_tail, head, __ATOMIC_RELEASE);
}

void task_perf_read(struct task_perf *t, const struct task_perf_sink *sink)
{
	vec_for_each(r, &t->rings)
		read_ring(t, r, sink);
}
