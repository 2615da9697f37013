/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where a process's runtime writes the names of its generated code: a jitdump, or
 * /tmp/perf-PID.map, as the process sees it. That is a path below the process's own root, with
 * the process ID in its own PID namespace.
 *
 * When a process ends, /proc/PID/root can no longer be opened, but then the file is complete. So
 * the directory is opened while the process runs, and stays open.
 *
 * The process chooses these files, and they may be traps. Only a regular file of the process's
 * effective user is opened, and no symbolic link is followed on the way.
 */
#ifndef USER_JIT_PLACE_H
#define USER_JIT_PLACE_H

#include <sys/types.h>

struct image;
struct mapping;

struct jit_place {
	pid_t pid;
	int dir;     /* the process's /tmp; -1: not open */
	pid_t inner; /* the process ID in the innermost namespace */
	uid_t uid;   /* its effective user */
};

/* Returns 0, or -errno if the process has ended or if its files cannot be read. */
int jit_place_open(pid_t pid, struct jit_place *ret);
void jit_place_close(struct jit_place *p);

/*
 * Open the perf map for reading. Returns a descriptor, to be closed with opener_close; it may be a
 * copy (opener.h). -ENOENT: there is none. Any other -errno: it may not be read. -EACCES also if it
 * is another user's, -EINVAL if it is not a regular file, -ELOOP if it is a link.
 */
int jit_place_map(const struct jit_place *p);

/*
 * A runtime that writes a jitdump, jit-PID.dump in any directory, maps it executable as a sign.
 * Returns that mapping, or NULL.
 */
const struct mapping *jit_place_dump_mapping(const struct jit_place *p, const struct image *im);
/* Open the file of that mapping: by device and inode, so no name leads elsewhere. Errors as above. */
int jit_place_dump(const struct jit_place *p, const struct mapping *m);

#endif
