/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "loaders/family_uprobes.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "analysis/base/alloc.h"
#include "analysis/base/vec.h"
#include "loaders/tracefs.h"
#include "loaders/uprobes.h"

#define GROUP "er_family_"

struct place {
	int prog;         /* borrowed */
	uint64_t cookie;
	unsigned id;      /* of the trace event */
	int link;         /* -1: the program is not linked yet */
	VEC(int) events;
};

struct family_uprobes {
	int dir;          /* of tracefs */
	VEC(struct place) places;
};

bool family_uprobes_possible(void)
{
	__cleanup(closep) int dir = tracefs_open();

	return dir >= 0 && !faccessat(dir, "uprobe_events", W_OK, AT_EACCESS);
}

/* --- definitions --- */

static int command(int dir, const char *text)
{
	int fd = openat(dir, "uprobe_events", O_WRONLY | O_APPEND | O_CLOEXEC), err = 0;

	if (fd < 0)
		return -errno;
	if (write(fd, text, strlen(text)) < 0)
		err = -errno;
	close(fd);
	return err;
}

/* A line is "p:GROUP/NAME PATH:OFFSET". Whether a recorder that is no more has left it. */
static bool is_left(const char *line)
{
	const char *name = strchr(line, ':');
	long pid;

	if (!name || strncmp(name + 1, GROUP, strlen(GROUP)))
		return false;
	pid = strtol(name + 1 + strlen(GROUP), NULL, 10);
	return pid > 0 && kill(pid, 0) && errno == ESRCH;
}

static void remove_left(int dir)
{
	int fd = openat(dir, "uprobe_events", O_RDONLY | O_CLOEXEC);
	FILE *f = fd < 0 ? NULL : fdopen(fd, "r");
	char *line = NULL, text[128];
	size_t size = 0;

	while (f && getline(&line, &size, f) > 0) {
		if (!is_left(line))
			continue;
		snprintf(text, sizeof(text), "-:%.100s", strchr(line, ':') + 1);
		text[strcspn(text, " \n")] = '\0';
		command(dir, text);
	}
	free(line);
	if (f)
		fclose(f);
	else if (fd >= 0)
		close(fd);
}

static int read_id(int dir, size_t number, unsigned *ret)
{
	__cleanup(freep) char *path = xasprintf("events/" GROUP "%d/p%zu/id", (int)getpid(), number);
	int fd = openat(dir, path, O_RDONLY | O_CLOEXEC);
	char text[24] = "";
	ssize_t n;

	if (fd < 0)
		return -errno;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	*ret = n > 0 ? strtoul(text, NULL, 10) : 0;
	return *ret ? 0 : -EIO;
}

/* The kernel looks the path up at once, and gets the very file that was opened. */
static int define(struct family_uprobes *u, int prog, const struct uprobe_site *site)
{
	struct place p = { .prog = prog, .cookie = site->cookie, .link = -1 };
	__cleanup(freep) char *text = xasprintf("%c:" GROUP "%d/p%zu /proc/self/fd/%d:0x%llx", site->ret ? 'r' : 'p',
						(int)getpid(), u->places.len, site->fd,
						(unsigned long long)site->offset);
	int err = command(u->dir, text);

	if (err)
		return err;
	err = read_id(u->dir, u->places.len, &p.id);
	vec_push(&u->places, p);
	return err;
}

static int made(struct family_uprobes **u)
{
	int dir = *u ? 0 : tracefs_open();

	if (dir < 0)
		return dir;
	if (!*u) {
		*u = xcalloc(1, sizeof(**u));
		(*u)->dir = dir;
		remove_left(dir);
	}
	return 0;
}

int family_uprobes_define(struct family_uprobes **u, int prog, const struct uprobe_site *sites, size_t n,
			  size_t *bad)
{
	int err = made(u);

	*bad = 0;
	for (size_t i = 0; i < n && !err; i++) {
		err = define(*u, prog, &sites[i]);
		*bad = i;
	}
	return err;
}

/* --- breakpoints --- */

/*
 * When a CPU changes from one process of a family to another, the kernel may exchange their events instead of
 * changing them. Each event still names the process that it was made for. When one of the two ends, the events go
 * that name the other, and the kernel takes the breakpoints out of that one. It does not exchange events that are
 * read with their samples, which it inherits since 6.12. We read no sample.
 */
static int open_inherited(struct perf_event_attr *attr, pid_t tid)
{
	int fd;

	attr->inherit = 1;
	attr->sample_type = PERF_SAMPLE_READ | PERF_SAMPLE_TID;
	fd = syscall(SYS_perf_event_open, attr, tid, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd >= 0 || errno != EINVAL)
		return fd;
	attr->sample_type = 0;
	return syscall(SYS_perf_event_open, attr, tid, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

bool family_uprobes_hold(void)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_DUMMY,
		.inherit = 1,
		.sample_type = PERF_SAMPLE_READ | PERF_SAMPLE_TID,
		.exclude_kernel = 1,
	};
	int fd = syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd >= 0)
		close(fd);
	return fd >= 0 || errno != EINVAL;
}

static int open_event(struct place *p, pid_t tid, bool inherit)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_TRACEPOINT,
		.size = sizeof(attr),
		.config = p->id,
	};
	int event = inherit ? open_inherited(&attr, tid) :
			      syscall(SYS_perf_event_open, &attr, tid, -1, -1, PERF_FLAG_FD_CLOEXEC);

	if (event < 0)
		return -errno;
	vec_push(&p->events, event);
	return event;
}

/*
 * The program belongs to the definition, not to one event of it. It is linked to an event that is not inherited:
 * when a child ends, the kernel takes away from the definition what its parent's event was linked to.
 */
static int link_program(struct place *p, pid_t tid)
{
	LIBBPF_OPTS(bpf_link_create_opts, opts, .perf_event.bpf_cookie = p->cookie);
	int event = open_event(p, tid, false);

	if (event < 0)
		return event;
	p->link = bpf_link_create(p->prog, event, BPF_PERF_EVENT, &opts);
	return p->link < 0 ? -errno : 0;
}

static int aim_place(struct place *p, pid_t tid)
{
	int err = p->link < 0 ? link_program(p, tid) : 0;

	err = err ? err : open_event(p, tid, true);
	return err < 0 ? err : 0;
}

/* A thread that has ended meanwhile needs nothing. */
static int aim_thread(struct family_uprobes *u, pid_t tid, size_t *bad)
{
	int err = 0;

	for (size_t i = 0; i < u->places.len && !err; i++) {
		err = aim_place(&u->places.data[i], tid);
		*bad = i;
	}
	return err == -ESRCH ? 0 : err;
}

typedef VEC(pid_t) tid_list;

static bool has_tid(const tid_list *l, pid_t tid)
{
	vec_for_each (t, l)
		if (*t == tid)
			return true;
	return false;
}

/* Aim at the threads that are not in the list, and add them. Returns how many there were, or -errno. */
static int aim_new(struct family_uprobes *u, pid_t pid, tid_list *had, size_t *bad)
{
	__cleanup(freep) char *path = xasprintf("/proc/%d/task", (int)pid);
	DIR *dir = opendir(path);
	int n = 0, err = 0;

	if (!dir)
		return -errno;
	for (struct dirent *e; !err && (e = readdir(dir));) {
		pid_t tid = atoi(e->d_name);

		if (!isdigit((unsigned char)*e->d_name) || has_tid(had, tid))
			continue;
		err = aim_thread(u, tid, bad);
		vec_push(had, tid);
		n++;
	}
	closedir(dir);
	return err ? err : n;
}

/* Threads that others create meanwhile are found the next time. */
int family_uprobes_aim(struct family_uprobes *u, pid_t pid, size_t *bad)
{
	tid_list had = { 0 };
	int n;

	do {
		n = aim_new(u, pid, &had, bad);
	} while (n > 0);
	vec_free(&had);
	return n;
}

static void release(struct place *p)
{
	if (p->link >= 0)
		close(p->link);
	vec_for_each (event, &p->events)
		close(*event);
	vec_free(&p->events);
}

void family_uprobes_close(struct family_uprobes *u)
{
	if (!u)
		return;
	vec_for_each (p, &u->places)
		release(p);
	for (size_t i = 0; i < u->places.len; i++) {
		__cleanup(freep) char *text = xasprintf("-:" GROUP "%d/p%zu", (int)getpid(), i);

		command(u->dir, text);
	}
	vec_free(&u->places);
	close(u->dir);
	free(u);
}
