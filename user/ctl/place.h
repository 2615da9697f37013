/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where recorders have their control sockets. Each user has a directory; a socket's name is the
 * recorder's process ID. The directories are /run/er_kernel for root and $XDG_RUNTIME_DIR/er_kernel
 * for other users. Only the user can write to the directory, so no other user can put a socket
 * there.
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
 * Open the caller's directory. With `create` it is made if it is missing. Its path is written to
 * ret. Returns a descriptor, or -errno: -ENOENT if there is no directory, or no $XDG_RUNTIME_DIR;
 * -EPERM if other users could write to it.
 */
int ctl_place_open(bool create, char ret[CTL_PLACE]);

/* The process ID that a socket's name means; 0: the name is not a process ID. */
pid_t ctl_name_pid(const char *name);

struct ctl_name {
	char text[CTL_NAME];
};

typedef VEC(struct ctl_name) ctl_names;

/* The names in the directory that are process IDs, in ascending order. Free with vec_free. */
void ctl_place_list(int dirfd, ctl_names *ret);

/*
 * Connect to the socket `name` in a directory. If dirfd is -1, `name` is a path. Never waits.
 * Returns a descriptor, or -errno: -ECONNREFUSED if the recorder was killed, -EACCES if it belongs
 * to another user.
 */
int ctl_connect(int dirfd, const char *name);
/*
 * Bind a socket of type SOCK_SEQPACKET to the name, accessible only to its user. Returns 0, or
 * -errno.
 */
int ctl_bind(int fd, int dirfd, const char *name);

#endif
