/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The recorder's side of user stacks: publishes mappings and unwind tables to BPF, and walks
 * stacks that BPF could not walk yet. Connects publish.h, store.h and rawwalk.h.
 */
#ifndef USER_UNWIND_UNWINDER_H
#define USER_UNWIND_UNWINDER_H

#include <stdbool.h>
#include <stdint.h>

#include <linux/types.h>

#include "bpf/er_event.h"
#include "user/unwind/store.h"
#include "user/unwind/rawwalk.h"

struct buf;
struct er_hotspot;
struct image;
struct table_source;
struct unwinder;
struct unwind_maps;

/* Both are borrowed. */
struct unwinder *unwinder_new(struct unwind_maps *maps, struct table_source *source);
void unwinder_free(struct unwinder *u); /* NULL: nothing */

/* A stack of the image has this key: publish its mappings, unless that has been done. */
void unwinder_meet(struct unwinder *u, struct image *im, uint64_t start_time, uint32_t exec_id);
/* Hooks of the procmap. */
void unwinder_changed(struct unwinder *u, struct image *im);
void unwinder_forget(struct unwinder *u, struct image *im, uint64_t now_ns);
/* Publish the image's Java VM, for walks. False: its key is not known yet, or there is no room. */
bool unwinder_hotspot(struct unwinder *u, struct image *im, const struct er_hotspot *vm);
/*
 * The image has mapped a Java VM that is not known yet. From now on BPF copies its stacks with code of that VM, or no
 * longer. They wait until the VM is known.
 */
void unwinder_await_vm(struct unwinder *u, struct image *im, bool on);
/*
 * The image's Java VM, for walks of copied stacks: they read its memory through the opener. What was read is kept
 * until unwinder_update, or until stacks of many VMs are walked.
 */
void unwinder_know_vm(struct unwinder *u, const struct image *im, const struct er_hotspot *vm);
/* No process maps the file any more: forget it. False: its table is being built. */
bool unwinder_forget_file(struct unwinder *u, uint32_t file);
/* Publish changed mappings and new tables. */
void unwinder_update(struct unwinder *u, uint64_t now_ns);
/* Publish new tables only; changes no mapping and walks no stack. */
void unwinder_relieve(struct unwinder *u, uint64_t now_ns);

/* Whether the file's table is being built. */
bool unwinder_builds(const struct unwinder *u, uint32_t file);
/* Wait up to timeout_ms for a table that is being built; or for names, if there is something to wait for. */
bool unwinder_wait(struct unwinder *u, int timeout_ms, bool names);

/*
 * Walk a raw stack of the image that was copied at time_ns. Returns false if a table is missing; it
 * has then been requested. With `last`, or if the table will never come, the walk continues by
 * frame pointers and the result is true.
 */
bool unwinder_walk(struct unwinder *u, const struct image *im, const struct er_raw *raw,
		   uint64_t time_ns, bool last, struct walk *ret);
/*
 * Request the tables that a new raw stack lacks, as far as a first walk shows. Changes nothing else,
 * so it may be called while the recording writes. `room` is overwritten.
 */
void unwinder_ask(struct unwinder *u, const struct image *im, const struct er_raw *raw,
		  uint64_t time_ns, struct walk *room);

/* Count from now on, for the next segment. */
void unwinder_restart_counts(struct unwinder *u);
/* Write the elements <tables>, <python> and <go> of recorder.xml. */
void unwinder_write(const struct unwinder *u, struct buf *b);

#endif
