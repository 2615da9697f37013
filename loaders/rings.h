/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The maps that all our BPF programs share: one ring buffer for each present CPU, online or
 * not, the per-CPU counts and the table of losses. They are created once and bound by name into
 * every BPF object before it is loaded. A CPU that is added to the machine later has no ring:
 * its records count as lost.
 */
#ifndef LOADERS_RINGS_H
#define LOADERS_RINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "loaders/capture.h"

struct bpf_object;
struct diag;
struct rings;
struct unwind_maps;

/*
 * `bytes` per ring is a power of two of at least a page; 0 chooses it by the number of CPUs,
 * larger if waits are traced (`trace`), because there may be very many. Returns 0, or -errno
 * after a report. Release *ret with rings_close.
 */
int rings_open(size_t bytes, bool trace, struct diag *d, struct rings **ret);
/*
 * The same without BPF: no ring, only the counts, which rings_count changes, and with `unwind` the
 * tables of user stacks.
 */
int rings_open_bare(bool unwind, struct diag *d, struct rings **ret);
void rings_close(struct rings *r);

/*
 * The map of the storage of threads belongs to the object that fills it. After its load it is lent
 * to the objects that are bound later; borrowed.
 */
void rings_lend_threads(struct rings *r, int fd);
/* Make an opened, not yet loaded object use these maps. Returns 0, or -errno without a report. */
int rings_bind(const struct rings *r, struct bpf_object *obj);
/* The maps for walking user stacks; the rings own them. */
struct unwind_maps *rings_unwind(const struct rings *r); /* NULL: there are none */
size_t rings_bytes(const struct rings *r); /* of one ring */
/* A ring wakes the reader when it holds this many bytes. */
uint32_t rings_wake_bytes(const struct rings *r);

/*
 * The secret seed of the hashes that identify stacks. All programs use the same seed, so equal
 * stacks have equal ids.
 */
uint64_t rings_hash_seed(const struct rings *r);

int rings_ncpus(const struct rings *r); /* possible CPUs */
int rings_nrings(const struct rings *r);
/* The CPU of the i-th ring. */
int rings_cpu(const struct rings *r, int i);
const struct er_cpu *rings_cpu_state(const struct rings *r, int cpu);

/*
 * The number of threads that began to exit and have not left their CPU for the last time. A
 * thread may begin on one CPU and end on another, so only the sum over all CPUs has a meaning;
 * it is computed modulo 2^32, like the counts.
 */
uint32_t rings_unfinished(const struct rings *r);
uint32_t cpus_unfinished(const struct er_cpu *cpus, int n);

/*
 * The number of TOTAL records on all CPUs that did not fit into a ring and went into the
 * er_spilled map.
 */
uint64_t rings_spilled(const struct rings *r);
/* The runs of a program on all CPUs and their time; the time is extrapolated from measured runs. */
void rings_cost(const struct rings *r, enum er_prog prog, uint64_t *runs, uint64_t *ns);

/* See capture_count. */
uint32_t rings_count(struct rings *r, int cpu, enum er_kind kind, uint32_t produced, uint32_t lost);
/* See capture_drain, capture_fd and capture_losses. */
int rings_drain(struct rings *r, int timeout_ms, capture_fn fn, void *ctx);
int rings_fd(const struct rings *r);
void rings_losses(const struct rings *r,
		  void (*fn)(void *ctx, const struct er_loss_key *k, uint64_t n), void *ctx);

#endif
