/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The recorder's side: one request at a time. A process that does not answer in time is left to
 * its fate; the one that was forked early forks another, because by now the recorder has too much
 * memory and too many descriptors for that.
 */
#include "user/space/opener.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "analysis/base/alloc.h"
#include "analysis/base/buf.h"
#include "analysis/base/diag.h"
#include "analysis/base/file.h"
#include "user/space/copies.h"
#include "user/space/mapped.h"
#include "user/space/memory.h"
#include "user/space/opener_impl.h"
#include "user/space/patience.h"
#include "user/space/procfs.h"
#include "user/space/procmap.h"

enum { RENEW_MS = 1000, COUNT_NS = 1000000000, MANY_STUCK = 16, MAX_UNANSWERED = 1 << 20 };

static struct {
	pid_t pid;
	int control, sock; /* -1: none */
	volatile uint32_t *stage;
	struct patience patience;
	struct copies copies;
	unsigned stuck;      /* processes left behind, as far as is known */
	uint64_t counted_ns;
	struct map unanswered; /* a set of what was asked for in vain */
} now = { .control = -1, .sock = -1 };

static uint64_t time_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * UINT64_C(1000000000) + t.tv_nsec;
}

/* --- the processes --- */

/* Ask the process that forks. 0, and perhaps a descriptor, or -errno. */
static int wish(uint32_t what, int *fd)
{
	struct pollfd p = { .fd = now.control, .events = POLLIN };
	struct opener_news news;
	int err = opener_send(now.control, &what, sizeof(what), -1);

	*fd = -1;
	if (err)
		return err;
	if (poll(&p, 1, RENEW_MS) < 1)
		return -EAGAIN;
	err = opener_receive(now.control, &news, sizeof(news), MSG_DONTWAIT, fd);
	if (err <= 0)
		return err ? err : -ECHILD;
	now.stuck = news.stuck;
	return 0;
}

/* Leave the process behind, and have another one forked. 0 or -errno. */
static int renew(void)
{
	int err;

	closep(&now.sock);
	now.sock = -1;
	err = wish(OPENER_RENEW, &now.sock);
	return err ? err : now.sock < 0 ? -EAGAIN : 0;
}

/* Whether many processes were left behind. Then only devices that have always answered are asked. */
static bool are_many_stuck(uint64_t time_ns)
{
	int fd;

	if (now.stuck < MANY_STUCK || time_ns < now.counted_ns + COUNT_NS)
		return now.stuck >= MANY_STUCK;
	now.counted_ns = time_ns;
	wish(OPENER_COUNT_STUCK, &fd);
	closep(&fd);
	return now.stuck >= MANY_STUCK;
}

static int launch(void)
{
	int control[2];

	now.stage = mmap(NULL, sizeof(*now.stage), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (now.stage == MAP_FAILED) {
		now.stage = NULL;
		return -errno;
	}
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, control))
		return -errno;
	now.pid = fork();
	if (!now.pid)
		opener_serve(control[1], now.stage);
	close(control[1]);
	now.control = control[0];
	return now.pid < 0 ? -errno : renew();
}

int opener_start(struct diag *d)
{
	int err = launch();

	if (!err)
		return 0;
	opener_stop();
	return diag_errno(d, -err, "cannot start the process that opens files of other programs");
}

/* Processes that still wait for an answer stay until they get it. */
void opener_stop(void)
{
	closep(&now.sock);
	closep(&now.control);
	if (now.pid > 0)
		waitpid(now.pid, NULL, 0);
	if (now.stage)
		munmap((void *)now.stage, sizeof(*now.stage));
	patience_free(&now.patience);
	copies_free(&now.copies);
	map_free(&now.unanswered);
	memset(&now, 0, sizeof(now));
	now.control = now.sock = -1;
}

pid_t opener_pid(void)
{
	return now.pid > 0 ? now.pid : 0;
}

uint64_t opener_unanswered(void)
{
	return now.unanswered.len;
}

/* --- asking --- */

/* Wait for the answer until `limit` ns have passed since `from`. */
static bool await(uint64_t from, int64_t limit)
{
	struct pollfd p = { .fd = now.sock, .events = POLLIN };

	for (;;) {
		int64_t left = limit - (int64_t)(time_ns() - from);

		if (poll(&p, 1, left > 0 ? (left + 999999) / 1000000 : 0) > 0)
			return true;
		if (left <= 0)
			return false;
	}
}

/* What a process mapped may be well although its /tmp or its memory is not. */
static uint64_t process_key(const struct opener_request *q)
{
	bool tmp = q->op == OPENER_ROOT_DIR || q->op == OPENER_BELOW;

	return hash64((uint32_t)q->pid) ^ (tmp ? 1 : q->op == OPENER_MEMORY ? 4 : 2);
}

static uint64_t device_key(const struct opener_request *q)
{
	return hash64(q->dev) ^ 3;
}

static bool names_device(const struct opener_request *q)
{
	return q->op == OPENER_MAPPED && q->dev;
}

/* Looked up only after somebody was blamed. */
static bool is_users_fault(const struct opener_request *q)
{
	return now.patience.users.len && q->pid && patience_refuses_user(&now.patience, procfs_user(q->pid));
}

static bool is_refused(const struct opener_request *q)
{
	return is_users_fault(q) || (q->pid && patience_refuses(&now.patience, process_key(q))) ||
	       (names_device(q) && patience_refuses(&now.patience, device_key(q)));
}

/* There was no answer in time. */
static void blame(const struct opener_request *q)
{
	bool device = *now.stage == OPENER_AT_DEVICE && names_device(q) &&
		      !patience_trusts(&now.patience, device_key(q));

	if (device)
		patience_refuse(&now.patience, device_key(q));
	else if (q->pid)
		patience_refuse(&now.patience, process_key(q));
	if (q->pid)
		patience_blame_user(&now.patience, procfs_user(q->pid));
	renew();
}

/* Returns 0 and the reply, with its descriptor in *fd, or -errno if there was none. */
static int talk(const struct opener_request *q, int dir, int64_t limit, struct opener_reply *r, int *fd)
{
	size_t n = offsetof(struct opener_request, path) + strlen(q->path) + 1;
	uint64_t from = time_ns();
	bool answered;
	int err;

	if (now.sock < 0 && (err = renew()) < 0)
		return err;
	*now.stage = OPENER_AT_PROCESS;
	err = opener_send(now.sock, q, n, dir);
	answered = !err && await(from, limit);
	patience_spend(&now.patience, time_ns() - from);
	if (!err && !answered) {
		blame(q);
		return -ETIMEDOUT;
	}
	err = err ? err : opener_receive(now.sock, r, sizeof(*r), MSG_DONTWAIT, fd);
	if (err > 0)
		return 0;
	renew(); /* it was killed */
	return err ? err : -ECHILD;
}

/* A file may be asked for several times. */
static void note_unanswered(const struct opener_request *q)
{
	uint64_t path = hash_bytes(q->path, strlen(q->path));
	uint64_t who = names_device(q) ? hash64(q->dev ^ hash64(q->ino)) : hash64((uint64_t)q->pid << 8 | q->op);

	if (now.unanswered.len < MAX_UNANSWERED)
		map_put(&now.unanswered, hash64(path ^ who), NULL);
}

static int ask(const struct opener_request *q, int dir, struct opener_reply *r, int *fd)
{
	bool trusted = names_device(q) && patience_trusts(&now.patience, device_key(q));
	uint64_t time = time_ns();
	int64_t limit = patience_limit(&now.patience, time, trusted);
	bool refused = !limit || is_refused(q) || (!trusted && are_many_stuck(time));
	int err = refused ? -ETIMEDOUT : talk(q, dir, limit, r, fd);

	if (err == -ETIMEDOUT)
		note_unanswered(q);
	return err ? err : r->err;
}

static uint64_t room_for_copy(void)
{
	uint64_t left = OPENER_COPIES_BYTES - now.copies.bytes;

	return left < OPENER_COPY_BYTES ? left : OPENER_COPY_BYTES;
}

/*
 * Ask for a file. A copy of a mapped file is shared with those who ask for the same file.
 */
static int ask_file(struct opener_request *q, int dir, bool share)
{
	uint64_t dev = share ? q->dev : 0, ino = share ? q->ino : 0;
	int fd = share ? copies_find(&now.copies, dev, ino) : -ENOENT, err;
	static struct opener_reply r;

	if (fd != -ENOENT)
		return fd;
	q->room = room_for_copy();
	err = ask(q, dir, &r, &fd);
	if (err)
		return err;
	if (fd >= 0 && r.copy)
		return copies_add(&now.copies, fd, dev, ino, r.size);
	if (fd >= 0 && names_device(q))
		patience_trust(&now.patience, device_key(q));
	return fd < 0 ? -EBADMSG : fd;
}

/* False: it is too long. */
static bool set_path(struct opener_request *q, const char *path)
{
	size_t n = strlen(path);

	if (n >= sizeof(q->path))
		return false;
	memcpy(q->path, path, n + 1);
	return true;
}

int opener_mapped(pid_t pid, const struct mapping *m, bool any, uid_t owner)
{
	struct opener_request q;

	if (!now.pid)
		return mapped_open_here(pid, m, any, owner);
	q = (struct opener_request){ .op = OPENER_MAPPED, .pid = pid, .start = m->start, .len = m->len,
				     .pgoff = m->pgoff, .dev = m->dev, .ino = m->ino, .any = any,
				     .owner = owner };
	return set_path(&q, m->path) ? ask_file(&q, -1, !any) : -ENAMETOOLONG;
}

int opener_root_dir(pid_t pid, const char *name)
{
	struct opener_request q;

	if (!now.pid)
		return mapped_root_dir_here(pid, name);
	q = (struct opener_request){ .op = OPENER_ROOT_DIR, .pid = pid };
	return set_path(&q, name) ? ask_file(&q, -1, false) : -ENAMETOOLONG;
}

int opener_below(pid_t pid, int dir, const char *name, uid_t owner)
{
	struct opener_request q;

	if (!now.pid)
		return mapped_below_here(dir, name, owner);
	q = (struct opener_request){ .op = OPENER_BELOW, .pid = pid, .owner = owner };
	return set_path(&q, name) ? ask_file(&q, dir, false) : -ENAMETOOLONG;
}

int opener_path(const char *path)
{
	static struct opener_reply r;
	struct opener_request q;
	int fd = -1, err;

	if (!now.pid)
		return file_open_regular(path);
	q = (struct opener_request){ .op = OPENER_PATH, .room = OPENER_COPY_BYTES };
	err = set_path(&q, path) ? ask(&q, -1, &r, &fd) : -ENAMETOOLONG;
	return err ? err : fd;
}

/* True for the next mapping in the text. */
static bool next_mapping(const struct buf *text, size_t *at, struct maps_line *ret)
{
	struct opener_mapping m;

	if (text->len - *at < sizeof(m))
		return false;
	memcpy(&m, text->data + *at, sizeof(m));
	*at += sizeof(m);
	if (!m.npath || m.npath > text->len - *at || text->data[*at + m.npath - 1])
		return false;
	*ret = (struct maps_line){ .start = m.start, .end = m.end, .pgoff = m.pgoff, .dev = m.dev,
				   .ino = m.ino, .exec = true, .path = text->data + *at };
	*at += m.npath;
	return true;
}

/* The text of a reply, which may be in a descriptor. */
static void take_text(const struct opener_reply *r, int fd, struct buf *ret)
{
	char chunk[16384];
	ssize_t n;

	buf_add(ret, r->text, r->ntext <= sizeof(r->text) ? r->ntext : 0);
	for (off_t at = 0; fd >= 0 && (n = pread(fd, chunk, sizeof(chunk), at)) > 0; at += n)
		buf_add(ret, chunk, n);
}

int opener_code(pid_t pid, bool (*fn)(void *ctx, const struct maps_line *l), void *ctx)
{
	static struct opener_reply r;
	struct opener_request q;
	struct buf text = { 0 };
	struct maps_line l;
	size_t at = 0;
	int fd = -1, err;

	if (!now.pid)
		return procfs_code_here(pid, fn, ctx);
	q = (struct opener_request){ .op = OPENER_CODE, .pid = pid };
	err = ask(&q, -1, &r, &fd);
	if (!err)
		take_text(&r, fd, &text);
	closep(&fd);
	while (!err && next_mapping(&text, &at, &l) && fn(ctx, &l))
		continue;
	buf_free(&text);
	return err;
}

int opener_memory(pid_t pid, int fd, off_t offset, size_t n)
{
	static struct opener_reply r;
	struct opener_request q;
	int none = -1, err;

	if (!now.pid)
		return memory_copy_here(pid, fd, offset, n);
	q = (struct opener_request){ .op = OPENER_MEMORY, .pid = pid, .start = offset, .len = n };
	err = ask(&q, fd, &r, &none);
	closep(&none);
	return err;
}

void opener_cmdline(pid_t pid, struct buf *ret)
{
	static struct opener_reply r;
	struct opener_request q;
	int fd = -1;

	if (!now.pid) {
		procfs_cmdline_here(pid, ret);
		return;
	}
	q = (struct opener_request){ .op = OPENER_CMDLINE, .pid = pid };
	if (!ask(&q, -1, &r, &fd))
		take_text(&r, -1, ret);
	closep(&fd);
}

/* --- copies --- */

bool opener_is_copy(int fd)
{
	int seals = fcntl(fd, F_GET_SEALS);

	return seals >= 0 && seals & F_SEAL_WRITE;
}

void opener_close(int *fd)
{
	if (*fd >= 0)
		copies_close(&now.copies, *fd);
	*fd = -1;
}
