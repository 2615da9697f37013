/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The loop of a session and its end. */
#include "user/record/recording_session.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "analysis/base/diag.h"
#include "analysis/experiment/usage.h"
#include "loaders/privilege.h"
#include "user/record/io_log.h"
#include "user/record/lost.h"
#include "user/record/recording_session_impl.h"
#include "user/record/usage.h"
#include "user/space/opener.h"

#define KEEP_NS 1500000000ULL /* how long an ended process may still get records */
#define SOON_NS 40000000ULL   /* until records that wait for a stack are written in any case */

/* --- what ends it --- */

/* No message for signals with which users normally end a program. */
static void say_signal(struct recording_session *s)
{
	if (s->signal == SIGINT || s->signal == SIGTERM || s->signal == SIGQUIT)
		return;
	live_clear(&s->live);
	diag_warn(s->d, "the recording ends: signal %d came (%s)", s->signal, strsignal(s->signal));
}

/* Wait at most this long, or until one of the first `nfds` descriptors is ready. */
static void look_for_the_end(struct recording_session *s, size_t nfds, int timeout_ms)
{
	if (poll(s->fds.data, nfds, timeout_ms) < 0) {
		if (errno == EINTR)
			return;
		diag_errno(s->d, errno, "the recording ends: cannot wait for records");
		s->failed = s->over = true;
		return;
	}
	if (s->fds.data[FD_SIGNAL].revents && recording_session_signalled(s)) {
		say_signal(s);
		s->over = s->interrupted = true;
	}
	recording_session_look_at_ends(s, nfds);
	s->over |= schedule_due(&s->due, DUE_END, now_ns()) || (s->orphaned && !recording_session_has_descendants(s));
}

/* Stop the capture. Records that are still in the rings are drained afterwards. */
static void stop_capture(struct recording_session *s)
{
	if (!s->stop_ns) {
		usage_now(&s->usage_end);
		s->stop_ns = now_ns();
	}
	if (!s->capturing)
		return;
	if (s->heap)
		heap_server_stop(s->heap);
	if (s->locks)
		heap_server_stop(s->locks);
	task_perf_enable(s->perf, false);
	capture_stop(s->capture, &s->stop_ns, s->d);
	s->capturing = false;
}

void recording_session_meanwhile(void *ctx)
{
	struct recording_session *s = ctx;
	size_t nfds = s->load.pidfd >= 0 ? FD_LOAD + 1 : FD_SIGNAL + 1;

	if (!s->capturing || s->fds.len < nfds)
		return;
	if (s->heap && !s->clock) /* a clock's hellos change the procmap, which is in use */
		heap_server_accept(s->heap);
	if (s->locks)
		heap_server_accept(s->locks);
	if (!drain_is_behind(s->drain))
		capture_drain(s->capture, 0, drain_take, s->drain);
	drain_relieve(s->drain);
	look_for_the_end(s, nfds, 0);
	if (s->over)
		stop_capture(s);
}

/* --- running --- */

void recording_session_put_sample(struct recording_session *s, struct exp_usage u, const char *label)
{
	usage_since(&u, &s->usage_base);
	if (s->drain)
		drain_usage(s->drain, &u);
	recorder_xml_usage(&s->recorder_xml, &u);
	expwriter_sample(output_writer(recording_founder(s->recording)), &u, label);
}

void recording_session_recorder_xml(struct recording_session *s)
{
	struct buf text = { 0 };

	if (s->capture)
		io_drops(s->capture, &s->drops_base, &s->drops);
	if (s->sideband && !s->detached)
		s->drops.n[DROP_SIDEBAND] = sideband_lost(s->sideband) - s->drops_base.n[DROP_SIDEBAND];
	if (s->procmap) {
		struct procmap_counts c = procmap_counts(s->procmap);

		s->drops.n[DROP_PROCESS] = c.processes + c.mappings - s->drops_base.n[DROP_PROCESS];
		s->drops.n[DROP_LATE] = c.late - s->drops_base.n[DROP_LATE];
	}
	s->drops.n[DROP_UNANSWERED] = opener_unanswered() - s->drops_base.n[DROP_UNANSWERED];
	recording_session_library_drops(s);
	if (s->collector)
		s->drops.n[DROP_CALL] = collector_server_refused(s->collector);
	s->drops.n[DROP_ARCHIVE] = binaries_unreadable(s->binaries);
	recorder_xml_write(&s->recorder_xml, &text);
	span_set_losses(s->spans, s->capture, s->stop_ns && !s->capturing, &text);
	/* A full disk is reported at the next flush. */
	expwriter_replace(output_writer(recording_founder(s->recording)), "recorder.xml", text.data);
	span_set_write(s->spans, s->capture, output_writer(recording_founder(s->recording)));
	buf_free(&text);
}

/* A CPU has come online, for the first time or again. */
static void cpu_came(void *ctx, int cpu, int err)
{
	struct recording_session *s = ctx;

	if (err || sideband_reopen(s->sideband, cpu) < 0)
		s->drops.n[DROP_CPU]++;
}

static void follow_cpus(struct recording_session *s)
{
	uint64_t before;

	if (!s->capturing || !capture_cpus_changed(s->capture))
		return;
	before = privilege_take(PRIVILEGE_CPU);
	capture_follow_cpus(s->capture, cpu_came, s);
	privilege_return(before);
	/* The events of processes on it since then were not delivered. */
	sideband_drain(s->sideband, now_ns(), procmap_apply, s->procmap);
	procmap_catch_up(s->procmap, s->pumped_ns);
}

/*
 * Bring the procmap up to date, then write the heap events from before: the procmap knows the
 * mappings that their stacks need.
 */
static void take_processes(struct recording_session *s, bool last)
{
	recording_session_mark_libraries(s);
	if (s->sideband)
		sideband_drain(s->sideband, now_ns(), procmap_apply, s->procmap);
	if (s->tasks)
		task_events_take(s->tasks, last);
	if (s->clock)
		clock_events_take(s->clock, s->heap, last);
	else if (s->heap)
		drain_heap(s->drain, s->heap, last);
	/* While heap events were written the rings were emptied, of records of newer processes, too. */
	if (s->heap && s->sideband)
		sideband_drain(s->sideband, now_ns(), procmap_apply, s->procmap);
	if (s->locks)
		drain_locks(s->drain, s->locks, is_paused(&s->recorder_xml.pauses), last);
}

void recording_session_pump(struct recording_session *s)
{
	if (!s->drain)
		return;
	follow_cpus(s);
	s->pumped_ns = now_ns();
	capture_drain(s->capture, 0, drain_take, s->drain);
	take_processes(s, false);
	drain_process(s->drain, false);
	if (!drain_forgot_stacks(s->drain))
		return;
	capture_resend(s->capture);
	if (s->heap)
		heap_server_resend(s->heap);
}

void recording_session_say_unwritten(struct recording_session *s, int err, const char *what)
{
	live_clear(&s->live);
	if (err == -ESTALE || err == -ENOENT || err == -ENOTDIR)
		diag_error(s->d, "experiment '%s': another program removed or changed recorded files, "
				 "%s: record again, and leave the experiment alone meanwhile", s->name->path,
			   what);
	else
		diag_errno(s->d, -err, "experiment '%s': cannot be written, %s: free some space, or "
				       "choose another place with -d", s->name->path, what);
	s->recorder_xml.unwritten = -err;
	s->failed = s->over = true;
}

void recording_session_flush(struct recording_session *s)
{
	int err = recording_flush(s->recording);

	if (err && !s->failed && !recording_session_flight_full(s, err))
		recording_session_say_unwritten(s, err, "the recording ends");
}

static void show(struct recording_session *s, uint64_t t)
{
	struct status status;

	recording_session_status(s, t, &status);
	if (s->capturing)
		control_adjust(&s->control, t, recorder_xml_produced(&s->recorder_xml, ER_KIND_WAIT));
	live_draw(&s->live, &status);
}

static void tick(struct recording_session *s, uint64_t t)
{
	recording_session_pump(s);
	if (s->drain && drain_misses_stacks(s->drain))
		schedule_by(&s->due, DUE_TICK, t + SOON_NS);
	if (s->procmap) {
		procmap_expire(s->procmap, drain_oldest(s->drain, t) - KEEP_NS);
		procmap_trim_files(s->procmap, false);
	}
	recording_session_flush(s);
	show(s, t);
	if (s->ctl)
		ctl_server_tick(s->ctl, t);
}

static void write_status(struct recording_session *s, uint64_t t)
{
	struct status status;

	if (!s->statusfile)
		return;
	recording_session_status(s, t, &status);
	live_clear(&s->live);
	statusfile_write(s->statusfile, &status, true, s->d);
}

/* The recorder ends: all that it writes is written. `last` is its status when recording stopped. */
static void write_last_status(struct recording_session *s, struct status last)
{
	if (!s->statusfile)
		return;
	recording_session_flight_status(s, s->stop_ns, &last);
	statusfile_write(s->statusfile, &last, false, s->d);
}

static void do_what_is_due(struct recording_session *s)
{
	uint64_t t = now_ns();

	if (schedule_due(&s->due, DUE_BEGIN, t) && recording_session_resume(s) < 0)
		s->failed = s->over = true;
	if (schedule_due(&s->due, DUE_LOAD, t))
		load_go(&s->load, s->d);
	/* If the capture has stopped meanwhile, the last usage sample follows later. */
	if (schedule_due(&s->due, DUE_SAMPLE, t) && !s->stop_ns)
		recording_session_sample(s, "periodic");
	if (schedule_due(&s->due, DUE_RECORDER_XML, t))
		recording_session_recorder_xml(s);
	if (schedule_due(&s->due, DUE_TICK, t))
		tick(s, t);
	if (schedule_due(&s->due, DUE_STATUS, t))
		write_status(s, t);
	recording_session_close_files(s, t);
	recording_session_roll(s, t);
}

/* POLLERR: the kernel has removed the watch, for instance with its cgroup. */
static void answer_pressure(struct recording_session *s)
{
	for (int i = 0; i < PRESSURE_COUNT; i++) {
		struct pollfd *p = &s->fds.data[s->pressure_at + i];

		if (p->revents & POLLERR)
			p->fd = -1;
		else if (p->revents & POLLPRI)
			recording_session_flight_pressed(s, i);
	}
}

static void run(struct recording_session *s)
{
	while (!s->over) {
		if (s->tables)
			table_source_poll(s->tables, s->fds.data + s->tables_at);
		look_for_the_end(s, s->fds.len, schedule_wait_ms(&s->due, now_ns()));
		if (s->over)
			break;
		recording_session_pump(s);
		if (s->ctl_at && s->fds.data[s->ctl_at].revents)
			recording_session_serve(s);
		if (s->fds.data[s->collector_at].revents)
			recording_session_called(s);
		recording_session_obey(s);
		answer_pressure(s);
		do_what_is_due(s);
	}
}

/* --- ending --- */

static void drain_rest(struct recording_session *s)
{
	if (!s->drain)
		return;
	while (capture_drain(s->capture, 0, drain_take, s->drain) > 0)
		continue;
	take_processes(s, true);
	drain_process(s->drain, true);
}

void recording_session_say_losses(const struct recording_session *s)
{
	struct record_counts n;

	recorder_xml_counts(&s->recorder_xml, &n);
	lost_say(s->name->path, &n, &s->drops, s->d);
	if (s->drops.limit_ns)
		diag_warn(s->d, "experiment '%s': -L was reached after %.3f s: %llu later records are "
				"missing: raise it, or record for a shorter time", s->name->path,
			  s->drops.limit_ns > s->start_ns ? (s->drops.limit_ns - s->start_ns) / 1e9 : 0.0,
			  (unsigned long long)s->drops.n[DROP_LIMIT]);
}

/* The last line: what is on disk now, and how to read it. */
static void say_what_next(const struct recording_session *s, const struct status *state,
			  size_t nprocesses)
{
	struct buf b = { 0 };

	if (s->failed || s->flight || (!s->live.on && !s->plan->verbose))
		return;
	live_format_end(s->name->path, s->name->group, s->nsegments + 1, state, nprocesses, &b);
	diag_say(stderr, "%s: %s", plan_recorder(s->plan), b.data);
	buf_free(&b);
}

static volatile int archiving_stopped;

static void on_signal(int sig)
{
	archiving_stopped = sig;
}

/* While archives are written, the first ending signal stops that; a second ends the recorder. */
static void let_signals_stop(struct recording_session *s, bool on)
{
	struct sigaction act = { .sa_handler = on_signal, .sa_flags = SA_RESETHAND };
	sigset_t ending = s->signals;

	/* These have no meaning any more; they stay blocked. */
	sigdelset(&ending, s->plan->sample_signal);
	sigdelset(&ending, s->plan->pause_signal);
	sigdelset(&ending, s->plan->dump_signal);
	for (int sig = 1; on && sig < NSIG; sig++) {
		if (sigismember(&ending, sig) == 1)
			sigaction(sig, &act, NULL);
	}
	sigprocmask(on ? SIG_UNBLOCK : SIG_BLOCK, &ending, NULL);
	s->interrupted |= archiving_stopped != 0;
}

/*
 * The part of -L that is left. If profile data filled it, a tenth of -L: names need archives. A
 * flight recorder's archives are in memory.
 */
uint64_t recording_session_room(const struct recording_session *s, uint64_t recorded)
{
	uint64_t limit = s->plan->limit_bytes;

	if (s->flight)
		return recording_session_flight_room(s);
	if (!limit)
		return UINT64_MAX;
	return recorded < limit - limit / 10 ? limit - recorded : limit / 10;
}

static void archive(struct recording_session *s, uint64_t recorded)
{
	size_t left;
	int err;

	if (s->failed) {
		s->recorder_xml.archives = ARCHIVES_FAILED;
		return;
	}
	let_signals_stop(s, true);
	err = recording_session_archive(s, recording_session_room(s, recorded), &archiving_stopped,
					s->plan->verbose ? s->d : NULL);
	let_signals_stop(s, false);
	left = binaries_left(s->binaries);
	if (err == -EINTR)
		diag_warn(s->d, "experiment '%s': archiving was interrupted, %zu %s missing: "
				"er_archive adds them",
			  s->name->path, left, left == 1 ? "binary is" : "binaries are");
	else if (err < 0 && !s->nunarchived++)
		diag_errno(s->d, -err, "experiment '%s': archives cannot be written: free some space, "
				       "or leave them out with -A off", s->name->path);
	else if (err >= 0 && left)
		diag_warn(s->d, "experiment '%s': %zu %s not archived, because there is no room: "
				"%s, or add them with er_archive",
			  s->name->path, left, left == 1 ? "binary is" : "binaries are",
			  s->flight ? "give --flight more memory" : "raise --archive-limit or -L");
	s->failed = err < 0 && err != -EINTR;
	s->recorder_xml.archives = err == -EINTR ? ARCHIVES_INTERRUPTED :
				   err < 0 ? ARCHIVES_FAILED :
				   left ? ARCHIVES_NO_ROOM : ARCHIVES_COMPLETE;
	s->recorder_xml.unarchived = left;
}

static void end(struct recording_session *s)
{
	bool archives = s->plan->archiving != ARCHIVE_NOTHING &&
			(!s->flight || s->plan->dump_at_end);
	struct status state = { 0 }, all; /* of this segment, of all */
	size_t nprocesses;
	int err;

	if (s->ctl)
		ctl_server_shut(s->ctl);
	stop_capture(s);
	if (s->collector)
		collector_server_stop(s->collector);
	if (s->recorder_xml.began_ns)
		s->recorder_xml.stop_ns = s->stop_ns;
	drain_rest(s);
	recording_session_say_untold(s);
	/* A sample for the end of the capture; the states of threads are drained up to it. */
	recording_session_put_sample(s, s->usage_end, "end");
	recording_session_flush(s);
	s->recorder_xml.closed = true;
	if (archives)
		s->recorder_xml.archives = ARCHIVES_RUNNING;
	recording_session_recorder_xml(s);
	s->detached = true; /* what the side band loses meanwhile is no loss */
	capture_detach(s->capture);
	live_clear(&s->live);
	if (!s->failed && !s->flight)
		recording_session_say_losses(s);
	recorder_xml_counts(&s->recorder_xml, &state.counts);
	state.elapsed_ns = s->stop_ns > s->start_ns ? s->stop_ns - s->start_ns : 0;
	state.bytes = recording_bytes(s->recording);
	nprocesses = recording_nprocesses(s->recording);
	err = recording_finish(s->recording, s->stop_ns > s->start_ns ? s->stop_ns : now_ns());
	if (err && !s->failed && !recording_session_flight_full(s, err))
		recording_session_say_unwritten(s, err, "its end is missing");
	recording_session_status(s, s->stop_ns, &all);
	if (archives)
		archive(s, state.bytes);
	recording_session_recorder_xml(s);
	err = recording_close(s->recording);
	s->recording = NULL;
	if (err && !s->failed && !recording_session_flight_full(s, err))
		recording_session_say_unwritten(s, err, "its end is missing");
	if (s->retain && !s->flight)
		recording_session_retain_last(s);
	recording_session_say_unarchived(s);
	recording_session_flight_end(s);
	write_last_status(s, all);
	say_what_next(s, s->nsegments ? &all : &state, s->nsegments ? all.nprocesses : nprocesses);
}

static void recording_session_fini(struct recording_session *s)
{
	load_fini(&s->load);
	procmap_free(s->procmap);
	drain_free(s->drain);
	table_source_free(s->tables);
	unwind_worker_stop(s->worker);
	heap_server_close(s->heap);
	heap_unseen_free(s->unseen);
	target_ends_fini(&s->target_ends);
	heap_server_close(s->locks);
	collector_server_close(s->collector);
	clock_events_free(s->clock);
	task_events_free(s->tasks);
	task_perf_close(s->perf);
	binaries_free(s->binaries);
	opener_stop();
	span_set_free(s->spans);
	capture_close(s->capture);
	sideband_close(s->sideband);
	follow_fini(&s->follow);
	recorder_xml_fini(&s->recorder_xml);
	retain_free(s->retain);
	recording_session_flight_free(s);
	expname_free(&s->rolled);
	control_fini(&s->control);
	host_fini(&s->host);
	vec_free(&s->fds);
	ctl_server_close(s->ctl);
	statusfile_close(s->statusfile);
	free(s->path);
	if (s->sigfd >= 0)
		close(s->sigfd);
}

static int record(struct recording_session *s)
{
	int status;

	if (recording_session_begin(s) < 0) {
		if (s->recording)
			recording_discard(s->recording, s->name->dirfd, s->name->name);
		return 1;
	}
	if ((s->live.on || s->plan->verbose) && s->flight)
		fprintf(stderr, "Keeping the last %g s in memory ...\n", s->plan->flight_ns / 1e9);
	else if (s->live.on || s->plan->verbose)
		diag_say(stderr, "Creating experiment %s ...", s->name->path);
	if (s->live.on && !s->plan->load && !s->plan->end_ns)
		fprintf(stderr, "Recording %s until Ctrl-C ...\n",
			s->plan->targets.len ? "the targets until they end, or" : "the whole system");
	recording_session_watch_targets(s);
	run(s);
	end(s);
	status = recording_session_await_load(s);
	return s->failed ? 1 : status;
}

int recording_session_run(const struct plan *plan, const struct expname *name, struct diag *d,
			  int *load_signal)
{
	struct recording_session s = { .plan = plan, .asked = name, .name = name, .d = d, .sigfd = -1,
				       .rolled = { .dirfd = -1 },
				       .load = { .pidfd = -1, .gate = -1 } };
	int status = 1;

	if (recording_session_take_signals(&s) == 0) {
		follow_init(&s.follow, plan);
		live_init(&s.live, !plan->program);
		control_init(&s.control, plan);
		status = record(&s);
	}
	if (load_signal)
		*load_signal = s.failed ? 0 : s.load.signal;
	recording_session_fini(&s);
	return status;
}
