/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The beginning of a session: sets up signals, limits, the load, the capture, the experiment. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <time.h>
#include <unistd.h>

#include "analysis/base/buf.h"
#include "analysis/base/diag.h"
#include "analysis/base/program.h"
#include "loaders/family_uprobes.h"
#include "loaders/features.h"
#include "loaders/privilege.h"
#include "user/record/collector_attach.h"
#include "user/record/recording_session_impl.h"
#include "user/record/usage.h"
#include "user/space/opener.h"
#include "user/space/procfs.h"

enum { RECORDER_NICE = -20, RECORDER_SLICE_NS = 100000 };

/* True if the caller had the signal ignored, as nohup does. It then stays ignored. */
static bool ignored(int sig)
{
	struct sigaction act;

	return !sigaction(sig, NULL, &act) && act.sa_handler == SIG_IGN;
}

/* All signals whose default action ends a process, except those of faults. */
static void fill_ending(sigset_t *set)
{
	static const int always[] = { SIGINT, SIGTERM, SIGQUIT };
	static const int unless_ignored[] = { SIGHUP, SIGUSR1, SIGUSR2, SIGALRM, SIGVTALRM, SIGPROF,
					      SIGIO, SIGPWR, SIGSTKFLT, SIGXCPU };

	sigemptyset(set);
	for (size_t i = 0; i < sizeof(always) / sizeof(always[0]); i++)
		sigaddset(set, always[i]);
	for (size_t i = 0; i < sizeof(unless_ignored) / sizeof(unless_ignored[0]); i++) {
		if (!ignored(unless_ignored[i]))
			sigaddset(set, unless_ignored[i]);
	}
	for (int sig = SIGRTMIN; sig <= SIGRTMAX; sig++) {
		if (!ignored(sig))
			sigaddset(set, sig);
	}
}

int recording_session_take_signals(struct recording_session *s)
{
	fill_ending(&s->signals);
	if (s->plan->sample_signal)
		sigaddset(&s->signals, s->plan->sample_signal);
	if (s->plan->pause_signal)
		sigaddset(&s->signals, s->plan->pause_signal);
	if (s->plan->dump_signal)
		sigaddset(&s->signals, s->plan->dump_signal);
	sigprocmask(SIG_BLOCK, &s->signals, &s->old_mask);
	s->sigfd = signalfd(-1, &s->signals, SFD_CLOEXEC | SFD_NONBLOCK);
	return s->sigfd < 0 ? diag_errno(s->d, errno, "cannot take over the signals that end a recording") : 0;
}

/*
 * Raise the limit of open files to the hard limit. Needed are BPF programs and maps, two events
 * for each CPU, files of some sub-experiments, and binaries kept open for archives. The load keeps
 * its own limit.
 */
static int raise_fd_limit(struct diag *d)
{
	struct rlimit l;

	if (!getrlimit(RLIMIT_NOFILE, &l) && l.rlim_cur < l.rlim_max) {
		l.rlim_cur = l.rlim_max;
		setrlimit(RLIMIT_NOFILE, &l);
	}
	return program_files(96 + 4 * (size_t)get_nprocs_conf(), d);
}

/* The first version of struct sched_attr, which libcs do not declare. */
struct sched_attr_0 {
	uint32_t size, policy;
	uint64_t flags;
	int32_t nice;
	uint32_t priority;
	uint64_t runtime_ns, deadline_ns, period_ns;
};

/*
 * Raise the recorder's priority where that is allowed. On an overloaded machine the rings fill up
 * while the recorder waits for a CPU, and its preparations took seconds. It uses little CPU time.
 * The load was forked before and keeps the caller's priority.
 *
 * Many kernels share the CPUs between sessions first, so that the nice value counts only among
 * the programs of this session. From Linux 6.12 on a short slice lets a thread run soon after it
 * woke, without a larger share of the time. Older kernels ignore it.
 */
static void raise_priority(void)
{
	const struct sched_attr_0 attr = { .size = sizeof(attr), .nice = RECORDER_NICE,
					   .runtime_ns = RECORDER_SLICE_NS };
	uint64_t before = privilege_take(PRIVILEGE_CAPTURE);

	if (syscall(SYS_sched_setattr, 0, &attr, 0))
		setpriority(PRIO_PROCESS, 0, RECORDER_NICE);
	privilege_return(before);
}

/* The program that is recorded. */
static pid_t program_pid(const struct recording_session *s)
{
	return s->plan->load ? s->load.pid : s->plan->targets.data[0].pid;
}

static int open_perf(struct recording_session *s, const struct capture_plan *cp)
{
	const struct task_perf_plan plan = {
		.pid = program_pid(s), .interval_ns = cp->interval_ns, .counters = cp->counters,
		.ncounters = cp->ncounters, .descend = s->plan->follow != FOLLOW_OFF,
	};

	return task_perf_open(&plan, s->d, &s->perf);
}

/* Breakpoints in a library that others use are set in the recorded process only: they cost a microsecond a call. */
static struct capture_heap heap_capture(const struct recording_session *s, pid_t **pids)
{
	const struct heap_sites *h = &s->plan->heap_sites;
	struct capture_heap ret = {
		.sites = h->sites.data, .nsites = h->sites.len, .ends = h->ends.data, .nends = h->ends.len,
		.inherit = h->inherit, .mean = s->plan->heap == HEAP_SAMPLED ? HEAP_SAMPLE_BYTES : 0,
	};

	if (!h->sites.len || !h->shared)
		return ret;
	ret.pids = *pids = xcalloc(s->plan->targets.len + 1, sizeof(**pids));
	ret.starts = s->plan->load;
	if (s->plan->load)
		(*pids)[ret.npids++] = s->load.pid;
	else
		vec_for_each(t, &s->plan->targets)
			(*pids)[ret.npids++] = t->pid;
	return ret;
}

static int open_capture(struct recording_session *s)
{
	struct capture_counter counters[ER_MAX_COUNTERS];
	__cleanup(freep) struct capture_probe *probes = probes_capture(&s->plan->probes);
	const struct capture_family family = { .pidfd = s->load.pid ? s->load.pidfd : -1,
					       .copy = s->plan->load ? s->load.pid : 0,
					       .descend = s->plan->follow != FOLLOW_OFF };
	struct capture_plan cp = s->plan->capture;
	__cleanup(freep) pid_t *pids = NULL;
	const struct capture_heap heap = heap_capture(s, &pids);
	uint64_t before;
	int err;

	if (!plan_profiles(s->plan))
		return 0;
	if (span_set_open(s->plan, s->d, &s->spans) < 0)
		return -1;
	cp.spans = span_set_capture(s->spans);
	cp.verbose = s->plan->verbose;
	vec_for_each(c, &s->plan->counters)
		counters[cp.ncounters++] = c->event;
	cp.counters = counters;
	cp.probes = probes;
	cp.heap = heap.nsites ? &heap : NULL;
	cp.nlibraries = recording_session_libraries(s, cp.libraries);
	cp.self = getpid();
	cp.helpers[0] = opener_pid();
	cp.helpers[1] = s->worker ? unwind_worker_pid(s->worker) : 0;
	cp.helpers[2] = s->tables ? table_source_pid(s->tables) : 0;
	cp.targets = s->plan->targets.data;
	cp.ntargets = s->plan->targets.len;
	cp.family = s->plan->program ? &family : NULL;
	cp.wait_interval_ns = control_distance(s->plan);
	cp.trace_ns = s->control.trace_ns;
	cp.states |= cp.only_locks;
	cp.waker_stacks = cp.states;
	cp.raw_stacks = s->worker;
	cp.cuts = plan_rolls(s->plan);
	cp.no_bpf = plan_without_bpf(s->plan);
	before = privilege_take(PRIVILEGE_CAPTURE);
	err = capture_open(&cp, s->d, &s->capture);
	if (err >= 0 && !cp.no_bpf)
		s->sideband = sideband_open(s->d);
	privilege_return(before);
	if (err >= 0 && (span_set_refused(s->spans, s->d) < 0 || probes_refused(&s->plan->probes, s->d) < 0))
		return -1;
	if (err >= 0 && s->plan->perf)
		err = open_perf(s, &cp);
	return err >= 0 && (s->sideband || cp.no_bpf) ? 0 : -1;
}

static int open_recording(struct recording_session *s)
{
	s->first_ns = s->start_ns = now_ns();
	s->host.header.start_ns = s->start_ns;
	s->host.header.start_epoch = time(NULL);
	if (recording_session_create(s) < 0)
		return -1;
	s->binaries = binaries_new(s->plan->archiving != ARCHIVE_NOTHING,
				   s->plan->archiving == ARCHIVE_WHOLE ? ARCHIVE_COPY :
									 ARCHIVE_SYMBOLS,
				   s->plan->archive_bytes ? s->plan->archive_bytes : UINT64_MAX,
				   expwriter_dirfd(output_writer(recording_founder(s->recording))));
	if (plan_rolls(s->plan))
		recording_session_roll_begin(s);
	return expname_join_group(s->name, s->d);
}

/* From here on the server tells of processes, instead of the side band. */
static void open_clock(struct recording_session *s)
{
	struct heap_processes tell;

	s->clock = clock_events_new(&(struct clock_parts){
		.drain = s->drain, .capture = s->capture, .procmap = s->procmap, .load = s->load.pid,
		.start_ns = s->start_ns, .descend = s->plan->follow != FOLLOW_OFF });
	tell = clock_events_hooks(s->clock);
	heap_server_tell(s->heap, &tell);
}

static void open_tasks(struct recording_session *s)
{
	struct task_parts parts = {
		.drain = s->drain, .capture = s->capture, .procmap = s->procmap, .perf = s->perf,
		.drops = &s->drops, .pid = program_pid(s), .interval_ns = s->plan->capture.interval_ns,
		.counters = &s->plan->counters, .descend = s->plan->follow != FOLLOW_OFF,
	};

	s->tasks = task_events_new(&parts);
}

static void open_drain(struct recording_session *s)
{
	struct procmap_hooks hooks = drain_hooks;
	struct drain_parts parts = {
		.recording = s->recording,
		.binaries = s->binaries,
		.follow = &s->follow,
		.drops = &s->drops,
		.recorder = getpid(),
		.each_thread = s->plan->each_thread,
		.targets = s->plan->targets.len || s->plan->program,
		.program = s->plan->program,
		.cuts = plan_rolls(s->plan),
		.sampled = s->plan->heap == HEAP_SAMPLED,
		.sync = plan_traces_locks(s->plan),
	};

	s->recorder_xml = (struct recorder_xml){
		.plan = s->plan, .drops = &s->drops, .control = &s->control, .ksyms = recording_ksyms(s->recording),
		.first_ns = s->start_ns, .start_ns = s->start_ns, .start_asleep_ns = recorder_xml_asleep_ns() };
	if (!s->capture)
		return;
	parts.ncpus = capture_ncpus(s->capture);
	parts.unwind = capture_unwind(s->capture);
	parts.worker = s->worker;
	parts.tables = s->tables;
	s->drain = drain_new(&parts);
	hooks.ctx = s->drain;
	if (s->plan->heap_sites.inherit) {
		hooks.family_ctx = s->unseen = heap_unseen_new(&s->plan->heap_sites);
		hooks.family = heap_unseen_mapped;
	}
	s->procmap = procmap_new(&hooks);
	drain_set_procmap(s->drain, s->procmap);
	recording_set_relief(s->recording, recording_session_meanwhile, s);
	procmap_scan(s->procmap, now_ns());
	if (s->plan->program && s->load.pid)
		procmap_follow(s->procmap, s->load.pid, true);
	else if (s->plan->program)
		procmap_follow(s->procmap, s->plan->targets.data[0].pid, false);
	if (s->plan->timers)
		open_clock(s);
	if (s->perf)
		open_tasks(s);
	s->recorder_xml.capture = s->control.capture = s->capture;
	s->recorder_xml.drain = s->drain;
	s->recorder_xml.perf = s->perf;
}

/* The capture starts here. */
int recording_session_capture(struct recording_session *s)
{
	uint64_t before = privilege_take(PRIVILEGE_CAPTURE);
	int err = s->capture ? capture_start(s->capture, &s->recorder_xml.began_ns, s->d) : 0;

	privilege_return(before);
	if (err < 0)
		return -1;
	s->capturing = s->capture;
	if (s->clock)
		clock_events_pause(s->clock, false);
	if (s->tasks)
		task_events_pause(s->tasks, false);
	privilege_drop(s->d);
	return 0;
}

/* Both the user who records and a reader of the experiment learn why names are missing. */
static void tell_lack(void *ctx, const struct feature *f)
{
	struct recording_session *s = ctx;
	struct buf b = { 0 };

	buf_printf(&b, "%s: not available: %s: %s: %s", f->name, f->why, f->cost, f->remedy);
	diag_warn(s->d, "%s", b.data);
	expwriter_message(output_writer(recording_founder(s->recording)), "cwarn", EXP_MSG_OURS, s->start_ns,
			  b.data);
	buf_free(&b);
}

/* The same for a sentence. */
static void tell(struct recording_session *s, const char *text)
{
	diag_warn(s->d, "%s", text);
	expwriter_message(output_writer(recording_founder(s->recording)), "cwarn", EXP_MSG_OURS, s->start_ns,
			  text);
}

/* What a process that ran before cannot be asked, as it has not loaded our libraries. */
static void tell_attached(struct recording_session *s)
{
	const struct plan *plan = s->plan;

	if (plan->load || !plan->targets.len)
		return;
	if (plan->program && plan->capture.trace_ns == TRACE_ALL && !plan->locks)
		tell(s, "-s all: only waits are recorded, and not how often locks are taken without a wait: for that "
			"let collect start the program, or start it with " LOCKS_LIBRARY " in LD_PRELOAD, or count the "
			"calls of a function by a breakpoint (--probe libc:pthread_mutex_lock), which takes 1 to 25 "
			"microseconds a call");
	if (plan->heap && !plan->heap_sites.inherit && (!plan->program || plan->follow != FOLLOW_OFF))
		tell(s, "-H: the heap of this process is traced, and not that of processes that it creates: for that "
			"let the recorder start the program");
}

/* Breakpoints that descendants inherit: of a program that runs already, or that is set-user-id. */
static void tell_family(struct recording_session *s)
{
	if (s->plan->heap && s->plan->heap_sites.inherit && !family_uprobes_hold())
		tell(s, "-H: the heap of descendants may be incomplete, and nothing shows where: before Linux 6.12 a "
			"process can lose its breakpoints when a relative ends; a kernel from 6.12 on keeps them");
}

static void tell_all(struct recording_session *s)
{
	if (s->clock || s->tasks)
		tell(s, s->plan->unprivileged);
	else if (s->capture)
		features_naming(tell_lack, s);
	tell_attached(s);
	tell_family(s);
}

static void watch(struct recording_session *s, int fd)
{
	vec_push(&s->fds, (struct pollfd){ .fd = fd, .events = POLLIN });
}

/* In the order of FD_SIGNAL and FD_LOAD. */
static void watch_all(struct recording_session *s)
{
	size_t n = 0;
	const int *fds = s->sideband ? sideband_fds(s->sideband, &n) :
			 s->perf ? task_perf_fds(s->perf, &n) : NULL;

	watch(s, s->sigfd);
	if (s->load.pidfd >= 0)
		watch(s, s->load.pidfd);
	if (s->capture)
		watch(s, capture_fd(s->capture));
	s->perf_at = s->fds.len;
	s->nperf = s->perf ? n : 0;
	for (size_t i = 0; i < n; i++)
		watch(s, fds[i]);
	if (s->heap)
		watch(s, heap_server_fd(s->heap));
	if (s->locks)
		watch(s, heap_server_fd(s->locks));
	s->tables_at = s->fds.len;
	for (int i = 0; i < TABLE_SOURCE_WORKERS; i++)
		watch(s, -1);
	s->ctl_at = s->fds.len;
	watch(s, s->ctl ? ctl_server_fd(s->ctl) : -1);
	s->collector_at = s->fds.len;
	watch(s, s->collector ? collector_server_fd(s->collector) : -1);
	s->pressure_at = s->fds.len;
	for (int i = 0; i < PRESSURE_COUNT; i++) {
		watch(s, recording_session_flight_fd(s, i));
		s->fds.data[s->fds.len - 1].events = POLLPRI;
	}
}

/* The directory of tables, and the worker that fills it. Without them all tables are built. */
static struct table_source *open_tables(struct recording_session *s)
{
	const char *why = "--table-cache off";
	struct diag dropped = { 0 };
	struct unwind_worker *trusted = NULL;
	struct table_cache *cache = NULL;

	if (s->worker && s->plan->table_cache)
		cache = table_cache_open(s->plan->table_cache, TABLE_CACHE_BYTES, &why);
	if (cache)
		trusted = unwind_worker_start(&dropped);
	else if (s->plan->table_cache && strcmp(s->plan->table_cache, TABLE_CACHE_DIR))
		diag_warn(s->d, "--table-cache %s: %s: unwind tables are not kept; name a directory that "
			  "only root may write, or off", s->plan->table_cache, why);
	else if (s->plan->verbose)
		diag_note(s->d, "unwind tables are not kept: %s", why);
	diag_free(&dropped);
	return table_source_new(s->worker, cache, trusted);
}

/*
 * Without the worker, stacks are walked by frame pointers. Start it now, so that it inherits no
 * descriptor that is opened later.
 */
static void start_workers(struct recording_session *s)
{
	struct diag step = { 0 };

	if (!plan_profiles(s->plan) || s->plan->timers)
		return;
	s->worker = unwind_worker_start(&step);
	s->tables = open_tables(s);
	for (size_t i = 0; i < step.nmsgs; i++)
		diag_warn(s->d, "%s: user stacks follow frame pointers", step.msgs[i].text);
	diag_free(&step);
}

void recording_session_set_path(struct recording_session *s)
{
	__cleanup(freep) char *path = s->flight ? recording_session_flight_path(s) :
						  xstrdup(s->name->path);

	free(s->path);
	s->path = *path == '/' ? xstrdup(path) : xasprintf("%s/%s", s->host.header.cwd, path);
}

/* A recording that cannot be controlled is still a recording. */
static void open_control(struct recording_session *s)
{
	recording_session_set_path(s);
	if (!s->plan->program)
		s->ctl = ctl_server_open(s->plan->verbose ? s->d : NULL);
}

/* The header of the founder: of this program, or of the program that is recorded. */
static void describe(struct recording_session *s)
{
	const struct plan *plan = s->plan;
	struct exp_header *h = &s->host.header;

	host_init(&s->host, plan_recorder(plan), plan->program && plan->load ? plan->load : plan->argv,
		  plan->sample_s);
	if (!plan->program)
		return;
	h->pid = plan->load ? s->load.pid : plan->targets.data[0].pid;
	h->ppid = getpid();
	if (plan->load)
		return;
	buf_clear(&s->host.command);
	procfs_cmdline(h->pid, &s->host.command);
	h->command = s->host.command.data;
	h->ppid = h->pgrp = h->sid = 0;
	h->cwd = "";
}

/* The program is set-user-id and has been executed: the kernel would have removed breakpoints by that. */
static void aim_at_load(void *ctx)
{
	struct recording_session *s = ctx;
	uint64_t before = privilege_take(PRIVILEGE_CAPTURE);

	capture_heap_aim(s->capture, s->load.pid, s->d);
	privilege_return(before);
}

int recording_session_begin(struct recording_session *s)
{
	struct load_start start = {
		.recorder = plan_recorder(s->plan),
		.argv = s->plan->load, .mask = &s->old_mask, .fds = s->plan->load_fds,
		.how = (s->plan->leave_stopped ? LOAD_STOP : 0) | (s->plan->jit ? LOAD_JIT : 0),
		.trapped = s->plan->heap_sites.inherit ? aim_at_load : NULL, .ctx = s,
	};
	struct expwriter *w;

	if (recording_session_open_libraries(s) < 0)
		return -1;
	start.heap = s->heap;
	start.locks = s->locks;
	if (s->plan->load || s->plan->targets.len)
		start.collector = s->collector = collector_server_open(s->d);
	if (s->plan->load && load_prepare(&s->load, &start, s->d) < 0)
		return -1;
	recording_session_aim_libraries(s);
	if (s->plan->program && !s->plan->load &&
	    load_attach(&s->load, s->plan->targets.data[0].pid, s->d) < 0)
		return -1;
	/* Ignored after the fork, so the load keeps the caller's action. A write fails instead. */
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	if (s->plan->status && !(s->statusfile = statusfile_open(s->plan->status, s->d)))
		return -1;
	if (raise_fd_limit(s->d) < 0)
		return -1;
	raise_priority();
	if (plan_profiles(s->plan) && opener_start(s->d) < 0)
		return -1;
	start_workers(s); /* inherits the priority: stacks wait for its tables */
	describe(s);
	if (recording_session_flight_open(s) < 0 || recording_session_flight_watch(s) < 0 ||
	    open_capture(s) < 0 || open_recording(s) < 0)
		return -1;
	open_drain(s);
	tell_all(s);
	collector_attach(s->collector, s->plan, s->d); /* before privileges are given up */
	lock_attach(s->locks, s->plan, s->d);
	w = output_writer(recording_founder(s->recording));
	usage_now(&s->usage_base);
	recording_session_sample(s, "start");
	if (s->plan->begin_ns || s->plan->begin_paused) {
		expwriter_event(w, "pause", s->start_ns, NULL);
		pauses_begin(&s->recorder_xml.pauses, s->start_ns);
	} else if (recording_session_capture(s) < 0) {
		return -1;
	}
	open_control(s);
	/*
	 * The duration (-t) counts from here. Reading /proc and attaching may have taken a while.
	 */
	schedule_init(&s->due, s->plan, now_ns());
	recording_session_recorder_xml(s);
	watch_all(s);
	return recording_flush(s->recording) < 0 ? diag_error(s->d, "experiment '%s': cannot be written",
						    s->name->path) : 0;
}
