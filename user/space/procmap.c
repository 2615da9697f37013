/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "user/space/procmap_impl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/alloc.h"
#include "analysis/base/map.h"
#include "user/space/files.h"
#include "user/space/lineage.h"
#include "user/space/procfs.h"
#include "user/space/space.h"

enum {
	MAX_PROCESSES = 65536,
	MAX_PATHS = 1 << 18,
	MAX_PATH_BYTES = 32 << 20,
	FEW_PATHS = 4096,
};

/* --- mappings --- */

static void set_path(struct procmap *pm, struct mapping *m, const char *path)
{
	static const char mark[] = " (deleted)";
	size_t len = strlen(path), k = sizeof(mark) - 1;
	__cleanup(freep) char *plain = NULL;

	if (len > k && !strcmp(path + len - k, mark)) {
		m->deleted = true;
		path = plain = xstrndup(path, len - k);
	}
	m->path = pm->paths.len < MAX_PATHS && pm->paths.bytes < MAX_PATH_BYTES ?
			  strtab_intern(&pm->paths, path) : NULL;
}

static void map_file(struct procmap *pm, struct image *im, struct mapping *m, const char *path)
{
	if (!space_wants(path)) {
		pm->counts.mappings += !space_clear(im, m, path, &pm->hooks);
		return;
	}
	set_path(pm, m, path);
	if (m->path)
		m->file = files_number(&pm->files, m);
	if (!m->path || !space_add(im, m, &pm->hooks)) {
		pm->counts.mappings++;
		return;
	}
	if (pm->hooks.any)
		pm->hooks.any(pm->hooks.ctx, im, m);
	if (im->lineage && pm->hooks.family)
		pm->hooks.family(pm->hooks.family_ctx, im, m);
}

/* --- processes and images --- */

static void set_comm(struct image *im, const char *comm)
{
	snprintf(im->comm, sizeof(im->comm), "%s", comm);
}

static struct image *image_new(struct procmap *pm, struct process *p, uint64_t begin_ns,
			       const char *comm, struct space *space)
{
	struct image *im = xcalloc(1, sizeof(*im));

	im->pid = p->pid;
	im->begin_ns = begin_ns;
	im->space = space;
	im->process = p;
	im->older = p->image;
	set_comm(im, comm);
	p->image = im;
	pm->nimages++;
	return im;
}

static struct process *process_new(struct procmap *pm, pid_t pid, uint64_t born_ns)
{
	struct process *p;

	if (pm->nprocesses >= MAX_PROCESSES) {
		pm->counts.processes++;
		return NULL;
	}
	p = xcalloc(1, sizeof(*p));
	p->pid = pid;
	p->born_ns = born_ns;
	p->older = newest(pm, pid);
	*map_put(&pm->by_pid, pid, NULL) = (uintptr_t)p;
	pm->nprocesses++;
	return p;
}

static void end_image(struct procmap *pm, struct image *im, uint64_t time_ns)
{
	im->end_ns = time_ns ? time_ns : 1;
	vec_push(&pm->ended, im);
}

static void process_gone(struct procmap *pm, struct process *p, uint64_t time_ns)
{
	if (p->gone_ns)
		return;
	p->gone_ns = time_ns ? time_ns : 1;
	end_image(pm, p->image, time_ns);
}

/* Its name without the escapes of /proc/PID/stat; release with buf_free. */
static struct buf read_comm(pid_t pid)
{
	struct buf comm = { 0 };

	procfs_read(pid, "comm", &comm);
	buf_add(&comm, "", 1);
	comm.data[strcspn(comm.data, "\n")] = 0;
	return comm;
}

struct reader {
	struct procmap *pm;
	struct image *im;
	uint64_t time_ns;
};

/* False if there is no room for more. */
static bool map_line(void *ctx, const struct maps_line *l)
{
	const struct reader *r = ctx;

	map_file(r->pm, r->im, &(struct mapping){ .start = l->start, .len = l->end - l->start,
						  .pgoff = l->pgoff, .dev = l->dev, .ino = l->ino,
						  .time_ns = r->time_ns },
		 l->path);
	return !space_is_full(r->im->space);
}

/* Read its mappings from /proc; they get this time. */
static void read_maps(struct procmap *pm, struct image *im, uint64_t time_ns)
{
	procfs_code(im->pid, map_line, &(struct reader){ pm, im, time_ns });
}

/* Read its present state from /proc. Kernel threads, half of all processes, have no mappings. */
static struct process *look_up(struct procmap *pm, pid_t pid, uint64_t born_ns)
{
	struct process *p = process_new(pm, pid, born_ns);
	struct procfs_stat st;
	struct image *im;

	if (!p)
		return NULL;
	procfs_stat(pid, &st);
	p->alone = st.nthreads == 1;
	im = image_new(pm, p, born_ns, st.comm, space_new(&pm->nmappings));
	im->ppid = st.ppid;
	if (st.kthread)
		return p;
	if (strchr(st.comm, '\\')) {
		struct buf comm = read_comm(pid);

		set_comm(im, comm.data);
		buf_free(&comm);
	}
	read_maps(pm, im, 0);
	return p;
}

static void scan_one(void *ctx, pid_t pid)
{
	struct procmap *pm = ctx;

	if (!newest(pm, pid))
		look_up(pm, pid, 0);
}

void procmap_scan(struct procmap *pm, uint64_t now_ns)
{
	pm->scan_ns = now_ns;
	procfs_for_each(scan_one, pm);
}

bool procmap_follow(struct procmap *pm, pid_t pid, bool launch)
{
	struct process *p = newest(pm, pid);

	if (!p)
		return false;
	p->image->launcher = launch;
	if (!launch)
		p->image->lineage = strtab_intern(&pm->lineages, "");
	return true;
}

static void on_fork(struct procmap *pm, const struct proc_event *e)
{
	struct process *p = newest(pm, e->pid), *parent;
	struct image *im;

	if (e->pid == e->ppid) { /* a thread */
		if (p)
			p->alone = false;
		return;
	}
	if (p && !p->gone_ns && !p->born_ns && !p->start_time) {
		p->born_ns = e->time_ns; /* the scan saw it first */
		return;
	}
	if (p)
		process_gone(pm, p, e->time_ns); /* its exit event was lost */
	p = process_new(pm, e->pid, e->time_ns);
	if (!p)
		return;
	p->alone = true;
	parent = newest(pm, e->ppid);
	if (parent) {
		im = image_new(pm, p, e->time_ns, parent->image->comm,
			       space_share(parent->image->space));
		if (parent->image->lineage)
			im->lineage = lineage_of_fork(&pm->lineages, parent->image);
	} else {
		im = image_new(pm, p, e->time_ns, "", space_new(&pm->nmappings));
	}
	im->ppid = e->ppid;
}

static void on_exec(struct procmap *pm, const struct proc_event *e, struct process *p)
{
	struct image *old = p->image, *im;

	if (!p->gone_ns)
		end_image(pm, old, e->time_ns);
	p->gone_ns = 0; /* exec by a thread other than the first, which had ended */
	im = image_new(pm, p, e->time_ns, e->name, space_new(&pm->nmappings));
	im->ppid = old->ppid;
	im->executed = true;
	if (old->launcher)
		im->lineage = strtab_intern(&pm->lineages, "");
	else if (old->lineage)
		im->lineage = lineage_of_exec(&pm->lineages, old);
}

/*
 * When a process executes a set-user-id program, the kernel takes its perf events away, and says that it
 * has ended. But then the new program is mapped.
 */
static void revive(struct procmap *pm, struct process *p)
{
	size_t n = 0;

	for (size_t i = 0; i < pm->ended.len; i++)
		if (pm->ended.data[i] != p->image)
			pm->ended.data[n++] = pm->ended.data[i];
	pm->ended.len = n;
	p->image->end_ns = p->gone_ns = 0;
}

static void on_mmap(struct procmap *pm, const struct proc_event *e, struct process *p)
{
	struct mapping m = { .start = e->addr, .len = e->len, .pgoff = e->pgoff,
			     .time_ns = e->time_ns, .dev = e->dev, .ino = e->ino };

	if (p->gone_ns && !p->image->space->maps.len)
		revive(pm, p);
	map_file(pm, p->image, &m, e->name);
}

void procmap_apply(void *ctx, const struct proc_event *e)
{
	struct procmap *pm = ctx;
	struct process *p;

	if (e->kind == PROC_FORK) {
		on_fork(pm, e);
		return;
	}
	p = newest(pm, e->pid);
	if (!p)
		return;
	switch (e->kind) {
	case PROC_EXIT:
		if (e->tid == e->pid)
			process_gone(pm, p, e->time_ns);
		break;
	case PROC_COMM:
		if (e->tid == e->pid)
			set_comm(p->image, e->name);
		break;
	case PROC_EXEC:
		on_exec(pm, e, p);
		break;
	case PROC_MMAP:
		on_mmap(pm, e, p);
		break;
	case PROC_FORK:
		break;
	}
}

/* A new name usually means a new program. An unknown process is looked up when it is needed. */
static void catch_up_one(void *ctx, pid_t pid)
{
	struct procmap *pm = ctx;
	struct process *p = newest(pm, pid);
	struct buf comm;

	if (!p || p->gone_ns)
		return;
	comm = read_comm(pid);
	if (*comm.data && strcmp(comm.data, p->image->comm))
		on_exec(pm, &(struct proc_event){ .kind = PROC_EXEC, .time_ns = pm->scan_ns,
						  .pid = pid, .tid = pid, .name = comm.data }, p);
	read_maps(pm, p->image, pm->scan_ns);
	buf_free(&comm);
}

void procmap_catch_up(struct procmap *pm, uint64_t since_ns)
{
	uint64_t scan_ns = pm->scan_ns;

	pm->scan_ns = since_ns;
	procfs_for_each(catch_up_one, pm);
	pm->scan_ns = scan_ns;
}

void procmap_read(struct procmap *pm, pid_t pid, uint64_t time_ns)
{
	struct process *p = newest(pm, pid);

	if (p && !p->gone_ns)
		read_maps(pm, p->image, time_ns);
}

static struct process *incarnation(struct procmap *pm, pid_t pid, uint64_t start_time)
{
	struct process *found = process_known(pm, pid, start_time);

	if (!found) {
		pm->counts.late++;
		found = look_up(pm, pid, start_time);
	}
	if (found)
		found->start_time = start_time;
	return found;
}

struct image *procmap_image(struct procmap *pm, pid_t pid, uint64_t start_time, uint64_t time_ns)
{
	return image_at(incarnation(pm, pid, start_time), time_ns);
}

/* --- forgetting --- */

static void unlink_process(struct procmap *pm, struct process *p)
{
	struct process *head = newest(pm, p->pid);

	if (head == p) {
		if (p->older)
			*map_put(&pm->by_pid, p->pid, NULL) = (uintptr_t)p->older;
		else
			map_remove(&pm->by_pid, p->pid);
	} else {
		while (head->older != p)
			head = head->older;
		head->older = p->older;
	}
	pm->nprocesses--;
	free(p);
}

static void free_image(struct procmap *pm, struct image *im)
{
	struct process *p = im->process;
	struct image **at = &p->image;

	if (pm->hooks.forget)
		pm->hooks.forget(pm->hooks.ctx, im);
	while (*at != im)
		at = &(*at)->older;
	*at = im->older;
	space_put(im->space);
	free(im->command);
	free(im);
	pm->nimages--;
	if (!p->image)
		unlink_process(pm, p);
}

/*
 * The first thread may end before the others; the process then continues without it. Asking /proc
 * about an ended process takes 25 us on a busy machine, and most processes never had a second
 * thread.
 */
static bool lives_on(const struct procmap *pm, const struct image *im)
{
	const struct process *p = im->process;

	return !p->alone && p->image == im && newest(pm, p->pid) == p &&
	       procfs_nthreads(p->pid) > 1;
}

void procmap_expire(struct procmap *pm, uint64_t before_ns)
{
	size_t n = 0, nagain = 0;

	while (n < pm->ended.len && pm->ended.data[n]->end_ns < before_ns) {
		struct image *im = pm->ended.data[n++];

		if (lives_on(pm, im)) {
			im->end_ns = before_ns;
			pm->ended.data[nagain++] = im;
		} else {
			free_image(pm, im);
		}
	}
	for (size_t i = n; i < pm->ended.len && n != nagain; i++)
		pm->ended.data[nagain + i - n] = pm->ended.data[i];
	pm->ended.len -= n - nagain;
}

void procmap_disown(struct procmap *pm)
{
	map_for_each(s, &pm->by_pid)
		for (struct process *p = (struct process *)(uintptr_t)s->value; p; p = p->older)
			for (struct image *im = p->image; im; im = im->older)
				im->owner = NULL;
}

/* --- files --- */

static void for_each_mapping(struct procmap *pm, void (*fn)(struct procmap *pm, struct mapping *m))
{
	map_for_each(s, &pm->by_pid) {
		for (struct process *p = (struct process *)(uintptr_t)s->value; p; p = p->older) {
			for (struct image *im = p->image; im; im = im->older) {
				vec_for_each(m, &im->space->maps)
					fn(pm, m);
				vec_for_each(o, &im->space->old)
					fn(pm, &o->m);
			}
		}
	}
}

static void see(struct procmap *pm, struct mapping *m)
{
	files_see(&pm->files, m->file);
}

void procmap_trim_files(struct procmap *pm, bool always)
{
	if (!pm->hooks.unmapped_file || (!always && !files_grew(&pm->files)))
		return;
	files_look(&pm->files);
	for_each_mapping(pm, see);
	files_trim(&pm->files, pm->hooks.unmapped_file, pm->hooks.ctx);
}

static void keep_path(struct procmap *pm, struct mapping *m)
{
	m->path = strtab_intern(&pm->paths, m->path);
}

/* Most paths are those of files that were let go. */
static void drop_paths(struct procmap *pm)
{
	struct strtab all = pm->paths;

	pm->paths = (struct strtab){ 0 };
	for_each_mapping(pm, keep_path);
	vec_for_each(n, &pm->files.numbers)
		if (n->path)
			n->path = strtab_intern(&pm->paths, n->path);
	strtab_free(&all);
}

size_t procmap_reuse_files(struct procmap *pm)
{
	size_t nkept = files_reuse(&pm->files, pm->hooks.forget_file, pm->hooks.ctx);

	if (pm->paths.len > FEW_PATHS + 2 * files_in_use(&pm->files))
		drop_paths(pm);
	return nkept;
}

struct procmap *procmap_new(const struct procmap_hooks *hooks)
{
	struct procmap *pm = xcalloc(1, sizeof(*pm));

	pm->hooks = *hooks;
	return pm;
}

void procmap_free(struct procmap *pm)
{
	if (!pm)
		return;
	map_for_each(s, &pm->by_pid) {
		for (struct process *p = (struct process *)(uintptr_t)s->value, *older; p; p = older) {
			for (struct image *im = p->image, *next; im; im = next) {
				next = im->older;
				space_put(im->space);
				free(im->command);
				free(im);
			}
			older = p->older;
			free(p);
		}
	}
	map_free(&pm->by_pid);
	strtab_free(&pm->paths);
	strtab_free(&pm->lineages);
	files_free(&pm->files);
	vec_free(&pm->ended);
	free(pm);
}

const struct files *procmap_files(const struct procmap *pm)
{
	return &pm->files;
}

size_t procmap_nimages(const struct procmap *pm)
{
	return pm->nimages;
}

struct procmap_counts procmap_counts(const struct procmap *pm)
{
	return pm->counts;
}
