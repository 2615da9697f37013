/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds the path of a control group by the id that BPF reports, which is its inode number. */
#ifndef USER_RECORD_CGROUPS_H
#define USER_RECORD_CGROUPS_H

#include <stdint.h>

struct cgroups;

/* root: where the unified hierarchy is mounted; NULL: try the usual places. */
struct cgroups *cgroups_new(const char *root);
void cgroups_free(struct cgroups *c);
/*
 * Returns for example "/system.slice/ssh.service". NULL if the path is unknown, because the
 * group was removed before the first look. A new id makes this read the whole hierarchy, at most
 * once a second. The string is valid until cgroups_free.
 */
const char *cgroups_path(struct cgroups *c, uint64_t id);

#endif
