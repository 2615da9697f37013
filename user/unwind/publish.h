/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tells BPF what is mapped where: the executable ranges of images (bpf/frame.h). An image is
 * published when the first record of it has come, for only then is it known how the kernel
 * names it; from then on changes follow. What was published before stays readable for a
 * while, because a walk may be reading it.
 */
#ifndef USER_UNWIND_PUBLISH_H
#define USER_UNWIND_PUBLISH_H

#include <stdint.h>

#include "user/space/procmap.h"

struct publisher;
struct unwind_maps;

/* `maps` is borrowed. */
struct publisher *publisher_new(struct unwind_maps *maps);
void publisher_free(struct publisher *p); /* NULL: nothing */

/* The image is that process's, between these execs: publish it, unless it is published. */
void publisher_add(struct publisher *p, struct image *im, uint64_t start_time, uint32_t exec_id);
/* What has changed of it since; a hook of the procmap (`changed`), so it is done later. */
void publisher_changed(struct publisher *p, struct image *im);
/* Do it: once mappings have been taken in. */
void publisher_update(struct publisher *p, uint64_t now_ns);
/* The image is about to be freed. */
void publisher_forget(struct publisher *p, struct image *im, uint64_t now_ns);

/* Images that found no room: BPF asks the kernel for their mappings. */
uint64_t publisher_full(const struct publisher *p);

#endif
