/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Requests to a running session: pause, resume, sample, dump, status and stop. They come from users
 * through the control socket or as signals (-l, -y, --dump-on), and from the load by calls of the
 * collector API.
 *
 * A pause closes all intervals, as the end of a recording does. Resuming opens new ones. So each
 * thread has a total for each stretch between two pauses, and no total contains a pause. The
 * kernel's records of processes and mappings are read during a pause, too.
 */
#include <string.h>
#include <unistd.h>

#include "analysis/base/buf.h"
#include "analysis/base/diag.h"
#include "loaders/privilege.h"
#include "user/record/recording_session_impl.h"
#include "user/record/snapshots.h"
#include "user/record/usage.h"

static struct expwriter *founder(struct recording_session *s)
{
	return output_writer(recording_founder(s->recording));
}

/* --- usage samples --- */

/* The states of all threads at this instant. False: none were taken. */
static bool take_snapshot(struct recording_session *s, uint64_t t)
{
	struct snapshots *snaps = s->drain ? drain_snapshots(s->drain) : NULL;

	if (!snaps || !s->capturing || !s->plan->capture.states || is_paused(&s->recorder_xml.pauses))
		return false;
	if (capture_snapshot(s->capture, t, snapshots_is_first(snaps), snapshots_take, snaps, s->d) < 0)
		return false;
	snapshots_write(snaps, t, now_ns() - t);
	return true;
}

void recording_session_sample(struct recording_session *s, const char *label)
{
	uint64_t t = now_ns();
	bool taken = take_snapshot(s, t);
	struct exp_usage u;

	usage_now(&u);
	if (taken)
		u.time_ns = t;
	recording_session_put_sample(s, u, label);
}

/* --- pausing --- */

/* What was counted up to now does not belong to what follows. */
static void take_locks(struct recording_session *s)
{
	if (!s->locks)
		return;
	heap_server_hurry(s->locks);
	recording_session_pump(s);
}

int recording_session_pause(struct recording_session *s)
{
	uint64_t t = now_ns();

	schedule_cancel(&s->due, DUE_BEGIN);
	if (is_paused(&s->recorder_xml.pauses))
		return 0;
	recording_session_sample(s, "pause");
	take_locks(s);
	if (s->capturing && capture_pause(s->capture, &t, s->d) < 0)
		return -1;
	if (s->clock)
		clock_events_pause(s->clock, true);
	if (s->tasks)
		task_events_pause(s->tasks, true);
	expwriter_event(founder(s), "pause", t, NULL);
	pauses_begin(&s->recorder_xml.pauses, t);
	return 0;
}

int recording_session_resume(struct recording_session *s)
{
	struct pauses *p = &s->recorder_xml.pauses;
	bool first = s->capture && !s->capturing;
	uint64_t t = now_ns();

	schedule_cancel(&s->due, DUE_BEGIN);
	if (!is_paused(p))
		return 0;
	take_locks(s);
	if (first ? recording_session_capture(s) < 0 :
		    s->capturing && capture_resume(s->capture, &t, s->d) < 0)
		return -1;
	if (s->clock)
		clock_events_pause(s->clock, false);
	if (s->tasks)
		task_events_pause(s->tasks, false);
	expwriter_event(founder(s), "resume", t, NULL);
	pauses_end(p, t);
	if (first)
		pauses_reset(p);
	recording_session_sample(s, "resume");
	return 0;
}

/* --- the state --- */

static void add_counts(struct record_counts *to, const struct record_counts *n)
{
	for (int kind = 0; kind < ER_KIND_COUNT; kind++) {
		to->of[kind].produced += n->of[kind].produced;
		to->of[kind].recorded += n->of[kind].recorded;
		to->of[kind].lost += n->of[kind].lost;
	}
}

static uint64_t paused_in_segment(const struct recording_session *s, uint64_t t)
{
	return s->recorder_xml.pauses.before_ns + pauses_until(&s->recorder_xml.pauses, t);
}

uint64_t recording_session_paused_ns(const struct recording_session *s, uint64_t t)
{
	return s->earlier.paused_ns + paused_in_segment(s, t);
}

void recording_session_add_earlier(struct recording_session *s)
{
	struct record_counts counts;

	recorder_xml_counts(&s->recorder_xml, &counts);
	add_counts(&s->earlier.counts, &counts);
	s->earlier.bytes += recording_bytes(s->recording);
	s->earlier.paused_ns += paused_in_segment(s, now_ns());
}

void recording_session_status(struct recording_session *s, uint64_t t, struct status *ret)
{
	*ret = (struct status){
		.pid = getpid(),
		.name = s->asked->name,
		.experiment = s->flight ? NULL : s->path,
		.now_ns = t,
		.elapsed_ns = t - s->first_ns,
		.paused_ns = recording_session_paused_ns(s, t),
		.bytes = s->earlier.bytes + recording_bytes(s->recording),
		.cpu_ns = control_cost(&s->control),
		.nprocesses = s->drain ? drain_nprograms(s->drain) : 0,
		.shedding = s->control.governor.level,
		.left_out = governor_left_out(s->control.governor.level),
		.paused = is_paused(&s->recorder_xml.pauses),
	};
	recorder_xml_counts(&s->recorder_xml, &ret->counts);
	add_counts(&ret->counts, &s->earlier.counts);
	recording_session_flight_status(s, t, ret);
}

/* --- requests --- */

/* Carry out a command. The reply is empty if it succeeded and there is nothing to report. */
typedef int (*command_fn)(struct recording_session *s, const char *arg, struct buf *reply);

static int fail(struct recording_session *s, struct buf *reply)
{
	s->failed = s->over = true;
	buf_puts(reply, "failed, and the recording ends: its own messages say why");
	return -1;
}

static int do_pause(struct recording_session *s, const char *arg, struct buf *reply)
{
	return recording_session_pause(s) < 0 ? fail(s, reply) : 0;
}

static int do_resume(struct recording_session *s, const char *arg, struct buf *reply)
{
	return recording_session_resume(s) < 0 ? fail(s, reply) : 0;
}

static int do_sample(struct recording_session *s, const char *arg, struct buf *reply)
{
	recording_session_sample(s, arg);
	return 0;
}

static int do_dump(struct recording_session *s, const char *arg, struct buf *reply)
{
	return recording_session_dump(s, "by command", reply);
}

static int do_status(struct recording_session *s, const char *arg, struct buf *reply)
{
	struct status status;

	recording_session_status(s, now_ns(), &status);
	status_text(&status, reply);
	return 0;
}

static int do_stop(struct recording_session *s, const char *arg, struct buf *reply)
{
	s->over = s->interrupted = true;
	return 0;
}

static const struct command {
	const char *name;
	const char *arg; /* its argument; NULL: it takes none */
	bool keep;       /* keep the connection; the recorder ends it */
	command_fn fn;
} commands[] = {
	{ "pause", NULL, false, do_pause },
	{ "resume", NULL, false, do_resume },
	{ "sample", "NAME", false, do_sample },
	{ "dump", NULL, false, do_dump },
	{ "status", NULL, false, do_status },
	{ "stop", NULL, true, do_stop },
};

enum { NCOMMANDS = sizeof(commands) / sizeof(commands[0]) };

static int refuse_unknown(const char *name, struct buf *reply)
{
	buf_printf(reply, "'%s': no such command: write ", name);
	for (int i = 0; i < NCOMMANDS; i++)
		buf_printf(reply, "%s%s%s%s", i ? i + 1 < NCOMMANDS ? ", " : " or " : "",
			   commands[i].name, commands[i].arg ? " " : "",
			   commands[i].arg ? commands[i].arg : "");
	return -1;
}

static int refuse_argument(const struct command *c, const char *arg, struct buf *reply)
{
	if (!c->arg)
		buf_printf(reply, "'%s' takes no argument: leave '%s' out", c->name, arg);
	else
		buf_printf(reply, "an argument is missing: write %s %s", c->name, c->arg);
	return -1;
}

static int serve(void *ctx, char *request, struct buf *reply, bool *keep)
{
	struct recording_session *s = ctx;
	char *arg = strchr(request, ' ');

	if (arg)
		*arg++ = '\0';
	for (int i = 0; i < NCOMMANDS; i++) {
		const struct command *c = &commands[i];

		if (strcmp(c->name, request))
			continue;
		if (!c->arg != !(arg && *arg))
			return refuse_argument(c, arg, reply);
		*keep = c->keep;
		return c->fn(s, arg, reply);
	}
	return refuse_unknown(request, reply);
}

void recording_session_serve(struct recording_session *s)
{
	if (s->ctl)
		ctl_server_serve(s->ctl, now_ns(), serve, s);
}

static void called_sample(struct recording_session *s, const char *text)
{
	char label[COLLECTOR_TEXT];
	size_t n = strnlen(text, sizeof(label) - 1);

	for (size_t i = 0; i < n; i++)
		label[i] = (unsigned char)text[i] < ' ' || text[i] == 0x7f ? '?' : text[i];
	label[n] = 0;
	recording_session_sample(s, n ? label : "collector_sample");
}

/* The load's own call. The end is answered when nothing is recorded any more. */
static bool call(void *ctx, enum collector_op op, const char *text)
{
	struct recording_session *s = ctx;
	int err = 0;

	if (op == COLLECTOR_PAUSE)
		err = recording_session_pause(s);
	else if (op == COLLECTOR_RESUME)
		err = recording_session_resume(s);
	else if (op == COLLECTOR_SAMPLE)
		called_sample(s, text);
	else
		s->over = true;
	if (err < 0)
		s->failed = s->over = true;
	return op != COLLECTOR_TERMINATE;
}

void recording_session_called(struct recording_session *s)
{
	collector_server_serve(s->collector, call, s);
}

void recording_session_obey(struct recording_session *s)
{
	for (; s->samples_asked; s->samples_asked--)
		recording_session_sample(s, "signal");
	if (s->dump_asked)
		recording_session_flight_signalled(s);
	for (; s->toggles_asked && !s->over; s->toggles_asked--) {
		int err = is_paused(&s->recorder_xml.pauses) ? recording_session_resume(s) :
							       recording_session_pause(s);

		if (err < 0)
			s->failed = s->over = true;
	}
}
