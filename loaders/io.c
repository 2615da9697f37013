/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The loader of bpf/io.bpf.c, where its programs are explained. */
#include "loaders/loader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "analysis/base/alloc.h"
#include "analysis/base/diag.h"
#include "bpf/io.skel.h"
#include "loaders/knobs.h"
#include "loaders/rings.h"
#include "loaders/targets.h"
#include "loaders/typed.h"

struct io {
	const struct rings *rings;
	struct typed *typed;
	struct io_bpf *skel;
	const struct er_io_cpu *cpus;
	size_t cpus_size;
};

static bool io_wanted(const struct capture_plan *plan)
{
	return plan->io;
}

static void io_close(void *self)
{
	struct io *io = self;

	if (!io)
		return;
	if (io->cpus)
		munmap((void *)io->cpus, io->cpus_size);
	io_bpf__destroy(io->skel);
	typed_close(io->typed);
	free(io);
}

static int map_counts(struct io *io)
{
	size_t page = sysconf(_SC_PAGESIZE);
	void *at;

	io->cpus_size = rings_ncpus(io->rings) * sizeof(struct er_io_cpu);
	io->cpus_size = (io->cpus_size + page - 1) & ~(page - 1);
	at = mmap(NULL, io->cpus_size, PROT_READ, MAP_SHARED, bpf_map__fd(io->skel->maps.er_io_cpus), 0);
	if (at == MAP_FAILED)
		return -errno;
	io->cpus = at;
	return 0;
}

static void name_libraries(struct io_bpf *skel, const struct capture_plan *plan)
{
	for (size_t i = 0; i < plan->nlibraries && i < ER_IO_LIBRARIES; i++) {
		const struct capture_library *l = &plan->libraries[i];
		/* Written before the load, when it is ordinary memory. */
		struct er_io_library *to = (struct er_io_library *)&skel->rodata->er_io_libraries[i];

		memcpy(to->mark, l->mark, sizeof(to->mark));
		if (*l->path && strlen(l->path) < sizeof(to->path)) {
			strcpy(to->path, l->path);
			skel->rodata->er_io_paths |= 1U << i;
		}
		skel->rodata->er_io_nlibraries = i + 1;
	}
}

static int load(struct io *io, const struct capture_plan *plan)
{
	LIBBPF_OPTS(bpf_object_open_opts, opts);
	int err = typed_open(&io->typed);

	if (err)
		return err;
	opts.btf_custom_path = typed_path(io->typed);
	io->skel = io_bpf__open_opts(&opts);
	err = io->skel ? typed_look(io->typed, io->skel->obj, NULL) : -errno;
	if (err)
		return err;
	knobs_set(io->skel, plan, io->rings, false);
	name_libraries(io->skel, plan);
	bpf_map__set_max_entries(io->skel->maps.er_io_cpus, rings_ncpus(io->rings));
	bpf_map__set_autocreate(io->skel->maps.er_threads, false);
	err = rings_bind(io->rings, io->skel->obj);
	err = err ? err : io_bpf__load(io->skel);
	typed_loaded(io->typed);
	err = err ? err : targets_fill(io->skel->maps.er_targets, plan);
	return err ? err : map_counts(io);
}

static int io_open(const struct capture_plan *plan, struct rings *rings, struct diag *d, void **self)
{
	struct io *io = xcalloc(1, sizeof(*io));
	int err;

	io->rings = rings;
	err = load(io, plan);
	if (err) {
		diag_errno(d, -err, "-i: cannot load the programs that trace I/O");
		io_close(io);
		return err;
	}
	*self = io;
	return 0;
}

/* The time first: a program that sees `on` needs it. */
static void begin(struct io *io, uint64_t time_ns)
{
	__atomic_store_n(&io->skel->bss->er_io_since, time_ns, __ATOMIC_RELEASE);
	__atomic_store_n(&io->skel->bss->er_io_on, true, __ATOMIC_RELEASE);
}

/* The program at returns first: it tells a call whose entry it missed by the time. */
static int io_start(void *self, uint64_t start_ns, struct diag *d)
{
	struct io *io = self;

	begin(io, start_ns);
	io->skel->links.er_io_leave = bpf_program__attach(io->skel->progs.er_io_leave);
	if (io->skel->links.er_io_leave)
		io->skel->links.er_io_enter = bpf_program__attach(io->skel->progs.er_io_enter);
	return io->skel->links.er_io_enter ? 0 : diag_errno(d, errno, "-i: cannot trace system calls");
}

static int io_pause(void *self, uint64_t *time_ns, struct buf *last, struct diag *d)
{
	struct io *io = self;

	io->skel->bss->er_io_on = false;
	return 0;
}

static int io_resume(void *self, uint64_t time_ns, struct diag *d)
{
	begin(self, time_ns);
	return 0;
}

static int io_stop(void *self, uint64_t *stop_ns, struct buf *last, struct diag *d)
{
	struct io *io = self;

	io->skel->bss->er_io_on = false;
	io_bpf__detach(io->skel);
	return 0;
}

static void io_resend(void *self)
{
	struct io *io = self;

	resend_stacks(&io->skel->bss->er_seen_key);
}

static void io_counts(const void *self, struct capture_io *ret)
{
	const struct io *io = self;
	uint64_t entered = 0, returned = 0;

	for (int cpu = 0; cpu < rings_ncpus(io->rings); cpu++) {
		/* Read first: a call that returns now must not count as more than it began. */
		returned += __atomic_load_n(&io->cpus[cpu].returned, __ATOMIC_ACQUIRE);
		ret->foreign += __atomic_load_n(&io->cpus[cpu].foreign, __ATOMIC_RELAXED);
	}
	for (int cpu = 0; cpu < rings_ncpus(io->rings); cpu++)
		entered += __atomic_load_n(&io->cpus[cpu].entered, __ATOMIC_RELAXED);
	ret->open = entered > returned ? entered - returned : 0;
}

const struct loader io_loader = {
	.wanted = io_wanted,
	.open = io_open,
	.start = io_start,
	.pause = io_pause,
	.resume = io_resume,
	.stop = io_stop,
	.close = io_close,
	.resend = io_resend,
	.io_counts = io_counts,
};
