/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "user/space/sideband.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "analysis/base/alloc.h"
#include "analysis/base/buf.h"
#include "analysis/base/cursor.h"
#include "analysis/base/diag.h"
#include "analysis/base/vec.h"
#include "loaders/cpus.h"
#include "user/space/eventqueue.h"

enum {
	/* With its head page exactly what kernel.perf_event_mlock_kb allows per CPU: 516 KB. */
	RING_BYTES = 512 * 1024,
};

struct ring {
	int cpu;
	void *base; /* the head page, then RING_BYTES of records; NULL: there is none */
};

struct sideband {
	VEC(int) fds;
	VEC(struct ring) rings;
	struct eventqueue queue;
	uint64_t lost; /* by events that ended when their CPU went offline */
	size_t pagesize;
};

static int open_cpu(int cpu)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_DUMMY,
		.sample_type = PERF_SAMPLE_TIME, /* the last word of every record */
		.read_format = PERF_FORMAT_LOST,
		.mmap = 1,
		.mmap2 = 1,
		.comm = 1,
		.comm_exec = 1,
		.task = 1,
		.sample_id_all = 1,
		.exclude_kernel = 1,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
		.watermark = 1,
		.wakeup_watermark = RING_BYTES / 2,
	};

	return syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

static int map_ring(const struct sideband *s, int fd, struct ring *r)
{
	void *base = mmap(NULL, s->pagesize + RING_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (base == MAP_FAILED)
		return -errno;
	r->base = base;
	return 0;
}

static void unmap_ring(const struct sideband *s, struct ring *r)
{
	if (r->base)
		munmap(r->base, s->pagesize + RING_BYTES);
	r->base = NULL;
}

/* 0 or -errno; -ENODEV: the CPU has gone offline meanwhile. */
static int add_cpu(struct sideband *s, int cpu)
{
	struct ring r = { .cpu = cpu };
	int fd = open_cpu(cpu), err;

	if (fd < 0)
		return -errno;
	err = map_ring(s, fd, &r);
	if (err) {
		close(fd);
		return err;
	}
	vec_push(&s->fds, fd);
	vec_push(&s->rings, r);
	return 0;
}

/* CPU ids may have gaps, so an id may exceed the number of CPUs. */
static int add_all(struct sideband *s)
{
	struct cpu_list online;
	int err = cpus_online(&online);

	for (int i = 0; !err && i < online.n; i++) {
		err = add_cpu(s, online.cpus[i]);
		if (err == -ENODEV)
			err = 0;
	}
	cpus_free(&online);
	return err;
}

struct sideband *sideband_open(struct diag *d)
{
	struct sideband *s = xcalloc(1, sizeof(*s));
	int err;

	s->pagesize = sysconf(_SC_PAGESIZE);
	err = add_all(s);
	if (err) {
		diag_errno(d, -err, "records of processes: cannot have them from the kernel: run as "
				    "root, or with the capabilities cap_perfmon and "
				    "cap_ipc_lock");
		sideband_close(s);
		errno = -err;
		return NULL;
	}
	return s;
}

void sideband_close(struct sideband *s)
{
	if (!s)
		return;
	vec_for_each(r, &s->rings)
		unmap_ring(s, r);
	vec_for_each(fd, &s->fds)
		close(*fd);
	vec_free(&s->rings);
	vec_free(&s->fds);
	eventqueue_free(&s->queue);
	free(s);
}

/* The rest of the record up to its time stamp holds a NUL-terminated string. */
static const char *string_at(struct cursor *c)
{
	const char *p = (const char *)c->p;

	return memchr(p, 0, cursor_left(c)) ? p : NULL;
}

static bool parse_mmap(struct cursor *c, struct proc_event *e)
{
	uint64_t major, minor;

	e->kind = PROC_MMAP;
	e->pid = cursor_u32(c);
	e->tid = cursor_u32(c);
	e->addr = cursor_u64(c);
	e->len = cursor_u64(c);
	e->pgoff = cursor_u64(c);
	major = cursor_u32(c);
	minor = cursor_u32(c);
	e->dev = major << 32 | minor;
	e->ino = cursor_u64(c);
	cursor_u64(c); /* inode generation */
	cursor_u64(c); /* prot, flags */
	e->name = string_at(c);
	return e->name && !c->bad;
}

static bool parse_comm(struct cursor *c, uint16_t misc, struct proc_event *e)
{
	e->kind = misc & PERF_RECORD_MISC_COMM_EXEC ? PROC_EXEC : PROC_COMM;
	e->pid = cursor_u32(c);
	e->tid = cursor_u32(c);
	e->name = string_at(c);
	return e->name && !c->bad;
}

static bool parse_task(struct cursor *c, uint32_t type, struct proc_event *e)
{
	e->kind = type == PERF_RECORD_FORK ? PROC_FORK : PROC_EXIT;
	e->pid = cursor_u32(c);
	e->ppid = cursor_u32(c);
	e->tid = cursor_u32(c);
	return !c->bad;
}

bool sideband_parse(const void *record, size_t size, struct proc_event *ret)
{
	struct perf_event_header h;
	struct cursor c;

	if (size < sizeof(h) + sizeof(uint64_t))
		return false;
	memcpy(&h, record, sizeof(h));
	*ret = (struct proc_event){ 0 };
	memcpy(&ret->time_ns, (const char *)record + size - sizeof(uint64_t), sizeof(uint64_t));
	c = (struct cursor){ .p = (const unsigned char *)record + sizeof(h),
			     .end = (const unsigned char *)record + size - sizeof(uint64_t) };
	switch (h.type) {
	case PERF_RECORD_MMAP2:
		return parse_mmap(&c, ret);
	case PERF_RECORD_COMM:
		return parse_comm(&c, h.misc, ret);
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
		return parse_task(&c, h.type, ret);
	}
	return false;
}

/* Queue the record of `size` bytes at `at`. It may wrap around the end of the ring. */
static void queue_record(struct sideband *s, const char *data, uint64_t at, size_t size)
{
	size_t off = at % RING_BYTES;
	size_t first = size < RING_BYTES - off ? size : RING_BYTES - off;

	eventqueue_add(&s->queue, data + off, first, data, size - first);
}

static void read_ring(struct sideband *s, struct ring *r)
{
	struct perf_event_mmap_page *page = r->base;
	const char *data = (const char *)r->base + s->pagesize;
	uint64_t head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE);
	uint64_t tail = page->data_tail;

	while (tail < head) {
		struct perf_event_header h;

		/* Records are 8 bytes aligned, so a header never wraps. */
		memcpy(&h, data + tail % RING_BYTES, sizeof(h));
		if (h.size < sizeof(h) + sizeof(uint64_t) || h.size > head - tail)
			break;
		queue_record(s, data, tail, h.size);
		tail += h.size;
	}
	__atomic_store_n(&page->data_tail, head, __ATOMIC_RELEASE);
}

/*
 * The number of records that found no room in the event's ring. The ring reports it
 * (PERF_RECORD_LOST) only with the next record, which may never come at the end of a recording.
 */
static uint64_t lost_by(int fd)
{
	struct {
		uint64_t value, lost;
	} counts;

	return read(fd, &counts, sizeof(counts)) == sizeof(counts) ? counts.lost : 0;
}

/* Keep the descriptor number, which the session polls. Unmap the old ring before the new one. */
static int replace_ring(struct sideband *s, struct ring *r, int old_fd)
{
	int fd = open_cpu(r->cpu);
	uint64_t lost;

	if (fd < 0)
		return -errno;
	lost = lost_by(old_fd);
	if (r->base)
		read_ring(s, r);
	unmap_ring(s, r);
	if (dup3(fd, old_fd, O_CLOEXEC) < 0) {
		int err = errno;

		close(fd);
		return -err;
	}
	close(fd);
	s->lost += lost;
	return map_ring(s, old_fd, r);
}

int sideband_reopen(struct sideband *s, int cpu)
{
	for (size_t i = 0; i < s->rings.len; i++) {
		if (s->rings.data[i].cpu == cpu)
			return replace_ring(s, &s->rings.data[i], s->fds.data[i]);
	}
	return add_cpu(s, cpu);
}

void sideband_drain(struct sideband *s, uint64_t until_ns, proc_event_fn fn, void *ctx)
{
	vec_for_each(r, &s->rings) {
		if (r->base)
			read_ring(s, r);
	}
	eventqueue_deliver(&s->queue, until_ns, fn, ctx);
}

uint64_t sideband_lost(const struct sideband *s)
{
	uint64_t n = s->lost;

	vec_for_each(fd, &s->fds)
		n += lost_by(*fd);
	return n;
}

const int *sideband_fds(const struct sideband *s, size_t *n)
{
	*n = s->fds.len;
	return s->fds.data;
}
