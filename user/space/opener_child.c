/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The processes: one that is forked early and only forks, and its children, which open files. No
 * file can stop the first, so it can always end and replace the others.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "analysis/base/alloc.h"
#include "analysis/base/buf.h"
#include "analysis/base/copy.h"
#include "analysis/base/diag.h"
#include "analysis/base/file.h"
#include "loaders/privilege.h"
#include "user/space/handover.h"
#include "user/space/mapped.h"
#include "user/space/memory.h"
#include "user/space/opener_impl.h"
#include "user/space/procfs.h"
#include "user/space/procmap.h"

/* --- messages --- */

union one_fd {
	struct cmsghdr h;
	char room[CMSG_SPACE(sizeof(int))];
};

int opener_send(int sock, const void *p, size_t n, int fd)
{
	union one_fd control = { 0 };
	struct iovec iov = { (void *)p, n };
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1 };

	if (fd >= 0) {
		m.msg_control = &control;
		m.msg_controllen = sizeof(control.room);
		control.h.cmsg_level = SOL_SOCKET;
		control.h.cmsg_type = SCM_RIGHTS;
		control.h.cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(&control.h), &fd, sizeof(fd));
	}
	return sendmsg(sock, &m, MSG_NOSIGNAL) < 0 ? -errno : 0;
}

int opener_receive(int sock, void *p, size_t n, int flags, int *fd)
{
	union one_fd control;
	struct iovec iov = { p, n };
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = &control,
			    .msg_controllen = sizeof(control.room) };
	struct cmsghdr *c;
	ssize_t got;

	*fd = -1;
	do
		got = recvmsg(sock, &m, MSG_CMSG_CLOEXEC | flags);
	while (got < 0 && errno == EINTR);
	c = got > 0 ? CMSG_FIRSTHDR(&m) : NULL;
	if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS)
		memcpy(fd, CMSG_DATA(c), sizeof(*fd));
	return got < 0 ? -errno : (int)got;
}

/* --- the process that opens --- */

enum { MAPPINGS_MAX = 16 << 20 }; /* bytes */

static int hand_over(int fd, pid_t pid, const struct opener_request *q, struct opener_reply *r)
{
	bool copy;

	fd = handover_file(fd, pid, q->room, &copy, &r->size);
	r->copy = copy;
	return fd;
}

static int open_mapped(const struct opener_request *q, struct opener_reply *r)
{
	const struct mapping m = { .start = q->start, .len = q->len, .pgoff = q->pgoff, .dev = q->dev,
				   .ino = q->ino, .path = q->path };
	int fd = mapped_open_here(q->pid, &m, q->any, q->owner);

	return fd < 0 ? fd : hand_over(fd, q->pid, q, r);
}

static int open_path(const struct opener_request *q, struct opener_reply *r)
{
	int fd = file_open_regular(q->path);

	return fd < 0 ? -ENOENT : hand_over(fd, 0, q, r);
}

static int open_below(const struct opener_request *q, int dir, struct opener_reply *r)
{
	int fd = mapped_below_here(dir, q->path, q->owner);

	return fd < 0 ? fd : hand_over(fd, q->pid, q, r);
}

static void read_cmdline(const struct opener_request *q, struct opener_reply *r)
{
	struct buf text = { 0 };

	procfs_cmdline_here(q->pid, &text);
	r->ntext = text.len < OPENER_TEXT ? text.len : OPENER_TEXT;
	memcpy(r->text, text.data, r->ntext);
	buf_free(&text);
}

static bool add_mapping(void *ctx, const struct maps_line *l)
{
	struct buf *text = ctx;
	size_t npath = strlen(l->path) + 1;
	const struct opener_mapping m = { .start = l->start, .end = l->end, .pgoff = l->pgoff,
					  .dev = l->dev, .ino = l->ino, .npath = npath };

	buf_add(text, &m, sizeof(m));
	buf_add(text, l->path, npath);
	return text->len < MAPPINGS_MAX;
}

/* Returns a descriptor if the text is too long for the reply; else -1, or -errno. */
static int put_text(const struct buf *text, struct opener_reply *r)
{
	__cleanup(closep) int fd = -1;
	int err;

	if (text->len <= OPENER_TEXT) {
		r->ntext = text->len;
		memcpy(r->text, text->data ? text->data : "", text->len);
		return -1;
	}
	fd = memfd_create("text", MFD_CLOEXEC);
	err = fd < 0 ? -errno : fd_write(fd, text->data, text->len);
	return err ? err : fcntl(fd, F_DUPFD_CLOEXEC, 0);
}

static int read_code(const struct opener_request *q, struct opener_reply *r)
{
	struct buf text = { 0 };
	int fd;

	r->err = procfs_code_here(q->pid, add_mapping, &text);
	fd = r->err ? -1 : put_text(&text, r);
	if (fd < -1)
		r->err = fd;
	buf_free(&text);
	return fd < 0 ? -1 : fd;
}

/* Returns the descriptor for the reply; -1: none. */
static int do_request(const struct opener_request *q, int dir, struct opener_reply *r)
{
	int fd = -EBADMSG;

	r->ntext = r->copy = r->err = 0;
	switch (q->op) {
	case OPENER_MAPPED:
		fd = open_mapped(q, r);
		break;
	case OPENER_ROOT_DIR:
		fd = mapped_root_dir_here(q->pid, q->path);
		break;
	case OPENER_BELOW:
		fd = open_below(q, dir, r);
		break;
	case OPENER_PATH:
		fd = open_path(q, r);
		break;
	case OPENER_CMDLINE:
		read_cmdline(q, r);
		return -1;
	case OPENER_CODE:
		return read_code(q, r);
	case OPENER_MEMORY:
		r->err = memory_copy_here(q->pid, dir, q->start, q->len);
		return -1;
	}
	r->err = fd < 0 ? fd : 0;
	return fd < 0 ? -1 : fd;
}

static void open_files(int sock)
{
	static struct opener_request q;
	static struct opener_reply r;
	int dir, fd, err;

	while (opener_receive(sock, &q, sizeof(q), 0, &dir) > 0) {
		fd = do_request(&q, dir, &r);
		err = opener_send(sock, &r, offsetof(struct opener_reply, text) + r.ntext, fd);
		closep(&fd);
		closep(&dir);
		if (err)
			return;
	}
}

/* --- the process that forks --- */

/* Closes everything else: a process that waits for ever must hold nothing that others wait for. */
static int keep_only(int *sock)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC), own = fcntl(*sock, F_DUPFD_CLOEXEC, 3);

	if (null < 0 || own < 0 || chdir("/") < 0)
		return -errno;
	for (int fd = 0; fd < 3; fd++) {
		if (dup2(null, fd) < 0)
			return -errno;
	}
	if (dup3(own, 3, O_CLOEXEC) < 0 && own != 3)
		return -errno;
	*sock = 3;
	return syscall(SYS_close_range, 4, ~0U, 0) ? -errno : 0;
}

static void start_opening(int control, const int pair[2])
{
	close(control);
	close(pair[0]);
	if (!prctl(PR_SET_PDEATHSIG, SIGKILL))
		open_files(pair[1]);
	_exit(0);
}

struct family {
	pid_t pid;   /* of the process that opens; 0: none */
	int members; /* with it */
};

/* Until we wait for a process its number belongs to no other, so no signal reaches another program. */
static void reap(struct family *f)
{
	for (pid_t pid; (pid = waitpid(-1, NULL, WNOHANG)) > 0; f->members--) {
		if (pid == f->pid)
			f->pid = 0;
	}
}

static void leave_behind(struct family *f)
{
	if (f->pid)
		kill(f->pid, SIGKILL);
	f->pid = 0;
	/* Most of them are gone at once. */
	for (int i = 0; i < 10 && f->members; i++) {
		reap(f);
		usleep(f->members ? 100 : 0);
	}
}

/* Returns the socket of the new process, or -1. */
static int start_another(int control, struct family *f)
{
	int pair[2];

	if (f->members >= OPENER_STUCK_MAX || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
		return -1;
	f->pid = fork();
	if (!f->pid)
		start_opening(control, pair);
	close(pair[1]);
	if (f->pid < 0)
		close(pair[0]);
	f->members += f->pid > 0;
	f->pid = f->pid > 0 ? f->pid : 0;
	return f->pid ? pair[0] : -1;
}

/* False: the recorder is gone. */
static bool fulfil(int control, struct family *f)
{
	struct opener_news news;
	uint32_t wish;
	int fd = -1, err;

	if (opener_receive(control, &wish, sizeof(wish), 0, &fd) <= 0)
		return false;
	closep(&fd);
	fd = -1;
	reap(f);
	if (wish == OPENER_RENEW) {
		leave_behind(f);
		news.stuck = f->members;
		fd = start_another(control, f);
	} else {
		news.stuck = f->members - (f->pid > 0);
	}
	err = opener_send(control, &news, sizeof(news), fd);
	closep(&fd);
	return !err;
}

void opener_serve(int control, volatile uint32_t *stage)
{
	static const int ignored[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE };
	struct diag d = { 0 };
	struct family family = { 0 };

	for (size_t i = 0; i < sizeof(ignored) / sizeof(ignored[0]); i++)
		signal(ignored[i], SIG_IGN);
	signal(SIGCHLD, SIG_DFL);
	mapped_set_stage(stage);
	privilege_drop(&d);
	diag_free(&d);
	if (!prctl(PR_SET_PDEATHSIG, SIGKILL) && !keep_only(&control)) {
		while (fulfil(control, &family))
			continue;
	}
	reap(&family);
	if (family.pid)
		kill(family.pid, SIGKILL);
	_exit(0);
}
