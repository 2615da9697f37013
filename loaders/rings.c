/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "loaders/rings.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>

#include "analysis/base/alloc.h"
#include "analysis/base/diag.h"
#include "loaders/cpus.h"
#include "loaders/unwind.h"

enum {
	RING_DEFAULT = 2 << 20, /* seconds of records at 1 kHz, if the drain gets no CPU */
	RING_TRACE = 16 << 20,  /* a third of a second at 300,000 waits/s, likewise */
	RING_TOTAL = 64 << 20, /* all rings: the default per ring shrinks on many CPUs */
	RING_MIN = 64 << 10,
};

struct ring {
	struct rings *rings;
	int cpu, fd;
	struct ring_buffer *buffer;
	size_t left; /* bytes that the drain in progress may still take from it */
	int n;       /* records that it has taken */
};

struct rings {
	int ncpus, nrings;
	size_t bytes;
	int outer_fd, cpus_fd, losses_fd, family_fd;
	int threads_fd; /* borrowed; -1: none */
	struct er_cpu *cpus;
	uint64_t hash_seed;
	struct unwind_maps *unwind;
	int epoll_fd;
	struct ring *rings; /* nrings */
	capture_fn fn; /* of the drain in progress */
	void *fn_ctx;
};

static size_t default_bytes(int ncpus, bool trace)
{
	size_t bytes = trace ? RING_TRACE : RING_DEFAULT;

	while (bytes > RING_MIN && bytes * ncpus > RING_TOTAL)
		bytes /= 2;
	return bytes;
}

/* -ECANCELED: the ring has had its turn. libbpf removes the record from the ring in either case. */
static int on_record(void *ctx, void *data, size_t size)
{
	size_t taken = (BPF_RINGBUF_HDR_SZ + size + 7) & ~7UL;
	struct ring *g = ctx;

	g->rings->fn(g->rings->fn_ctx, g->cpu, data, size);
	g->n++;
	g->left -= taken < g->left ? taken : g->left;
	return g->left ? 0 : -ECANCELED;
}

static int add_ring(struct rings *r, int cpu)
{
	struct ring *g = &r->rings[r->nrings];
	struct epoll_event event = { .events = EPOLLIN };
	__u32 key = cpu;
	int fd;

	fd = bpf_map_create(BPF_MAP_TYPE_RINGBUF, "er_ring", 0, 0, r->bytes, NULL);
	if (fd < 0)
		return -errno;
	r->nrings++;
	*g = (struct ring){ .rings = r, .cpu = cpu, .fd = fd };
	if (bpf_map_update_elem(r->outer_fd, &key, &fd, BPF_ANY))
		return -errno;
	/* A buffer each: libbpf drains all rings of one until none of them has a record. */
	g->buffer = ring_buffer__new(fd, on_record, g, NULL);
	return g->buffer && epoll_ctl(r->epoll_fd, EPOLL_CTL_ADD, fd, &event) == 0 ? 0 : -errno;
}

/* Creating the outer map needs a ring as a template. Its size does not matter: one page. */
static int make_outer(struct rings *r)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts);
	int inner, err;

	inner = bpf_map_create(BPF_MAP_TYPE_RINGBUF, "er_ring", 0, 0, sysconf(_SC_PAGESIZE), NULL);
	if (inner < 0)
		return -errno;
	opts.inner_map_fd = inner;
	r->outer_fd = bpf_map_create(BPF_MAP_TYPE_ARRAY_OF_MAPS, "er_rings", sizeof(__u32),
				     sizeof(__u32), r->ncpus, &opts);
	err = -errno;
	close(inner);
	return r->outer_fd < 0 ? err : 0;
}

static size_t cpus_size(const struct rings *r)
{
	size_t page = sysconf(_SC_PAGESIZE);

	return (r->ncpus * sizeof(struct er_cpu) + page - 1) & ~(page - 1);
}

static int make_counters(struct rings *r)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = BPF_F_MMAPABLE);
	void *p;

	r->cpus_fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "er_cpus", sizeof(__u32),
				    sizeof(struct er_cpu), r->ncpus, &opts);
	if (r->cpus_fd < 0)
		return -errno;
	p = mmap(NULL, cpus_size(r), PROT_READ, MAP_SHARED, r->cpus_fd, 0);
	if (p == MAP_FAILED)
		return -errno;
	r->cpus = p;
	r->losses_fd = bpf_map_create(BPF_MAP_TYPE_HASH, "er_losses", sizeof(struct er_loss_key),
				      sizeof(__u64), ER_MAX_LOSSES, NULL);
	return r->losses_fd < 0 ? -errno : 0;
}

/* The marks of bpf/family.bpf.h. The kernel wants to know the types of a task's storage. */
static int make_family(struct rings *r)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = BPF_F_NO_PREALLOC);
	struct btf *types = btf__new_empty();
	int number = types ? btf__add_int(types, "int", sizeof(int), BTF_INT_SIGNED) : -ENOMEM;
	int err = number < 0 ? number : btf__load_into_kernel(types);

	if (!err) {
		opts.btf_fd = btf__fd(types);
		opts.btf_key_type_id = opts.btf_value_type_id = number;
		r->family_fd = bpf_map_create(BPF_MAP_TYPE_TASK_STORAGE, "er_family", sizeof(int),
					      sizeof(int), 0, &opts);
		err = r->family_fd < 0 ? -errno : 0;
	}
	btf__free(types);
	return err;
}

static int make_all(struct rings *r)
{
	struct cpu_list present = { 0 };
	int err = make_outer(r);

	if (!err)
		err = make_counters(r);
	if (!err)
		err = make_family(r);
	if (!err)
		err = cpus_present(&present);
	if (!err) {
		r->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
		err = r->epoll_fd < 0 ? -errno : 0;
	}
	r->rings = xcalloc(present.n + 1, sizeof(*r->rings));
	for (int i = 0; !err && i < present.n; i++)
		err = add_ring(r, present.cpus[i]);
	cpus_free(&present);
	return err;
}

static struct rings *rings_new(struct diag *d)
{
	struct rings *r = xcalloc(1, sizeof(*r));

	r->outer_fd = r->cpus_fd = r->losses_fd = r->family_fd = r->threads_fd = r->epoll_fd = -1;
	r->ncpus = libbpf_num_possible_cpus();
	if (r->ncpus > 0)
		return r;
	diag_errno(d, ENODEV, "cannot count the CPUs");
	free(r);
	return NULL;
}

int rings_open_bare(bool unwind, struct diag *d, struct rings **ret)
{
	struct rings *r = rings_new(d);
	void *p;

	if (!r)
		return -ENODEV;
	p = mmap(NULL, cpus_size(r), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED || (unwind && unwind_maps_open_bare(&r->unwind) < 0)) {
		if (p != MAP_FAILED)
			munmap(p, cpus_size(r));
		free(r);
		return diag_errno(d, ENOMEM, "cannot make the counts");
	}
	r->cpus = p;
	*ret = r;
	return 0;
}

int rings_open(size_t bytes, bool trace, struct diag *d, struct rings **ret)
{
	struct rings *r = rings_new(d);
	int err;

	if (!r)
		return -ENODEV;
	r->bytes = bytes ? bytes : default_bytes(r->ncpus, trace);
	if (getrandom(&r->hash_seed, sizeof(r->hash_seed), 0) < 0)
		r->hash_seed = time(NULL);
	err = make_all(r);
	err = err ? err : unwind_maps_open(&r->unwind);
	if (err) {
		rings_close(r);
		return diag_errno(d, -err, "cannot make the ring buffers%s",
				  err == -EPERM ? ": run as root, or with the capabilities "
						  "cap_bpf and cap_perfmon"
						: "");
	}
	*ret = r;
	return 0;
}

void rings_close(struct rings *r)
{
	if (!r)
		return;
	for (int i = 0; i < r->nrings; i++) {
		ring_buffer__free(r->rings[i].buffer);
		close(r->rings[i].fd);
	}
	unwind_maps_close(r->unwind);
	closep(&r->epoll_fd);
	if (r->cpus)
		munmap(r->cpus, cpus_size(r));
	closep(&r->outer_fd);
	closep(&r->cpus_fd);
	closep(&r->losses_fd);
	closep(&r->family_fd);
	free(r->rings);
	free(r);
}

void rings_lend_threads(struct rings *r, int fd)
{
	r->threads_fd = fd;
}

int rings_bind(const struct rings *r, struct bpf_object *obj)
{
	const struct {
		const char *name;
		int fd;
	} maps[] = {
		{ "er_rings", r->outer_fd },
		{ "er_cpus", r->cpus_fd },
		{ "er_losses", r->losses_fd },
		{ "er_family", r->family_fd },
		{ "er_threads", r->threads_fd },
	};

	for (size_t i = 0; i < sizeof(maps) / sizeof(*maps); i++) {
		struct bpf_map *map = bpf_object__find_map_by_name(obj, maps[i].name);
		int err = map && maps[i].fd >= 0 ? bpf_map__reuse_fd(map, maps[i].fd) : 0;

		if (err)
			return err;
	}
	return unwind_maps_bind(r->unwind, obj);
}

struct unwind_maps *rings_unwind(const struct rings *r)
{
	return r->unwind;
}

size_t rings_bytes(const struct rings *r)
{
	return r->bytes;
}

uint32_t rings_wake_bytes(const struct rings *r)
{
	return r->bytes / 4;
}

uint64_t rings_hash_seed(const struct rings *r)
{
	return r->hash_seed;
}

int rings_ncpus(const struct rings *r)
{
	return r->ncpus;
}

int rings_nrings(const struct rings *r)
{
	return r->nrings;
}

int rings_cpu(const struct rings *r, int i)
{
	return r->rings[i].cpu;
}

const struct er_cpu *rings_cpu_state(const struct rings *r, int cpu)
{
	return &r->cpus[cpu];
}

uint32_t cpus_unfinished(const struct er_cpu *cpus, int n)
{
	uint32_t ret = 0;

	for (int cpu = 0; cpu < n; cpu++) {
		const volatile struct er_cpu *c = &cpus[cpu];

		ret += c->dying - c->dead;
	}
	return ret;
}

uint32_t rings_unfinished(const struct rings *r)
{
	return cpus_unfinished(r->cpus, r->ncpus);
}

uint64_t rings_spilled(const struct rings *r)
{
	uint64_t n = 0;

	for (int cpu = 0; cpu < r->ncpus; cpu++)
		n += ((const volatile struct er_cpu *)&r->cpus[cpu])->nspilled;
	return n;
}

void rings_cost(const struct rings *r, enum er_prog prog, uint64_t *runs, uint64_t *ns)
{
	uint64_t measured = 0, sum = 0;

	*runs = 0;
	for (int cpu = 0; cpu < r->ncpus; cpu++) {
		const struct er_cost *c = &r->cpus[cpu].costs[prog];

		measured += c->measured;
		sum += c->ns;
		*runs += (uint64_t)c->measured * ER_COST_EVERY + c->past;
	}
	*ns = measured ? (double)sum / measured * *runs : 0;
}

uint32_t rings_count(struct rings *r, int cpu, enum er_kind kind, uint32_t produced, uint32_t lost)
{
	struct er_counts *c = &r->cpus[cpu].counts;
	uint32_t first = c->produced[kind];

	c->produced[kind] += produced;
	c->lost[kind] += lost;
	return first;
}

static int consume(struct rings *r)
{
	int n = 0;

	for (int i = 0; i < r->nrings; i++) {
		struct ring *g = &r->rings[i];
		int err;

		g->left = r->bytes;
		g->n = 0;
		err = ring_buffer__consume(g->buffer);
		if (err < 0 && err != -ECANCELED)
			return err;
		n += g->n;
	}
	return n;
}

int rings_drain(struct rings *r, int timeout_ms, capture_fn fn, void *ctx)
{
	struct epoll_event event;
	int n;

	r->fn = fn;
	r->fn_ctx = ctx;
	n = consume(r);
	if (n || !timeout_ms || !r->nrings)
		return n;
	if (epoll_wait(r->epoll_fd, &event, 1, timeout_ms) < 0)
		return -errno;
	/* Records below the wake-up mark cause no wake-up. */
	return consume(r);
}

int rings_fd(const struct rings *r)
{
	return r->epoll_fd;
}

void rings_losses(const struct rings *r,
		  void (*fn)(void *ctx, const struct er_loss_key *k, uint64_t n), void *ctx)
{
	struct er_loss_key key, *prev = NULL;
	__u64 n;

	if (r->losses_fd < 0)
		return;
	while (!bpf_map_get_next_key(r->losses_fd, prev, &key)) {
		if (!bpf_map_lookup_elem(r->losses_fd, &key, &n))
			fn(ctx, &key, n);
		prev = &key;
	}
}
