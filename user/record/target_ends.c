/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "user/record/target_ends.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "analysis/base/alloc.h"

#ifndef PIDFD_THREAD
#define PIDFD_THREAD O_EXCL /* Linux 6.9 */
#endif

/* The descriptor, or -errno. Kernel threads have no process: their pid is 0. */
static int open_target(const struct capture_target *t)
{
	pid_t process = t->pid ? t->pid : t->tid;
	int fd = -1;

	if (t->tid)
		fd = syscall(SYS_pidfd_open, t->tid, PIDFD_THREAD);
	if (!t->tid || (fd < 0 && errno == EINVAL))
		fd = syscall(SYS_pidfd_open, process, 0);
	return fd < 0 ? -errno : fd;
}

void target_ends_init(struct target_ends *e, const struct capture_target *targets, size_t n)
{
	*e = (struct target_ends){ .nrunning = n };
	for (size_t i = 0; i < n; i++) {
		int fd = open_target(&targets[i]);

		e->nrunning -= fd == -ESRCH;
		vec_push(&e->fds, fd < 0 ? -1 : fd);
	}
}

void target_ends_fini(struct target_ends *e)
{
	vec_for_each(fd, &e->fds)
		closep(fd);
	vec_free(&e->fds);
}

bool target_ends_look(struct target_ends *e, struct pollfd *fds)
{
	if (e->over)
		return false;
	for (size_t i = 0; i < e->fds.len; i++) {
		if (e->fds.data[i] < 0 || !fds[i].revents)
			continue;
		closep(&e->fds.data[i]);
		fds[i].fd = -1;
		e->nrunning--;
	}
	e->over = e->fds.len && !e->nrunning;
	return e->over;
}

void target_ends_say(const struct capture_target *targets, size_t n, struct buf *ret)
{
	if (n > 1)
		buf_printf(ret, "all %zu targets have ended", n);
	else if (!targets->pid)
		buf_printf(ret, "kernel thread %d has ended", targets->tid);
	else if (targets->tid)
		buf_printf(ret, "thread %d/%d has ended", targets->pid, targets->tid);
	else
		buf_printf(ret, "process %d has ended", targets->pid);
}
