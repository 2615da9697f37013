/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "kernel_er/session.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#include "analysis/base/diag.h"
#include "kernel_er/account.h"
#include "kernel_er/book.h"
#include "kernel_er/drain.h"
#include "kernel_er/follow.h"
#include "kernel_er/host.h"
#include "kernel_er/live.h"
#include "kernel_er/load.h"
#include "kernel_er/names.h"
#include "kernel_er/preflight.h"
#include "kernel_er/privilege.h"
#include "kernel_er/schedule.h"
#include "kernel_er/steer.h"
#include "kernel_er/usage.h"
#include "loaders/capture.h"
#include "user/binaries.h"
#include "user/procmap.h"
#include "user/sideband.h"

#define KEEP_NS 500000000ULL /* how long an ended process may still get records */

struct session {
	const struct plan *plan;
	struct diag *d;
	struct expname name;
	struct host host;
	struct load load;
	struct drops drops;
	struct follow follow;
	struct capture *capture;
	struct sideband *sideband;
	struct procmap *procmap;
	struct binaries *binaries;
	struct book *book;
	struct drain *drain;
	struct account account;
	struct exp_usage usage_base;
	struct live live;
	struct schedule due;
	struct steer steer;
	uint64_t start_ns;
	sigset_t signals, old_mask;
	int sigfd;
	bool capturing, over, interrupted, failed;
	VEC(struct pollfd) fds;
};

/* --- beginning --- */

static void take_signals(struct session *s)
{
	static const int ending[] = { SIGINT, SIGTERM, SIGQUIT };
	struct sigaction hup;

	sigemptyset(&s->signals);
	for (size_t i = 0; i < sizeof(ending) / sizeof(ending[0]); i++)
		sigaddset(&s->signals, ending[i]);
	/* Under nohup it is ignored, and stays so. */
	if (!sigaction(SIGHUP, NULL, &hup) && hup.sa_handler != SIG_IGN)
		sigaddset(&s->signals, SIGHUP);
	sigprocmask(SIG_BLOCK, &s->signals, &s->old_mask);
	s->sigfd = signalfd(-1, &s->signals, SFD_CLOEXEC | SFD_NONBLOCK);
}

/* Archives keep binaries open: take what the hard limit allows. The load has its own. */
static void raise_fd_limit(void)
{
	struct rlimit l;

	if (!getrlimit(RLIMIT_NOFILE, &l) && l.rlim_cur < l.rlim_max) {
		l.rlim_cur = l.rlim_max;
		setrlimit(RLIMIT_NOFILE, &l);
	}
}

/*
 * On a machine with more to do than it has CPUs, rings fill up while the recorder
 * waits for its turn, and what it does before it records took seconds. It uses
 * little: let it go first where that is allowed. The load was forked before, and
 * keeps the caller's priority.
 */
static void raise_priority(void)
{
	setpriority(PRIO_PROCESS, 0, -20);
}

static int open_capture(struct session *s)
{
	struct capture_plan cp = {
		.interval_ns = s->plan->interval_ns,
		.idle = s->plan->idle,
		.exclude_self = s->plan->no_self,
		.self = getpid(),
		.targets = s->plan->targets.data,
		.ntargets = s->plan->targets.len,
		.states = s->plan->states,
		.wait_interval_ns = steer_distance(s->plan),
		.trace_ns = s->steer.trace_ns,
		.split = s->plan->exact_user,
		.waker_stacks = s->plan->states,
		.way = s->plan->way,
	};

	if (!s->plan->interval_ns)
		return 0;
	if (capture_open(&cp, s->d, &s->capture) < 0)
		return -1;
	s->sideband = sideband_open(s->d);
	return s->sideband ? 0 : -1;
}

static int open_book(struct session *s)
{
	s->start_ns = now_ns();
	s->host.header.start_ns = s->start_ns;
	s->host.header.start_epoch = time(NULL);
	if (book_open(s->name.dirfd, s->name.name, &s->host.header, s->plan, &s->drops, s->d,
		      &s->book) < 0)
		return -1;
	s->binaries = binaries_new(s->plan->archiving != ARCHIVE_NOTHING,
				   s->plan->archiving == ARCHIVE_WHOLE ? ARCHIVE_COPY :
									 ARCHIVE_SYMBOLS,
				   expwriter_dirfd(page_writer(book_founder(s->book))));
	return expname_join_group(&s->name, s->d);
}

/* While the book is busy: to memory, for the next pump. */
static void empty_rings(void *ctx)
{
	struct session *s = ctx;

	if (s->capturing && !drain_is_behind(s->drain))
		capture_drain(s->capture, 0, drain_take, s->drain);
}

static void open_drain(struct session *s)
{
	struct procmap_hooks hooks = drain_hooks;
	struct drain_parts parts = {
		.book = s->book,
		.binaries = s->binaries,
		.follow = &s->follow,
		.drops = &s->drops,
		.targets = s->plan->targets.len,
	};

	s->account = (struct account){ .plan = s->plan, .drops = &s->drops, .steer = &s->steer,
				       .start_ns = s->start_ns };
	if (!s->capture)
		return;
	parts.ncpus = capture_ncpus(s->capture);
	s->drain = drain_new(&parts);
	hooks.ctx = s->drain;
	s->procmap = procmap_new(&hooks);
	drain_set_procmap(s->drain, s->procmap);
	book_set_relief(s->book, empty_rings, s);
	procmap_scan(s->procmap, now_ns());
	s->account.capture = s->steer.capture = s->capture;
	s->account.drain = s->drain;
}

/* From here on time counts. */
static int begin_capture(struct session *s)
{
	uint64_t t;

	if (s->capture && capture_start(s->capture, &t, s->d) < 0)
		return -1;
	s->capturing = s->capture;
	privilege_drop(s->d);
	return 0;
}

static void take_sample(struct session *s, const char *label)
{
	struct exp_usage u;

	usage_now(&u);
	usage_since(&u, &s->usage_base);
	if (s->drain)
		drain_usage(s->drain, &u);
	expwriter_sample(page_writer(book_founder(s->book)), &u, label);
}

static void write_account(struct session *s)
{
	struct buf text = { 0 };

	if (s->sideband)
		s->drops.n[DROP_SIDEBAND] = sideband_lost(s->sideband);
	if (s->procmap) {
		struct procmap_counts c = procmap_counts(s->procmap);

		s->drops.n[DROP_PROCESS] = c.processes + c.mappings;
		s->drops.n[DROP_LATE] = c.late;
	}
	s->drops.n[DROP_ARCHIVE] = binaries_counts(s->binaries).unreadable;
	account_write(&s->account, &text);
	/* A disk that is full says so at the next flush. */
	expwriter_replace(page_writer(book_founder(s->book)), "recorder.xml", text.data);
	buf_free(&text);
}

static void watch(struct session *s, int fd)
{
	vec_push(&s->fds, (struct pollfd){ .fd = fd, .events = POLLIN });
}

static void watch_all(struct session *s)
{
	size_t n = 0;
	const int *fds = s->sideband ? sideband_fds(s->sideband, &n) : NULL;

	watch(s, s->sigfd);
	if (s->load.pidfd >= 0)
		watch(s, s->load.pidfd);
	if (s->capture)
		watch(s, capture_fd(s->capture));
	for (size_t i = 0; i < n; i++)
		watch(s, fds[i]);
}

static int begin(struct session *s)
{
	struct expwriter *w;

	if (s->plan->load && load_prepare(&s->load, s->plan->load, s->plan->leave_stopped,
					  &s->old_mask, s->d) < 0)
		return -1;
	signal(SIGPIPE, SIG_IGN); /* after the fork: the load keeps the caller's */
	raise_fd_limit();
	raise_priority();
	host_init(&s->host, s->plan->argv, s->plan->sample_s);
	if (open_capture(s) < 0 || open_book(s) < 0)
		return -1;
	open_drain(s);
	w = page_writer(book_founder(s->book));
	usage_now(&s->usage_base);
	if (s->plan->sample_s)
		take_sample(s, "start");
	/* A duration is that of the recording: reading /proc may have taken a while. */
	schedule_init(&s->due, s->plan, now_ns());
	if (s->plan->begin_ns)
		expwriter_event(w, "pause", s->start_ns, NULL);
	else if (begin_capture(s) < 0)
		return -1;
	write_account(s);
	watch_all(s);
	return book_flush(s->book) < 0 ? diag_error(s->d, "experiment '%s': cannot be written",
						    s->name.path) : 0;
}

/* --- running --- */

static void pump(struct session *s)
{
	if (!s->drain)
		return;
	capture_drain(s->capture, 0, drain_take, s->drain);
	sideband_drain(s->sideband, procmap_apply, s->procmap);
	drain_process(s->drain, false);
}

static void flush(struct session *s)
{
	int err = book_flush(s->book);

	if (!err || s->failed)
		return;
	live_clear(&s->live);
	diag_errno(s->d, -err, "experiment '%s': cannot be written, the recording ends: free some "
			       "space, or choose another place with -d", s->name.path);
	s->failed = s->over = true;
}

static void show(struct session *s, uint64_t t)
{
	struct account_totals n;

	account_totals(&s->account, &n);
	if (s->capturing)
		steer_look(&s->steer, t, n.waits);
	live_draw(&s->live, &(struct live_state){
		.now_ns = t,
		.elapsed_ns = t - s->start_ns,
		.counts = n,
		.bytes = book_bytes(s->book),
		.paused = s->capture && !s->capturing,
	});
}

static void tick(struct session *s, uint64_t t)
{
	pump(s);
	if (s->procmap)
		procmap_expire(s->procmap, t - KEEP_NS);
	flush(s);
	show(s, t);
}

static void resume(struct session *s, uint64_t t)
{
	expwriter_event(page_writer(book_founder(s->book)), "resume", t, NULL);
	if (begin_capture(s) < 0)
		s->failed = s->over = true;
}

static void do_what_is_due(struct session *s)
{
	uint64_t t = now_ns();

	if (schedule_due(&s->due, DUE_BEGIN, t))
		resume(s, t);
	if (schedule_due(&s->due, DUE_LOAD, t))
		load_go(&s->load, s->d);
	if (schedule_due(&s->due, DUE_SAMPLE, t))
		take_sample(s, "periodic");
	if (schedule_due(&s->due, DUE_ACCOUNT, t))
		write_account(s);
	if (schedule_due(&s->due, DUE_TICK, t))
		tick(s, t);
	if (schedule_due(&s->due, DUE_END, t))
		s->over = true;
}

static bool signalled(void *ctx)
{
	struct session *s = ctx;
	struct signalfd_siginfo si;

	return read(s->sigfd, &si, sizeof(si)) == sizeof(si);
}

/* The load has ended: the quiet period after it, then the end. */
static void load_ended(struct session *s)
{
	load_reap(&s->load, false);
	schedule_end_by(&s->due, now_ns() + s->plan->quiet_ns);
	s->fds.data[1].fd = -1;
}

static void run(struct session *s)
{
	while (!s->over) {
		if (poll(s->fds.data, s->fds.len, schedule_wait_ms(&s->due, now_ns())) < 0 && errno != EINTR)
			break;
		if (s->fds.data[0].revents && signalled(s))
			s->over = s->interrupted = true;
		if (s->load.pidfd >= 0 && s->fds.data[1].revents && !s->load.ended)
			load_ended(s);
		pump(s);
		do_what_is_due(s);
	}
}

/* --- ending --- */

static void drain_rest(struct session *s)
{
	while (capture_drain(s->capture, 0, drain_take, s->drain) > 0)
		continue;
	sideband_drain(s->sideband, procmap_apply, s->procmap);
	drain_process(s->drain, true);
}

static void stop_capture(struct session *s, uint64_t *stop_ns)
{
	*stop_ns = now_ns();
	if (!s->capturing)
		return;
	pump(s);
	capture_stop(s->capture, stop_ns, s->d);
	drain_rest(s);
	s->capturing = false;
}

static void say_how_it_went(const struct session *s)
{
	struct account_totals n;

	account_totals(&s->account, &n);
	live_losses(&n, s->d);
	if (s->live.on || s->plan->verbose)
		live_summary(s->name.path, &n, book_nsubs(s->book), book_bytes(s->book));
}

static void archive(struct session *s)
{
	int err;

	if (s->failed)
		return;
	/* A second signal means: now. */
	err = binaries_archive(s->binaries, signalled, s, s->plan->verbose ? s->d : NULL);
	if (err < 0)
		diag_errno(s->d, -err, "experiment '%s': archives cannot be written: free some space, "
				       "or leave them out with -A off", s->name.path);
	s->failed = err < 0;
}

static void end(struct session *s)
{
	uint64_t stop_ns;
	int err;

	stop_capture(s, &stop_ns);
	if (s->plan->sample_s)
		take_sample(s, "end");
	flush(s);
	s->account.closed = true;
	write_account(s);
	live_clear(&s->live);
	if (!s->failed)
		say_how_it_went(s);
	err = book_close(s->book, stop_ns > s->start_ns ? stop_ns : now_ns());
	s->book = NULL;
	if (err && !s->failed)
		diag_errno(s->d, -err, "experiment '%s': cannot be written to its end", s->name.path);
	s->failed |= err < 0;
	archive(s);
}

/* The load goes on by itself after -t; a signal ends the wait for it. */
static int await_load(struct session *s)
{
	struct load *l = &s->load;

	if (!l->pid)
		return 0;
	if (l->gate >= 0 && !s->interrupted)
		load_go(l, s->d);
	load_reap(l, false);
	while (!l->ended && l->gate < 0 && !s->interrupted) {
		struct pollfd fds[] = { { .fd = s->sigfd, .events = POLLIN },
					{ .fd = l->pidfd, .events = POLLIN } };

		if (poll(fds, 2, -1) > 0 && fds[0].revents)
			s->interrupted = signalled(s);
		load_reap(l, false);
	}
	return l->ended ? l->status : 0;
}

static void session_fini(struct session *s)
{
	load_fini(&s->load);
	procmap_free(s->procmap);
	drain_free(s->drain);
	binaries_free(s->binaries);
	capture_close(s->capture);
	sideband_close(s->sideband);
	follow_fini(&s->follow);
	steer_fini(&s->steer);
	host_fini(&s->host);
	expname_free(&s->name);
	vec_free(&s->fds);
	if (s->sigfd >= 0)
		close(s->sigfd);
}

static int record(struct session *s)
{
	int status;

	if (begin(s) < 0) {
		if (s->book)
			book_discard(s->book, s->name.dirfd, s->name.name);
		return 1;
	}
	if (s->live.on || s->plan->verbose)
		fprintf(stderr, "Creating experiment %s ...\n", s->name.path);
	if (s->live.on && !s->plan->load && !s->plan->end_ns)
		fprintf(stderr, "Recording %s until Ctrl-C ...\n",
			s->plan->targets.len ? "the targets" : "the whole system");
	if (s->plan->verbose)
		preflight_preview(s->plan, &s->name, stderr);
	run(s);
	end(s);
	status = await_load(s);
	return s->failed ? 1 : status;
}

int session_run(const struct plan *plan, struct diag *d)
{
	struct session s = { .plan = plan, .d = d, .sigfd = -1,
			     .load = { .pidfd = -1, .gate = -1 }, .name = { .dirfd = -1 } };
	int status = 1;

	if (preflight(plan, d) == 0 && expname_choose(plan, &s.name, d) == 0) {
		take_signals(&s);
		follow_init(&s.follow, plan);
		live_init(&s.live);
		steer_init(&s.steer, plan);
		status = record(&s);
	}
	session_fini(&s);
	return status;
}
