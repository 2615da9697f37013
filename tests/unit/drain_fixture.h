/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A drain with a recording of its own. Tests give it records and read the result back with the
 * reader.
 */
#ifndef DRAIN_FIXTURE_H
#define DRAIN_FIXTURE_H

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "analysis/base/buf.h"
#include "analysis/base/diag.h"
#include "analysis/experiment/exp_map.h"
#include "analysis/experiment/exp_packets.h"
#include "analysis/experiment/exp_recorder.h"
#include "analysis/experiment/exp_stacks.h"
#include "analysis/experiment/exp_threads.h"
#include "analysis/experiment/experiment.h"
#include "user/record/drain.h"

/* No process has these PIDs: PID_MAX_LIMIT is 4,194,304. */
enum { PID = 5000000, TID = 5000001, KTHREAD = 5000002, NCPUS = 4 };

static char dir[] = "/tmp/test_drain.XXXXXX";
static char kallsyms[64];
static const char symbols[] = "ffffffff81000000 T _text\nffffffff81001000 T work\n"
			      "ffffffff81002000 t anon_pipe_read\nffffffff81003000 t vfs_read\n"
			      "ffffffff81004000 t asm_sysvec_tick\nffffffff81005000 t after\n";

/* The counters of the next fixture, as with -h; NULL: none. */
static const char *fixture_counters;

/* The process that the next fixtures treat as the recorder; 0: none. */
static pid_t fixture_recorder;

/* The number of processes that get an experiment of their own in the next fixture. */
static size_t fixture_max_subs = 4096;

/* --each-thread in the next fixture. */
static bool fixture_each_thread;
static bool fixture_cuts; /* the recording has segments */

struct fixture {
	int dirfd;
	struct plan plan;
	struct drops drops;
	struct diag diag;
	struct follow follow;
	struct recording *recording;
	struct binaries *binaries;
	struct procmap *procmap;
	struct drain *drain;
	uint32_t seq;
};

static void tell(struct fixture *f, enum proc_event_kind kind, uint64_t t, const char *name)
{
	procmap_apply(f->procmap, &(struct proc_event){ .kind = kind, .time_ns = t, .pid = PID,
							.tid = PID, .ppid = 1, .name = name });
}

static void remove_experiment(void)
{
	char command[96];

	snprintf(command, sizeof(command), "rm -rf %s/t.er", dir);
	assert_int_equal(system(command), 0);
}

static void begin_targets(struct fixture *f, enum follow_mode follow, const char *regexp, bool targets)
{
	const struct exp_header h = { .collector = "test", .hostname = "h", .arch = "x86_64",
				      .os = "Linux 6", .pagesize = 4096, .cwd = "/",
				      .command = "er_kernel", .wordsize = 64, .start_ns = 1000 };
	struct drain_parts parts;
	struct procmap_hooks hooks = drain_hooks;

	*f = (struct fixture){ .plan = { .capture = { .interval_ns = 1000000, .states = true },
					 .follow = follow, .follow_regexp = regexp, .kallsyms = kallsyms,
					 .max_subs = fixture_max_subs } };
	if (fixture_counters)
		assert_int_equal(counters_parse(fixture_counters, dir, &f->diag, &f->plan.counters), 0);
	remove_experiment();
	f->dirfd = open(dir, O_RDONLY | O_DIRECTORY);
	assert_int_equal(recording_open(f->dirfd, "t.er", &h, &f->plan, &f->drops, &f->diag, &f->recording), 0);
	f->binaries = binaries_new(false, ARCHIVE_SYMBOLS, UINT64_MAX,
				   expwriter_dirfd(output_writer(recording_founder(f->recording))));
	follow_init(&f->follow, &f->plan);
	parts = (struct drain_parts){ .recording = f->recording, .binaries = f->binaries,
				      .follow = &f->follow, .drops = &f->drops, .ncpus = NCPUS,
				      .recorder = fixture_recorder, .targets = targets,
				      .each_thread = fixture_each_thread, .cuts = fixture_cuts };
	f->drain = drain_new(&parts);
	hooks.ctx = f->drain;
	f->procmap = procmap_new(&hooks);
	drain_set_procmap(f->drain, f->procmap);
	tell(f, PROC_FORK, 2000, NULL);
	tell(f, PROC_EXEC, 2100, "prog");
}

static void begin(struct fixture *f, enum follow_mode follow, const char *regexp)
{
	begin_targets(f, follow, regexp, false);
}

static struct experiment *finish(struct fixture *f)
{
	char path[64];
	struct experiment *e;

	drain_process(f->drain, true);
	assert_int_equal(recording_finish(f->recording, 9000000), 0);
	assert_int_equal(recording_close(f->recording), 0);
	procmap_free(f->procmap);
	drain_free(f->drain);
	binaries_free(f->binaries);
	follow_fini(&f->follow);
	counters_free(&f->plan.counters);
	close(f->dirfd);
	snprintf(path, sizeof(path), "%s/t.er", dir);
	e = experiment_open(path, &f->diag);
	assert_non_null(e);
	return e;
}

/* A stack whose user walk ended this way. */
static inline void give_ended(struct fixture *f, uint64_t id, uint16_t nkernel, uint16_t nuser,
			      uint32_t flags, enum er_end end)
{
	struct {
		struct er_stack s;
		uint64_t pcs[8];
	} r = { .s = { .h = { .kind = ER_KIND_STACK, .time_ns = 3000 }, .id = id, .tgid = PID,
		       .start_time = 1990, .nkernel = nkernel, .nuser = nuser, .flags = flags,
		       .end = end } };

	for (int i = 0; i < nkernel; i++)
		r.pcs[i] = 0xffffffff81001010 + 0x100 * i;
	for (int i = 0; i < nuser; i++)
		r.pcs[nkernel + i] = 0x401010 + 0x100 * i;
	drain_take(f->drain, 0, &r, sizeof(r.s) + 8 * (nkernel + nuser));
}

static inline void give_stack(struct fixture *f, uint64_t id, uint16_t nkernel, uint16_t nuser,
			      uint32_t flags)
{
	give_ended(f, id, nkernel, nuser, flags, ER_END_NOT);
}

static inline struct experiment *open_sub(struct experiment *e, const char *name)
{
	struct experiment *sub = experiment_open_sub(e, name);

	assert_non_null(sub);
	return sub;
}

static int make_dir(void **state)
{
	FILE *f;

	if (!mkdtemp(dir))
		return -1;
	snprintf(kallsyms, sizeof(kallsyms), "%s/kallsyms", dir);
	f = fopen(kallsyms, "w");
	if (!f)
		return -1;
	fputs(symbols, f);
	return fclose(f);
}

static int remove_dir(void **state)
{
	char command[64];

	snprintf(command, sizeof(command), "rm -rf %s", dir);
	return system(command);
}

#endif
