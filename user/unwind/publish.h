/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Publishes the executable ranges of images to BPF (bpf/frame.h). An image is published at its
 * first record, because its key in the kernel is unknown before. Later changes follow. Old ranges
 * stay readable for a while, because a walk may still read them.
 */
#ifndef USER_UNWIND_PUBLISH_H
#define USER_UNWIND_PUBLISH_H

#include <stdbool.h>
#include <stdint.h>

#include "user/space/procmap.h"

struct er_hotspot;
struct publisher;
struct unwind_maps;

/* `maps` is borrowed. */
struct publisher *publisher_new(struct unwind_maps *maps);
void publisher_free(struct publisher *p); /* NULL: nothing */

/* Publish the image, unless that has been done. Its process and its count of execs are the key. */
void publisher_add(struct publisher *p, struct image *im, uint64_t start_time, uint32_t exec_id);
/* Publish its Java VM. False: the image is not published, or there are too many VMs. */
bool publisher_hotspot(struct publisher *p, const struct image *im, const struct er_hotspot *vm);
/*
 * Note that its mappings changed. The procmap calls this as a hook, so publishing is left for
 * later.
 */
void publisher_changed(struct publisher *p, struct image *im);
/* Publish noted changes, after new mappings were read. */
void publisher_update(struct publisher *p, uint64_t now_ns);
/* The image is about to be freed. */
void publisher_forget(struct publisher *p, struct image *im, uint64_t now_ns);

/* The number of images without room. BPF asks the kernel for their mappings instead. */
uint64_t publisher_full(const struct publisher *p);
/* Count from now on. */
void publisher_restart_counts(struct publisher *p);

#endif
