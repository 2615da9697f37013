/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The maps that all our BPF programs share, on the user's side: a ring for
 * each CPU that is there, online or not, the counters, the table of losses. Made
 * once, bound by name into every BPF object that is loaded. A CPU that is added to the
 * machine later has no ring: what is produced there counts as lost.
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
 * bytes per ring, a power of two of at least a page; 0: chosen by the number of CPUs, larger
 * where waits are traced, of which there may be very many.
 */
int rings_open(size_t bytes, bool trace, struct diag *d, struct rings **ret);
void rings_close(struct rings *r);

/* Make the object, opened and not yet loaded, use these maps; -errno without a report. */
int rings_bind(const struct rings *r, struct bpf_object *obj);
/* The maps of the walk of user stacks; the rings own them. */
struct unwind_maps *rings_unwind(const struct rings *r);
size_t rings_bytes(const struct rings *r); /* of one ring */
/* How full a ring is when the reader is woken. */
uint32_t rings_wake_bytes(const struct rings *r);

/* Secret, of the hashes that name stacks: one for all programs, so that ids are the same. */
uint64_t rings_hash_seed(const struct rings *r);

int rings_ncpus(const struct rings *r); /* possible CPUs */
int rings_nrings(const struct rings *r);
/* The CPU of the i-th ring. */
int rings_cpu(const struct rings *r, int i);
const struct er_cpu *rings_cpu_state(const struct rings *r, int cpu);

/*
 * Threads that began to exit and have not got out of the CPU yet. One may begin on one
 * CPU and end on another: only the sum says anything, in the width of the counters.
 */
uint32_t rings_unfinished(const struct rings *r);
uint32_t cpus_unfinished(const struct er_cpu *cpus, int n);

/* TOTAL records that were put by for want of room, of all CPUs. */
uint64_t rings_spilled(const struct rings *r);
/* Of a program, on all CPUs; ns is reckoned from the runs that were measured. */
void rings_cost(const struct rings *r, enum er_prog prog, uint64_t *runs, uint64_t *ns);

/* As capture_drain, capture_fd and capture_losses say. */
int rings_drain(struct rings *r, int timeout_ms, capture_fn fn, void *ctx);
int rings_fd(const struct rings *r);
void rings_losses(const struct rings *r,
		  void (*fn)(void *ctx, const struct er_loss_key *k, uint64_t n), void *ctx);

#endif
