/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A file system in user space that may stop to answer. fuse MOUNTPOINT DIRECTORY RULES shows the
 * files of a directory, in one level, read-only. The file RULES has words that are read before each
 * request: names of requests (LOOKUP GETATTR OPEN READ STATFS) that get no answer; "delay=MS", the
 * time that each answer takes; "direct": files that are opened then bypass the page cache. Prints "mounted".
 * Ends when it is unmounted. Speaks to /dev/fuse, or to the device that the environment names as FUSE_DEVICE.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { MAX_FILES = 256, ROOM = 1 << 20, MAX_READ = 128 << 10 };

static char *names[MAX_FILES]; /* of node i + 2 */
static int dir, device;
static const char *rules;
static bool direct;

static const struct {
	uint32_t opcode;
	const char *name;
} requests[] = {
	{ FUSE_LOOKUP, "LOOKUP" }, { FUSE_GETATTR, "GETATTR" }, { FUSE_OPEN, "OPEN" },
	{ FUSE_READ, "READ" },     { FUSE_STATFS, "STATFS" },
};

/* Whether this request gets an answer, after the time that it takes. */
static bool obey(uint32_t opcode)
{
	char text[256] = { 0 };
	const char *delay;
	int fd = open(rules, O_RDONLY), ms;
	ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof(text) - 1);

	if (fd >= 0)
		close(fd);
	if (n < 0)
		return true;
	for (size_t i = 0; i < sizeof(requests) / sizeof(requests[0]); i++) {
		if (requests[i].opcode == opcode && strstr(text, requests[i].name))
			return false;
	}
	direct = strstr(text, "direct");
	delay = strstr(text, "delay=");
	ms = delay ? atoi(delay + 6) : 0;
	if (ms)
		nanosleep(&(struct timespec){ ms / 1000, ms % 1000 * 1000000L }, NULL);
	return true;
}

static void reply(const struct fuse_in_header *in, int err, const void *p, size_t n)
{
	static char buf[ROOM];
	struct fuse_out_header out = { .len = sizeof(out) + n, .error = -err, .unique = in->unique };

	memcpy(buf, &out, sizeof(out));
	if (n)
		memcpy(buf + sizeof(out), p, n);
	if (write(device, buf, out.len) < 0 && errno != ENOENT)
		perror("fuse: reply");
}

static const char *name_of(uint64_t node)
{
	return node == 1 ? "." : node - 2 < MAX_FILES && names[node - 2] ? names[node - 2] : "/nothing";
}

/* Attributes are valid for no time, so each use asks again. */
static int attributes(uint64_t node, struct fuse_attr *ret)
{
	struct stat st;

	if (fstatat(dir, name_of(node), &st, 0) < 0)
		return errno;
	*ret = (struct fuse_attr){ .ino = node, .size = st.st_size, .blocks = st.st_blocks,
				   .mode = st.st_mode, .nlink = 1, .uid = st.st_uid, .gid = st.st_gid,
				   .blksize = 4096, .mtime = st.st_mtime };
	return 0;
}

static uint64_t node_of(const char *name)
{
	for (int i = 0; i < MAX_FILES; i++) {
		if (!names[i])
			names[i] = strdup(name);
		if (!strcmp(names[i], name))
			return i + 2;
	}
	return 0;
}

static void look_up(const struct fuse_in_header *in, const char *name)
{
	struct fuse_entry_out e = { .nodeid = faccessat(dir, name, F_OK, 0) ? 0 : node_of(name) };
	int err = e.nodeid ? attributes(e.nodeid, &e.attr) : ENOENT;

	reply(in, err, &e, err ? 0 : sizeof(e));
}

static void read_file(const struct fuse_in_header *in, const struct fuse_read_in *r)
{
	static char data[MAX_READ];
	int fd = openat(dir, name_of(in->nodeid), O_RDONLY);
	ssize_t n = pread(fd, data, r->size < MAX_READ ? r->size : MAX_READ, r->offset);

	reply(in, n < 0 ? errno : 0, data, n < 0 ? 0 : n);
	close(fd);
}

static void serve(const struct fuse_in_header *in, const void *p)
{
	struct fuse_init_out init = { .major = FUSE_KERNEL_VERSION, .minor = FUSE_KERNEL_MINOR_VERSION,
				      .max_write = MAX_READ, .max_readahead = MAX_READ };
	struct fuse_attr_out a = { 0 };
	struct fuse_open_out o = { 0 };
	struct fuse_statfs_out s = { .st = { .bsize = 4096, .namelen = 255 } };
	int err;

	switch (in->opcode) {
	case FUSE_INIT:
		reply(in, 0, &init, sizeof(init));
		break;
	case FUSE_LOOKUP:
		look_up(in, p);
		break;
	case FUSE_GETATTR:
		err = attributes(in->nodeid, &a.attr);
		reply(in, err, &a, err ? 0 : sizeof(a));
		break;
	case FUSE_OPEN:
		o.open_flags = direct ? FOPEN_DIRECT_IO : 0;
		/* fall through */
	case FUSE_OPENDIR:
		reply(in, 0, &o, sizeof(o));
		break;
	case FUSE_READ:
		read_file(in, p);
		break;
	case FUSE_STATFS:
		reply(in, 0, &s, sizeof(s));
		break;
	case FUSE_READDIR:
	case FUSE_FLUSH:
	case FUSE_RELEASE:
	case FUSE_RELEASEDIR:
		reply(in, 0, NULL, 0);
		break;
	case FUSE_FORGET:
	case FUSE_BATCH_FORGET:
	case FUSE_INTERRUPT:
		break;
	default:
		reply(in, ENOSYS, NULL, 0);
	}
}

int main(int argc, char **argv)
{
	static _Alignas(8) char buf[ROOM];
	const char *from = getenv("FUSE_DEVICE");
	char options[128];
	ssize_t n;

	if (argc != 4)
		return 2;
	rules = argv[3];
	dir = open(argv[2], O_RDONLY | O_DIRECTORY);
	device = open(from ? from : "/dev/fuse", O_RDWR);
	snprintf(options, sizeof(options), "fd=%d,rootmode=40000,user_id=%d,group_id=%d,allow_other", device,
		 getuid(), getgid());
	if (dir < 0 || device < 0 || mount("er-fuse", argv[1], "fuse", MS_NOSUID | MS_NODEV, options)) {
		perror("fuse");
		return 1;
	}
	puts("mounted");
	fflush(stdout);
	while ((n = read(device, buf, sizeof(buf))) > 0 || errno == EINTR || errno == ENOENT) {
		const struct fuse_in_header *in = (void *)buf;

		if (n > 0 && (in->opcode == FUSE_INIT || obey(in->opcode)))
			serve(in, in + 1);
	}
	return 0;
}
