/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The load or the program of a session: its signals, its end, and its descendants. */
#include <signal.h>
#include <stdio.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "analysis/base/diag.h"
#include "user/preload/own_call.h"
#include "user/record/heap_server.h"
#include "user/record/recording_session_impl.h"

int recording_session_open_libraries(struct recording_session *s)
{
	const struct plan *plan = s->plan;

	if (plan->timers)
		s->heap = heap_server_open(HEAP_CLOCK, plan->capture.interval_ns, s->d);
	else if (plan->heap && plan->load)
		s->heap = heap_server_open(plan->heap, 0, s->d);
	if (plan->locks)
		s->locks = heap_server_open(HEAP_LOCKS, 0, s->d);
	return (s->heap || !(plan->timers || (plan->heap && plan->load))) && (s->locks || !plan->locks) ? 0 : -1;
}

size_t recording_session_libraries(const struct recording_session *s, struct capture_library ret[ER_IO_LIBRARIES])
{
	const struct heap_server *servers[] = { s->heap, s->locks };
	size_t n = 0;

	for (size_t i = 0; i < sizeof(servers) / sizeof(servers[0]); i++)
		if (servers[i])
			ret[n++] = heap_server_library(servers[i]);
	if (!s->collector)
		return n;
	ret[n++] = collector_server_library(s->collector);
	ret[n] = (struct capture_library){ .path = "" };
	own_mark(OWN_ATTACHED, ret[n++].mark);
	return n;
}

void recording_session_aim_libraries(struct recording_session *s)
{
	struct heap_server *servers[] = { s->heap, s->locks };

	for (size_t i = 0; i < sizeof(servers) / sizeof(servers[0]); i++)
		if (servers[i] && s->plan->program && s->plan->follow == FOLLOW_OFF)
			heap_server_aim(servers[i], s->plan->load ? s->load.pid : s->plan->targets.data[0].pid);
}

/* The program that is recorded gets this signal, not the recorder. */
static bool is_for_program(const struct recording_session *s)
{
	return s->plan->program && s->load.pid && !s->load.ended && s->load.gate < 0;
}

bool recording_session_signalled(struct recording_session *s)
{
	struct signalfd_siginfo si;
	int signal;

	if (read(s->sigfd, &si, sizeof(si)) != sizeof(si))
		return false;
	signal = si.ssi_signo;
	if (signal == s->plan->sample_signal)
		s->samples_asked++;
	else if (signal == s->plan->pause_signal)
		s->toggles_asked++;
	else if (signal == s->plan->dump_signal)
		s->dump_asked = true;
	else if (!is_for_program(s))
		s->signal = signal;
	else if (si.ssi_code != SI_KERNEL) /* the terminal has sent it to the program itself */
		kill(s->load.pid, signal);
	return s->signal;
}

bool recording_session_has_descendants(const struct recording_session *s)
{
	struct capture_family_count n = { 0 };

	if (s->clock)
		return heap_server_living(s->heap);
	if (s->tasks)
		return task_events_living(s->tasks);
	if (s->capture)
		capture_family_count(s->capture, &n);
	return n.living;
}

/* The load has ended or could not run: schedule the end after the quiet period. */
static void load_ended(struct recording_session *s)
{
	load_reap(&s->load, false);
	s->fds.data[FD_LOAD].fd = -1;
	s->orphaned = recording_session_has_descendants(s);
	if (!s->orphaned)
		schedule_by(&s->due, DUE_END, now_ns() + s->plan->quiet_ns);
	else if (s->live.on || s->plan->verbose)
		diag_say(stderr, "collect: the program has ended, and its descendants are recorded until they "
				 "end, or until Ctrl-C");
}

void recording_session_watch_targets(struct recording_session *s)
{
	const struct plan *p = s->plan;

	s->target_ends_at = s->fds.len;
	if (p->load || p->program)
		return;
	target_ends_init(&s->target_ends, p->targets.data, p->targets.len);
	vec_for_each(fd, &s->target_ends.fds)
		vec_push(&s->fds, (struct pollfd){ .fd = *fd, .events = POLLIN });
}

/* What a flight recorder has in memory would be lost, so it goes on, unless it writes that at its end. */
static void targets_ended(struct recording_session *s)
{
	bool ends = !s->flight || s->plan->dump_at_end;
	struct buf b = { 0 };

	target_ends_say(s->plan->targets.data, s->plan->targets.len, &b);
	live_clear(&s->live);
	diag_say(stderr, "%s: %s%s", plan_recorder(s->plan), b.data,
		 ends ? "" : ": the recording goes on, so that you can dump what is in memory");
	buf_free(&b);
	if (ends)
		schedule_by(&s->due, DUE_END, now_ns());
}

/* Perf rings whose thread has ended. */
static void forget_ended(struct recording_session *s, size_t nfds)
{
	for (size_t i = s->perf_at; i < s->perf_at + s->nperf && i < nfds; i++) {
		if (s->fds.data[i].revents & (POLLHUP | POLLERR))
			s->fds.data[i].fd = -1;
	}
}

void recording_session_look_at_ends(struct recording_session *s, size_t nfds)
{
	struct target_ends *e = &s->target_ends;

	forget_ended(s, nfds);
	if (s->load.pidfd >= 0 && s->fds.data[FD_LOAD].revents)
		load_ended(s);
	if (nfds == s->fds.len && target_ends_look(e, s->fds.data + s->target_ends_at))
		targets_ended(s);
}

void recording_session_mark_libraries(struct recording_session *s)
{
	if (s->heap) {
		heap_server_accept(s->heap);
		heap_server_mark(s->heap);
	}
	if (s->locks) {
		heap_server_accept(s->locks);
		heap_server_mark(s->locks);
	}
}

/* Heap events that the programs at breakpoints could not send. */
static uint64_t breakpoints_lost(const struct recording_session *s)
{
	uint64_t n = capture_heap_missed(s->capture);
	struct er_counts c;

	for (int cpu = 0; cpu < capture_ncpus(s->capture); cpu++) {
		capture_counts(s->capture, cpu, &c);
		n += c.lost[ER_KIND_HEAP];
	}
	return n;
}

void recording_session_library_drops(struct recording_session *s)
{
	uint64_t lost = s->plan->heap_sites.sites.len && s->capture ? breakpoints_lost(s) : 0;

	if (s->heap && !s->clock) {
		struct heap_counts c = heap_server_counts(s->heap);

		lost += c.lost + c.malformed;
		s->drops.n[DROP_HEAP_PROCESS] = c.refused + c.unseen;
	}
	s->drops.n[DROP_HEAP] = lost;
	if (s->locks) {
		struct heap_counts c = heap_server_counts(s->locks);

		s->drops.n[DROP_LOCK] = c.lost + c.malformed;
		s->drops.n[DROP_LOCK_PROCESS] = c.refused;
	}
}

/* Both the user who records and a reader of the experiment are told. */
static void say(struct recording_session *s, const char *text)
{
	live_clear(&s->live);
	diag_warn(s->d, "%s", text);
	expwriter_message(output_writer(recording_founder(s->recording)), "cwarn", EXP_MSG_OURS, s->stop_ns,
			  text);
}

/* The loader of a static or set-user-id program does not load the library of -H. */
static void say_untraced(struct recording_session *s)
{
	static const char text[] = "-H: no program was traced: one that is linked statically or set-user-id "
				   "does not load the library for this";
	struct heap_counts c;

	c = heap_server_counts(s->heap);
	if (s->plan->heap_sites.sites.len)
		return;
	if (c.processes || c.refused || c.unseen)
		return;
	say(s, text);
}

static void say_uncounted(struct recording_session *s)
{
	static const char launched[] = "-s all: locks that no thread had to wait for were not counted: a program that is "
				       "linked statically or set-user-id does not load the library for this";
	struct heap_counts c = heap_server_counts(s->locks);

	/* A process that runs already asks for its ring when it takes a lock: perhaps it took none. */
	if (!c.processes && !c.refused && s->plan->load)
		say(s, launched);
}

/*
 * With timers: CPU time that the kernel counts for the load, but that no process has told. Nothing is
 * said of small differences: what the kernel does to end a process is after its last record.
 */
static void say_untold(struct recording_session *s)
{
	enum { SMALL_NS = 20000000, SMALL_SHARE = 20 };
	uint64_t told = clock_events_total(s->clock), all = s->load.cpu_ns;
	struct buf b = { 0 };

	if (!s->load.ended || s->plan->follow == FOLLOW_OFF || s->plan->begin_ns ||
	    s->plan->pause_signal || all < told + SMALL_NS || all - told < all / SMALL_SHARE)
		return;
	buf_printf(&b, "%.3f of %.3f seconds of CPU time are missing: of programs that are linked statically, "
		       "are set-user-id or clear LD_PRELOAD, and of processes that a signal ended",
		   (all - told) / 1e9, all / 1e9);
	say(s, b.data);
	buf_free(&b);
}

void recording_session_say_untold(struct recording_session *s)
{
	__cleanup(freep) char *unseen = heap_unseen_text(s->unseen);

	if (unseen)
		say(s, unseen);
	if (s->clock)
		say_untold(s);
	else if (s->heap)
		say_untraced(s);
	if (s->locks)
		say_uncounted(s);
}

int recording_session_await_load(struct recording_session *s)
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
			s->interrupted = recording_session_signalled(s);
		load_reap(l, false);
	}
	return l->ended ? l->status : 0;
}
