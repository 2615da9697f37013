/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A process with generated code that is recorded, for tests of the names of such code. */
#ifndef RUNTIME_FIXTURE_H
#define RUNTIME_FIXTURE_H

#include "tests/unit/drain_fixture.h"

#include <poll.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "analysis/experiment/exp_map.h"
#include "user/record/jit_names.h"
#include "user/unwind/worker.h"

#define CODE 0x7f0000000000ULL /* where the process has generated code */
#define SECOND 1000000000ULL
/* A look that waited long for a CPU delays the next one, but never as long as this. */
#define LATER (5 * SECOND)

enum { CODE_BYTES = 1 << 20, WAIT_MS = 20000 };

/* A process with generated code, which is recorded. */
struct runtime {
	struct fixture f;
	struct unwind_worker *worker;
	struct jit_names *j;
	struct image *im;
	struct output *p;
	pid_t pid;
	char path[64]; /* of its map */
	struct experiment *e, *sub; /* after read_back */
};

static inline void happens(struct runtime *r, enum proc_event_kind kind, uint64_t t, const char *name)
{
	procmap_apply(r->f.procmap, &(struct proc_event){
		.kind = kind, .time_ns = t, .pid = r->pid, .tid = r->pid, .ppid = 1, .name = name });
}

static inline void maps(struct runtime *r, const char *name, uint64_t addr)
{
	procmap_apply(r->f.procmap, &(struct proc_event){
		.kind = PROC_MMAP, .time_ns = 2200, .pid = r->pid, .tid = r->pid, .name = name,
		.addr = addr, .len = CODE_BYTES, .dev = 1, .ino = *name == '/' });
}

static inline void start(struct runtime *r, const char *program)
{
	*r = (struct runtime){ .pid = fork() };
	if (!r->pid) {
		pause();
		_exit(0);
	}
	snprintf(r->path, sizeof(r->path), "/tmp/perf-%d.map", r->pid);
	r->worker = unwind_worker_start(&r->f.diag);
	assert_non_null(r->worker);
	begin(&r->f, FOLLOW_SHARED, NULL);
	r->j = jit_names_new(r->f.recording, r->worker, NULL, &r->f.drops);
	happens(r, PROC_FORK, 2000, NULL);
	happens(r, PROC_EXEC, 2100, "prog");
	maps(r, program, 0x400000);
	maps(r, "//anon", CODE);
	r->im = procmap_image(r->f.procmap, r->pid, 1990, 3000);
	r->p = recording_add(r->f.recording, r->im, r->f.binaries, "_prog", "prog");
	assert_non_null(r->p);
}

static inline void put(struct runtime *r, const char *mode, const char *text)
{
	FILE *f = fopen(r->path, mode);

	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static inline void mention(struct runtime *r, uint64_t offset)
{
	jit_names_mention(r->j, r->p, r->im, CODE + offset);
}

/* Look at the map at this time, and wait until it is read. */
static inline void look(struct runtime *r, uint64_t now_ns)
{
	struct unwind_result result;

	jit_names_update(r->j, now_ns, false);
	while (jit_names_reading(r->j)) {
		struct pollfd p = { .fd = unwind_worker_fd(r->worker), .events = POLLIN };

		assert_false(unwind_worker_next(r->worker, &result));
		jit_names_update(r->j, now_ns, false);
		if (jit_names_reading(r->j) && poll(&p, 1, WAIT_MS) < 1)
			fail_msg("no names");
	}
}

static inline void read_back(struct runtime *r)
{
	jit_names_complete(r->j);
	jit_names_free(r->j);
	r->e = finish(&r->f);
	r->sub = open_sub(r->e, "_prog.1.er");
	unwind_worker_stop(r->worker);
	unlink(r->path);
	kill(r->pid, SIGKILL);
	waitpid(r->pid, NULL, 0);
}

static inline void end(struct runtime *r)
{
	experiment_close(r->sub);
	experiment_close(r->e);
	diag_free(&r->f.diag);
}

/* The function's record; NULL: none. There is at most one. */
static inline const struct exp_map *written(const struct runtime *r, const char *name)
{
	const struct exp_map *found = NULL;

	vec_for_each(m, &r->sub->maps) {
		if (m->what != EXP_MAP_FUNCTION || strcmp(m->name, name))
			continue;
		assert_null(found);
		found = m;
	}
	return found;
}

/* The same, which must be there. */
static inline const struct exp_map *the(const struct runtime *r, const char *name)
{
	const struct exp_map *found = written(r, name);

	if (!found)
		fail_msg("no function '%s' is written", name);
	return found;
}

#endif
