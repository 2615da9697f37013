/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "loaders/uprobes.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "analysis/base/vec.h"

#define UPROBE_UNIT "/sys/bus/event_source/devices/uprobe"

/* The unit takes the semaphore's offset in the upper half of config; a return is bit 0. */
enum { SEMAPHORE_SHIFT = 32, RETURN_BIT = 0 };

struct uprobes {
	VEC(int) links;
};

static int number_in(const char *path)
{
	FILE *f = fopen(path, "re");
	int n = -1;

	if (!f)
		return -errno;
	if (fscanf(f, "%d", &n) != 1 || n < 0)
		n = -EINVAL;
	fclose(f);
	return n;
}

static int open_site(int type, const struct uprobe_site *site, pid_t pid)
{
	char path[32];
	struct perf_event_attr attr = {
		.type = type,
		.size = sizeof(attr),
		.config = site->semaphore << SEMAPHORE_SHIFT | (uint64_t)site->ret << RETURN_BIT,
		.uprobe_path = (uintptr_t)path,
		.probe_offset = site->offset,
	};
	int fd;

	/* The kernel looks the path up, and gets the very file that was opened. */
	snprintf(path, sizeof(path), "/proc/self/fd/%d", site->fd);
	if (site->semaphore > UINT32_MAX)
		return -ERANGE;
	fd = syscall(SYS_perf_event_open, &attr, pid, pid < 0 ? sched_getcpu() : -1, -1, PERF_FLAG_FD_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/* Link the program to the event, which the link keeps open. */
static int link_event(struct uprobes *u, int prog, int event, uint64_t cookie)
{
	LIBBPF_OPTS(bpf_link_create_opts, opts, .perf_event.bpf_cookie = cookie);
	int link = bpf_link_create(prog, event, BPF_PERF_EVENT, &opts), err = errno;

	close(event);
	if (link < 0)
		return -err;
	vec_push(&u->links, link);
	return 0;
}

static struct uprobes *made(struct uprobes **u)
{
	if (!*u)
		*u = xcalloc(1, sizeof(**u));
	return *u;
}

int uprobes_attach(struct uprobes **u, int prog, const struct uprobe_site *sites, size_t n, pid_t pid,
		   size_t *bad)
{
	int type = number_in(UPROBE_UNIT "/type");

	for (size_t i = 0; i < n; i++) {
		int event = type < 0 ? type : open_site(type, &sites[i], pid);
		int err = event < 0 ? event : link_event(made(u), prog, event, sites[i].cookie);

		*bad = i;
		if (err)
			return err;
	}
	return 0;
}

int uprobes_attach_tracepoint(struct uprobes **u, int prog, int id, uint64_t cookie)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_TRACEPOINT,
		.size = sizeof(attr),
		.config = id,
	};
	/* The program belongs to the tracepoint, not to the event's CPU: it runs on all of them. */
	int event = syscall(SYS_perf_event_open, &attr, -1, sched_getcpu(), -1, PERF_FLAG_FD_CLOEXEC);

	return event < 0 ? -errno : link_event(made(u), prog, event, cookie);
}

const char *uprobes_why(int err)
{
	switch (err) {
	case EACCES:
	case EPERM:
		return "the kernel denies probes: record as root";
	case ENOENT:
		return "this kernel has no uprobes (CONFIG_UPROBE_EVENTS), or the file is gone";
	case ENOTSUP:
	case EINVAL:
	case EIO:
		return "the kernel cannot put a breakpoint on this instruction: choose another place";
	case EMFILE:
		return "there are too many places: raise the limit of open files (ulimit -n)";
	}
	return "the kernel refuses the probe";
}

uint64_t uprobes_missed(int prog)
{
	struct bpf_prog_info info = { 0 };
	uint32_t size = sizeof(info);

	return bpf_obj_get_info_by_fd(prog, &info, &size) ? 0 : info.recursion_misses;
}

void uprobes_detach(struct uprobes *u)
{
	if (!u)
		return;
	vec_for_each (link, &u->links)
		close(*link);
	vec_free(&u->links);
	free(u);
}
