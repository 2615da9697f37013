/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where recorders have their control sockets: each in a directory of its user, under the name of
 * its process ID. Root's are in /run/er_kernel, those of other users in $XDG_RUNTIME_DIR/er_kernel.
 * Only the user can write to the directory, so no other user can put a socket there.
 */
#ifndef USER_CTL_PLACE_H
#define USER_CTL_PLACE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "analysis/base/vec.h"

#define CTL_ROOT_PLACE "/run/er_kernel"

enum { CTL_NAME = 32, CTL_PLACE = 4096 };

/*
 * Open the caller's directory; `create` makes it if it is missing. Writes its path to ret. Returns
 * a descriptor, or -errno: -ENOENT if there is none, or no $XDG_RUNTIME_DIR; -EPERM if other users
 * could write to it.
 */
int ctl_place_open(bool create, char ret[CTL_PLACE]);

/* The number that a socket's name means; 0: it is not a process ID. */
pid_t ctl_name_pid(const char *name);

struct ctl_name {
	char text[CTL_NAME];
};

typedef VEC(struct ctl_name) ctl_names;

/* The names in the directory that are process IDs, in ascending order. Free with vec_free. */
void ctl_place_list(int dirfd, ctl_names *ret);

/*
 * Connect to the socket `name` in a directory; name alone is a path if dirfd is -1. Never waits.
 * Returns a descriptor, or -errno: -ECONNREFUSED if its recorder was killed, -EACCES if it belongs
 * to another user.
 */
int ctl_connect(int dirfd, const char *name);
/* Bind a socket of type SOCK_SEQPACKET, only for its user, to the name. Returns 0, or -errno. */
int ctl_bind(int fd, int dirfd, const char *name);

#endif
