/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Address spaces: what is mapped where, and what a new mapping does to older ones. */
#ifndef USER_SPACE_H
#define USER_SPACE_H

#include "user/space/procmap.h"

/*
 * Each of these is given back by space_put; the last one frees. *total counts
 * the mappings of all spaces that were made with it, and outlives them.
 */
struct space *space_new(size_t *total);
struct space *space_share(struct space *sp);
void space_put(struct space *sp);

/* Files hold symbols; memory of other kinds (JIT code, shared memory, devices) does not. */
bool space_wants(const char *path);
/*
 * The mapping came into the image's space, which becomes the image's own. What
 * it overlays has gone; the hooks are told. False when there is no room for it.
 */
bool space_add(struct image *im, const struct mapping *m, const struct procmap_hooks *h);
/* Memory that holds no symbols came where the mapping says: what it overlays has gone. */
void space_clear(struct image *im, const struct mapping *m, const struct procmap_hooks *h);

#endif
