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
 * Returns for example "/system.slice/ssh.service". NULL if the path is unknown: the group was
 * removed before the first look, its path is longer than 1024 bytes, or there are more than 16,384
 * groups. A new id makes this read the whole hierarchy, at most once a second, and for at most a
 * twentieth of the time. The string is valid until the next call.
 */
const char *cgroups_path(struct cgroups *c, uint64_t id);

#endif
