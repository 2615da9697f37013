/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "loaders/uprobes.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "analysis/base/alloc.h"
#include "analysis/base/vec.h"

#define UPROBE_UNIT "/sys/bus/event_source/devices/uprobe"

enum { KERNEL_ENOTSUPP = 524 }; /* an errno that only the kernel knows */

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

/* The kernel cannot run this instruction elsewhere, so it refuses the breakpoint. */
static bool is_refusal(int err)
{
	return err == -ENOTSUP || err == -KERNEL_ENOTSUPP || err == -ENOEXEC;
}

static struct uprobes *made(struct uprobes **u)
{
	if (!*u)
		*u = xcalloc(1, sizeof(**u));
	return *u;
}

/* --- one link for all sites of a file --- */

/* Not in the headers of Linux 6.1. */
enum { TRACE_UPROBE_MULTI = 48, UPROBE_MULTI_RETURN = 1 << 0 };

/* What BPF_LINK_CREATE reads for such a link: the first bytes of union bpf_attr. */
struct multi_attr {
	uint32_t prog, target, type, flags;
	uint64_t path, offsets, semaphores, cookies;
	uint32_t n, multi_flags, pid, pad;
};

/* Sites of one file, all of them returns or none. */
struct site_group {
	struct uprobe_site *sites; /* of all groups */
	size_t *which;             /* indexes of the group's sites */
	size_t n;
};

/* The arrays of `attr` have n entries. Returns the link's descriptor, or -errno. */
static int link_multi(int prog, const char *path, pid_t pid, struct multi_attr *attr)
{
	int fd;

	attr->prog = prog;
	attr->type = TRACE_UPROBE_MULTI;
	attr->path = (uintptr_t)path;
	attr->pid = pid;
	fd = syscall(SYS_bpf, BPF_LINK_CREATE, attr, sizeof(*attr));
	return fd < 0 ? -errno : fd;
}

static int link_group(struct uprobes *u, int prog, const struct site_group *g, pid_t pid)
{
	const struct uprobe_site *first = &g->sites[g->which[0]];
	__cleanup(freep) uint64_t *words = xcalloc(3 * g->n, sizeof(*words));
	uint64_t *offsets = words, *semaphores = words + g->n, *cookies = words + 2 * g->n;
	struct multi_attr attr = {
		.offsets = (uintptr_t)offsets, .semaphores = (uintptr_t)semaphores, .cookies = (uintptr_t)cookies,
		.n = g->n, .multi_flags = first->ret ? UPROBE_MULTI_RETURN : 0,
	};
	char path[32];
	int link;

	for (size_t i = 0; i < g->n; i++) {
		const struct uprobe_site *site = &g->sites[g->which[i]];

		offsets[i] = site->offset;
		semaphores[i] = site->semaphore;
		cookies[i] = site->cookie;
	}
	snprintf(path, sizeof(path), "/proc/self/fd/%d", first->fd);
	link = link_multi(prog, path, pid < 0 ? 0 : pid, &attr);
	if (link < 0)
		return link;
	vec_push(&u->links, link);
	return 0;
}

/*
 * The kernel does not tell which site it refuses, so the group is halved until each refused one is alone. The
 * depth is the logarithm of the number of sites.
 */
static int link_halves(struct uprobes *u, int prog, const struct site_group *g, pid_t pid, size_t *bad)
{
	const struct site_group low = { g->sites, g->which, g->n / 2 },
				high = { g->sites, g->which + g->n / 2, g->n - g->n / 2 };
	int err = link_group(u, prog, g, pid);

	if (!err)
		return 0;
	if (g->n > 1) {
		err = link_halves(u, prog, &low, pid, bad);
		return err ? err : link_halves(u, prog, &high, pid, bad);
	}
	*bad = g->which[0];
	if (!is_refusal(err))
		return err;
	g->sites[*bad].refused = true;
	return 0;
}

static bool same_group(const struct uprobe_site *a, const struct stat *sa, const struct uprobe_site *b,
		       const struct stat *sb)
{
	return a->ret == b->ret && sa->st_dev == sb->st_dev && sa->st_ino == sb->st_ino;
}

/* Two descriptors may be of one file. */
static int attach_groups(struct uprobes *u, int prog, struct uprobe_site *sites, size_t n, pid_t pid, size_t *bad)
{
	__cleanup(freep) struct stat *files = xcalloc(n, sizeof(*files));
	__cleanup(freep) bool *taken = xcalloc(n, sizeof(*taken));
	__cleanup(freep) size_t *which = xcalloc(n, sizeof(*which));
	int err = 0;

	for (size_t i = 0; i < n; i++)
		fstat(sites[i].fd, &files[i]);
	for (size_t i = 0; i < n && !err; i++) {
		struct site_group g = { sites, which, 0 };

		for (size_t j = i; j < n && !taken[i]; j++)
			if (!taken[j] && same_group(&sites[i], &files[i], &sites[j], &files[j]))
				which[g.n++] = j;
		for (size_t k = 0; k < g.n; k++)
			taken[which[k]] = true;
		if (g.n)
			err = link_halves(u, prog, &g, pid, bad);
	}
	return err;
}

/*
 * Whether the kernel has such links, and can limit them to a process. The first of these kernels took
 * the number of a process for that of a thread. Those that do not refuse a negative number at once. No
 * file is touched: "/" has no code.
 */
static bool kernel_has_multi(void)
{
	static const struct bpf_insn insns[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	LIBBPF_OPTS(bpf_prog_load_opts, opts, .expected_attach_type = (enum bpf_attach_type)TRACE_UPROBE_MULTI);
	__cleanup(closep) int prog = bpf_prog_load(BPF_PROG_TYPE_KPROBE, "er_probe", "GPL", insns,
						   sizeof(insns) / sizeof(*insns), &opts);
	uint64_t offset = 0;
	struct multi_attr any = { .offsets = (uintptr_t)&offset, .n = 1 }, none = any;

	return prog >= 0 && link_multi(prog, "/", 0, &any) == -EBADF && link_multi(prog, "/", -1, &none) == -EINVAL;
}

static bool has_multi(void)
{
	static int has = -1;

	if (has < 0)
		has = kernel_has_multi();
	return has;
}

void uprobes_prepare(struct bpf_program *prog)
{
	if (has_multi())
		bpf_program__set_expected_attach_type(prog, (enum bpf_attach_type)TRACE_UPROBE_MULTI);
}

bool uprobes_survive_setuid(void)
{
	return has_multi();
}

/* --- a link for each site --- */

static int attach_each(struct uprobes *u, int prog, struct uprobe_site *sites, size_t n, pid_t pid, size_t *bad)
{
	int type = number_in(UPROBE_UNIT "/type");

	for (size_t i = 0; i < n; i++) {
		int event = type < 0 ? type : open_site(type, &sites[i], pid);
		int err = event < 0 ? event : link_event(u, prog, event, sites[i].cookie);

		*bad = i;
		sites[i].refused = is_refusal(err);
		if (err && !sites[i].refused)
			return err;
	}
	return 0;
}

/* --- what the kernel refuses --- */

/*
 * The kernel looks at an instruction when a process maps it; if none does, it accepts any place, and nothing is
 * ever recorded there. So the files of the sites are mapped here while they are attached. Nothing is read.
 */
struct own_views {
	VEC(struct own_view { void *at; size_t size; }) views;
};

static void view_file(struct own_views *o, int fd)
{
	struct stat st;
	void *at;

	if (fstat(fd, &st) || st.st_size <= 0)
		return;
	at = mmap(NULL, st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (at != MAP_FAILED)
		vec_push(&o->views, (struct own_view){ at, st.st_size });
}

static void view_files(struct own_views *o, const struct uprobe_site *sites, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		bool had = false;

		for (size_t j = 0; j < i && !had; j++)
			had = sites[j].fd == sites[i].fd;
		if (!had)
			view_file(o, sites[i].fd);
	}
}

static void end_views(struct own_views *o)
{
	vec_for_each (v, &o->views)
		munmap(v->at, v->size);
	vec_free(&o->views);
}

int uprobes_attach(struct uprobes **u, int prog, struct uprobe_site *sites, size_t n, pid_t pid, size_t *bad)
{
	struct own_views own = { 0 };
	int err;

	view_files(&own, sites, n);
	err = has_multi() ? attach_groups(made(u), prog, sites, n, pid, bad) :
			    attach_each(made(u), prog, sites, n, pid, bad);
	end_views(&own);
	return err;
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

int uprobes_raise(struct uprobes **u, const struct uprobe_site *sites, size_t n, pid_t pid)
{
	int type = number_in(UPROBE_UNIT "/type");

	for (size_t i = 0; i < n && type >= 0; i++) {
		int event = open_site(type, &sites[i], pid);

		if (event < 0)
			return event;
		vec_push(&made(u)->links, event);
	}
	return type < 0 ? type : 0;
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
	case ENOEXEC:
	case KERNEL_ENOTSUPP:
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
