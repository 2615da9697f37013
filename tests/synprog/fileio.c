/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Does I/O in the current directory and prints what it did: for each function "NAME.reads",
 * "NAME.readbytes", "NAME.writes", "NAME.writebytes", "NAME.others" and "NAME.errors", tab, number;
 * for the file of `plain` "file", tab, path, reads, bytes, writes, bytes; for the read that waits the
 * least and the most time that it took, in ns. `fileio threads` does most of that in four threads,
 * `fileio fork` in a child as well. `fileio stuck` ends while a thread reads. It reads descriptor 9, if
 * the caller has opened it.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define FUNCTION __attribute__((noinline, noclone))

enum { THREADS = 4, WRITES = 50, SIZE = 4096, GIVEN_FD = 9 };

struct count {
	const char *name;
	long reads, readbytes, writes, writebytes, others, errors;
};

enum { PLAIN, PLACED, VECTORS, SOCKETS, PIPES, COPIES, FAILURES, SYNCS, INTERRUPTED, RESTARTED, WAITING, GIVEN, NAMES };

static struct count counts[NAMES] = {
	[PLAIN] = { "plain" }, [PLACED] = { "placed" }, [VECTORS] = { "vectors" }, [SOCKETS] = { "sockets" },
	[PIPES] = { "pipes" }, [COPIES] = { "copies" }, [FAILURES] = { "failures" }, [SYNCS] = { "syncs" },
	[INTERRUPTED] = { "interrupted" }, [RESTARTED] = { "restarted" }, [WAITING] = { "waiting" },
	[GIVEN] = { "given" },
};

static struct count files; /* of the file of `plain` */
static long waited_least, waited_most;
static char buffer[SIZE];

#define ADD(to, n) __atomic_fetch_add(&(to), n, __ATOMIC_RELAXED)

static long did_read(struct count *c, long ret)
{
	ADD(*(ret < 0 ? &c->errors : &c->reads), 1);
	ADD(c->readbytes, ret < 0 ? 0 : ret);
	return ret;
}

static long did_write(struct count *c, long ret)
{
	ADD(*(ret < 0 ? &c->errors : &c->writes), 1);
	ADD(c->writebytes, ret < 0 ? 0 : ret);
	return ret;
}

static long did(struct count *c, long ret)
{
	ADD(*(ret < 0 ? &c->errors : &c->others), 1);
	return ret;
}

static void both(struct count *to, const struct count *before, const struct count *after)
{
	ADD(to->reads, after->reads - before->reads);
	ADD(to->readbytes, after->readbytes - before->readbytes);
	ADD(to->writes, after->writes - before->writes);
	ADD(to->writebytes, after->writebytes - before->writebytes);
}

static FUNCTION void plain(void)
{
	struct count *all = &counts[PLAIN], mine = { 0 }, none = { 0 };
	int fd = did(&mine, open("plain.data", O_CREAT | O_RDWR | O_APPEND, 0600));

	for (int i = 0; i < WRITES; i++)
		did_write(&mine, write(fd, buffer, 10 + i));
	did(&mine, lseek(fd, 0, SEEK_SET));
	for (int i = 0; i < WRITES; i++)
		did_read(&mine, read(fd, buffer, 7 + i));
	did(&mine, lseek(fd, 0, SEEK_END));
	did_read(&mine, pread(fd, buffer, 100, 1 << 20)); /* 0 bytes: beyond the end */
	did(&mine, close(fd));
	both(&files, &none, &mine);
	both(all, &none, &mine);
	ADD(all->others, mine.others);
	ADD(all->errors, mine.errors);
}

static FUNCTION void placed(void)
{
	struct count *c = &counts[PLACED];
	struct iovec v[2] = { { buffer, 100 }, { buffer, 33 } };
	int fd = did(c, openat(AT_FDCWD, "placed.data", O_CREAT | O_RDWR | O_TRUNC, 0600));

	for (int i = 0; i < 20; i++)
		did_write(c, pwrite(fd, buffer, 100, i * 100));
	did_write(c, pwritev(fd, v, 2, 5000));
	for (int i = 0; i < 20; i++)
		did_read(c, pread(fd, buffer, 50, i * 10));
	did_read(c, preadv(fd, v, 2, 20));
	did_read(c, preadv2(fd, v, 1, 30, 0));
	did(c, close(fd));
}

static FUNCTION void vectors(void)
{
	struct count *c = &counts[VECTORS];
	struct iovec v[3] = { { buffer, 10 }, { buffer, 20 }, { buffer, 300 } };
	int fd = did(c, creat("vectors.data", 0600));

	did_write(c, writev(fd, v, 3));
	did_write(c, writev(fd, v, 2));
	did(c, close(fd));
	fd = did(c, open("vectors.data", O_RDONLY));
	did_read(c, readv(fd, v, 2));
	did(c, close(fd));
}

static FUNCTION void sockets(void)
{
	struct count *c = &counts[SOCKETS];
	struct iovec v = { buffer, 77 };
	struct msghdr m = { .msg_iov = &v, .msg_iovlen = 1 };
	int fds[2];

	did(c, socketpair(AF_UNIX, SOCK_DGRAM, 0, fds));
	did_write(c, send(fds[0], buffer, 55, 0));
	did_read(c, recv(fds[1], buffer, 100, 0));
	did_write(c, sendmsg(fds[1], &m, 0));
	did_read(c, recvmsg(fds[0], &m, 0));
	did_read(c, recv(fds[0], buffer, 100, MSG_DONTWAIT)); /* EAGAIN */
	did(c, close(fds[0]));
	did(c, close(fds[1]));
}

static FUNCTION void pipes(void)
{
	struct count *c = &counts[PIPES];
	int fds[2];

	did(c, pipe(fds));
	for (int i = 1; i <= 30; i++) {
		did_write(c, write(fds[1], buffer, i));
		did_read(c, read(fds[0], buffer, SIZE));
	}
	did(c, close(fds[0]));
	did(c, close(fds[1]));
}

static FUNCTION void copies(void)
{
	struct count *c = &counts[COPIES];
	int fd = did(c, open("copies.data", O_CREAT | O_WRONLY | O_TRUNC, 0600));
	int second = did(c, dup(fd)), third = did(c, fcntl(fd, F_DUPFD_CLOEXEC, 50));

	did(c, close(fd));
	did_write(c, write(second, buffer, 11));
	did_write(c, write(third, buffer, 22));
	did(c, dup2(second, third));
	did_write(c, write(third, buffer, 33));
	fcntl(third, F_GETFL); /* no I/O */
	did(c, close(second));
	did(c, close(third));
}

static FUNCTION void failures(void)
{
	struct count *c = &counts[FAILURES];
	int fd = did(c, open("/dev/null", O_RDONLY));

	did(c, open("no/such/file", O_RDONLY));
	did_read(c, read(999, buffer, 1));
	did_write(c, write(fd, buffer, 1));
	did(c, close(fd));
	did(c, close(999));
	did(c, dup(999));
}

static FUNCTION void syncs(void)
{
	struct count *c = &counts[SYNCS];
	int fd = did(c, open("syncs.data", O_CREAT | O_WRONLY | O_TRUNC, 0600));

	did_write(c, write(fd, buffer, 1000));
	did(c, fsync(fd));
	did(c, fdatasync(fd));
	did(c, ftruncate(fd, 10));
	did(c, close(fd));
	did(c, unlink("syncs.data"));
	did(c, access(".", R_OK));
}

/* --- calls that block --- */

static int channel[2];
static volatile pid_t reader;
static struct count *handled;

static long now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000L + t.tv_nsec;
}

/* Wait until the reader is blocked in read(2). */
static void until_blocked(void)
{
	char path[64], line[256], number[16];

	snprintf(path, sizeof(path), "/proc/self/task/%d/syscall", reader);
	snprintf(number, sizeof(number), "%d ", SYS_read);
	do {
		int fd = open(path, O_RDONLY);
		ssize_t n = fd < 0 ? 0 : read(fd, line, sizeof(line) - 1);

		close(fd);
		line[n > 0 ? n : 0] = '\0';
		sched_yield();
	} while (strncmp(line, number, strlen(number)));
}

/* The handler does I/O itself, within the function that it interrupts. */
static FUNCTION void handle(int sig __attribute__((unused)))
{
	int fd = did(handled, open("/dev/null", O_WRONLY));

	did_write(handled, write(fd, buffer, 1));
	did(handled, close(fd));
}

static void set_handler(int flags)
{
	struct sigaction sa = { .sa_handler = handle, .sa_flags = flags };

	sigaction(SIGUSR1, &sa, NULL);
}

static void *interrupt_reader(void *unused __attribute__((unused)))
{
	until_blocked();
	syscall(SYS_tgkill, getpid(), reader, SIGUSR1);
	return NULL;
}

/* After each signal the reader blocks again, in the same call. */
static void *interrupt_and_feed(void *unused __attribute__((unused)))
{
	for (int i = 0; i < 3; i++) {
		until_blocked();
		syscall(SYS_tgkill, getpid(), reader, SIGUSR1);
		usleep(20000);
	}
	until_blocked();
	if (write(channel[1], buffer, 5) != 5)
		abort();
	return NULL;
}

static void *feed(void *unused __attribute__((unused)))
{
	long since, until;

	until_blocked();
	since = now();
	usleep(100000);
	until = now();
	waited_least = until - since;
	if (write(channel[1], buffer, 6) != 6)
		abort();
	return NULL;
}

static pthread_t begin(void *(*fn)(void *))
{
	pthread_t t;

	reader = syscall(SYS_gettid);
	if (pthread_create(&t, NULL, fn, NULL))
		abort();
	return t;
}

static FUNCTION void interrupted(void)
{
	pthread_t t;

	handled = &counts[INTERRUPTED];
	set_handler(0);
	t = begin(interrupt_reader);
	did_read(&counts[INTERRUPTED], read(channel[0], buffer, 5)); /* EINTR */
	pthread_join(t, NULL);
}

static FUNCTION void restarted(void)
{
	pthread_t t;

	handled = &counts[RESTARTED];
	set_handler(SA_RESTART);
	t = begin(interrupt_and_feed);
	did_read(&counts[RESTARTED], read(channel[0], buffer, 5));
	pthread_join(t, NULL);
}

static FUNCTION void waiting(void)
{
	pthread_t t = begin(feed);
	long since = now();

	did_read(&counts[WAITING], read(channel[0], buffer, 6));
	waited_most = now() - since;
	pthread_join(t, NULL);
}

/* A file that the caller may have opened. */
static FUNCTION void given(void)
{
	if (fcntl(GIVEN_FD, F_GETFD) < 0)
		return;
	for (int i = 0; i < 3; i++)
		did_read(&counts[GIVEN], read(GIVEN_FD, buffer, 10));
}

/* --- */

static void *work(void *unused __attribute__((unused)))
{
	plain();
	placed();
	vectors();
	sockets();
	pipes();
	failures();
	syncs();
	return NULL;
}

static void in_threads(void)
{
	pthread_t t[THREADS];

	for (int i = 0; i < THREADS; i++)
		pthread_create(&t[i], NULL, work, NULL);
	for (int i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
}

static void *read_for_ever(void *unused __attribute__((unused)))
{
	reader = syscall(SYS_gettid);
	return read(channel[0], buffer, 1) ? buffer : NULL;
}

static void leave_stuck(void)
{
	pthread_t t;

	reader = 0; /* until now it was this thread */
	pthread_create(&t, NULL, read_for_ever, NULL);
	while (!reader)
		sched_yield();
	until_blocked();
}

static void print_all(void)
{
	char path[PATH_MAX + 1] = "";

	for (int i = 0; i < NAMES; i++) {
		const struct count *c = &counts[i];

		printf("%s.reads\t%ld\n%s.readbytes\t%ld\n", c->name, c->reads, c->name, c->readbytes);
		printf("%s.writes\t%ld\n%s.writebytes\t%ld\n", c->name, c->writes, c->name, c->writebytes);
		printf("%s.others\t%ld\n%s.errors\t%ld\n", c->name, c->others, c->name, c->errors);
	}
	if (!realpath("plain.data", path))
		abort();
	printf("file\t%s\t%ld\t%ld\t%ld\t%ld\n", path, files.reads, files.readbytes, files.writes,
	       files.writebytes);
	printf("waited_least\t%ld\nwaited_most\t%ld\n", waited_least, waited_most);
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "";

	if (pipe(channel))
		abort();
	if (!strcmp(mode, "threads"))
		in_threads();
	else
		work(NULL);
	if (!strcmp(mode, "fork")) {
		pid_t pid = fork();

		if (!pid) {
			work(NULL);
			_exit(0);
		}
		waitpid(pid, NULL, 0);
	}
	copies();
	interrupted();
	restarted();
	waiting();
	given();
	print_all();
	fflush(stdout);
	if (!strcmp(mode, "stuck"))
		leave_stuck();
	return 0;
}
