/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The paths of control groups by the ids that BPF knows them by: their inode numbers. */
#ifndef USER_RECORD_CGROUPS_H
#define USER_RECORD_CGROUPS_H

#include <stdint.h>

struct cgroups;

/* root: where the unified hierarchy is mounted; NULL: where systems have it. */
struct cgroups *cgroups_new(const char *root);
void cgroups_free(struct cgroups *c);
/*
 * "/system.slice/ssh.service", or NULL when not known: the group was gone before
 * anybody asked. Looks through the hierarchy when an id is new, once a second at
 * most. Borrowed, until cgroups_free.
 */
const char *cgroups_path(struct cgroups *c, uint64_t id);

#endif
