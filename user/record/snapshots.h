/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes snapshots.xml.gz: what each thread did between two usage samples. BPF's times are
 * cumulative; here each thread's account has what was written of them, and the difference goes into
 * the file. The total of a thread adds what is missing, so all records of a thread add up to its
 * line in threads.xml, to the nanosecond. A difference may be negative: the CPU time of a running
 * thread is not settled before it leaves its CPU.
 *
 * Not thread safe.
 */
#ifndef USER_RECORD_SNAPSHOTS_H
#define USER_RECORD_SNAPSHOTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct er_total;
struct recording;
struct snapshots;

struct snapshots *snapshots_new(struct recording *recording);
void snapshots_free(struct snapshots *s); /* NULL: nothing */
/* A capture_fn for struct er_snap; ctx is the struct snapshots. */
void snapshots_take(void *ctx, int cpu, const void *snap, size_t size);
/* Write what was taken, and the ends since. The walk began at time_ns and took took_ns. */
void snapshots_write(struct snapshots *s, uint64_t time_ns, uint64_t took_ns);
/*
 * A thread's time in this segment is complete. `whole` is the total as BPF sent it; of `part` only
 * what belongs to this segment (cuts.h).
 */
void snapshots_total(struct snapshots *s, const struct er_total *whole,
		     const struct er_total *part);
/* Write the ends that are not written yet. With `next` another segment begins. */
void snapshots_flush(struct snapshots *s, bool next);
/* Whether no snapshot was written in this segment yet. */
bool snapshots_is_first(const struct snapshots *s);

#endif
