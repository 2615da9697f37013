/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The flight recorder (--flight): a rolling recording into a file system in memory. It has segments
 * of a sixth of the window. Those that the window no longer needs are removed. A dump ends the
 * present segment with a cut, as --roll does, and copies all segments of the window to disk. Sums
 * over a dump are exact because the segments' are.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "analysis/base/alloc.h"
#include "analysis/base/buf.h"
#include "analysis/base/diag.h"
#include "analysis/base/tree.h"
#include "user/record/dumps.h"
#include "user/record/memfs.h"
#include "user/record/recording_session_impl.h"

enum {
	SPARE_PART = 4,   /* this part of the memory stays free, for what is written at once */
	ARCHIVE_PART = 2, /* archives may fill the memory up to this part */
	RESERVE_PART = 16, /* this part is for the next segment alone, if the present one fills the rest */
};

/* A complete segment in memory. Its times are those of recorded_ns. */
struct part {
	char *name;
	uint64_t begin_ns, end_ns;
};

struct flight {
	int memory;                  /* the root of the file system */
	int reserve;                 /* of memfs_reserve; negative: none */
	uint64_t reserve_bytes;
	bool lent;                   /* the segments use it */
	struct dumps *dumps;
	VEC(struct part) parts;      /* those of s->retain, the oldest first */
	uint64_t paused_ns;          /* length of all pauses before the present segment */
	uint64_t crowded_ns;         /* end of the last one that went for lack of memory; 0: none */
	size_t ncrowded;             /* how many went so */
	bool full;                   /* a write failed: the present segment is incomplete */
	bool said_full;
	size_t ndumps, nfailed;
	char *last;                  /* path of the last dump's group; NULL: none */
	int pressure[PRESSURE_COUNT]; /* descriptors; -1: no limit */
	uint64_t quiet_until_ns;     /* no dump for pressure before */
	size_t nignored;             /* times that pressure came before that, or in a pause */
};

/* A clock that stands still in pauses: they must not push what came before out of the window. */
static uint64_t recorded_ns(const struct recording_session *s, uint64_t t)
{
	return t - recording_session_paused_ns(s, t);
}

/* --- the segments in memory --- */

/* Bytes of memory that segments take. */
static uint64_t used(const struct flight *f)
{
	uint64_t reserved = f->reserve < 0 || f->lent ? 0 : f->reserve_bytes;

	return memfs_used(f->memory) - reserved;
}

/* ctx: the session. Called before the oldest is removed. */
static void forget_oldest(void *ctx, const char *path)
{
	struct recording_session *s = ctx;
	struct flight *f = s->flight;

	(void)path;
	free(f->parts.data[0].name);
	memmove(f->parts.data, f->parts.data + 1, --f->parts.len * sizeof(*f->parts.data));
}

int recording_session_flight_open(struct recording_session *s)
{
	__cleanup(freep) char *stem = NULL;
	struct flight *f;
	int memory, copy;

	if (!s->plan->flight_ns)
		return 0;
	memory = memfs_open(s->plan->flight_bytes);
	if (memory < 0)
		return diag_errno(s->d, -memory, "--flight: cannot make a file system in memory: run as "
						 "root, or with the capability cap_sys_admin");
	copy = fcntl(memory, F_DUPFD_CLOEXEC, 0);
	if (copy < 0) {
		diag_errno(s->d, errno, "--flight: cannot duplicate a descriptor: raise ulimit -n");
		close(memory);
		return -1;
	}
	f = s->flight = xcalloc(1, sizeof(*f));
	for (int i = 0; i < PRESSURE_COUNT; i++)
		f->pressure[i] = -1;
	f->memory = memory;
	f->reserve_bytes = s->plan->flight_bytes / RESERVE_PART;
	f->reserve = memfs_reserve(memory, f->reserve_bytes);
	f->dumps = dumps_new(s->name, s->plan->keep_bytes);
	stem = expname_stem(s->name);
	s->rolled = (struct expname){ .dirfd = copy, .name = xasprintf("%s.1.er", stem),
				      .path = xasprintf("memory:%s.1.er", stem) };
	s->name = &s->rolled;
	return 0;
}

void recording_session_flight_begin(struct recording_session *s)
{
	s->retain = retain_new(s->plan->flight_bytes);
	retain_on_drop(s->retain, forget_oldest, s);
}

void recording_session_flight_free(struct recording_session *s)
{
	struct flight *f = s->flight;

	if (!f)
		return;
	for (int i = 0; i < PRESSURE_COUNT; i++)
		closep(&f->pressure[i]);
	vec_for_each(p, &f->parts)
		free(p->name);
	vec_free(&f->parts);
	dumps_free(f->dumps);
	free(f->last);
	closep(&f->reserve);
	close(f->memory);
	free(f);
	s->flight = NULL;
}

bool recording_session_flight_full(struct recording_session *s, int err)
{
	struct flight *f = s->flight;
	char bytes[32];

	if (!f || err != -ENOSPC)
		return false;
	f->full = true;
	if (!f->said_full) {
		live_clear(&s->live);
		status_bytes(s->plan->flight_bytes, bytes, sizeof(bytes));
		diag_warn(s->d, "--flight: %s of memory are full: what was recorded before is dropped, the "
				"recording goes on: give more memory, such as --flight 60s,1G", bytes);
	}
	f->said_full = true;
	return true;
}

/* Drop all complete segments: what follows does not join them. */
static void drop_all(struct recording_session *s)
{
	struct flight *f = s->flight;

	if (f->parts.len)
		f->crowded_ns = f->parts.data[f->parts.len - 1].end_ns;
	f->ncrowded += f->parts.len;
	retain_clear(s->retain, s->d);
}

bool recording_session_flight_drop(struct recording_session *s)
{
	struct flight *f = s->flight;
	uint64_t end_ns = f->parts.len ? f->parts.data[0].end_ns : 0;

	if (!retain_drop_oldest(s->retain, s->d))
		return false;
	f->crowded_ns = end_ns;
	f->ncrowded++;
	return true;
}

bool recording_session_flight_make_room(struct recording_session *s)
{
	struct flight *f = s->flight;

	if (recording_session_flight_drop(s))
		return true;
	if (f->reserve >= 0 && !f->lent) {
		f->lent = memfs_lend(f->reserve);
		return f->lent;
	}
	if (!f->parts.len)
		return false;
	drop_all(s);
	return true;
}

/* Have the reserve again. The oldest segments are its room, but not the newest: it may be dumped. */
static void take_reserve(struct recording_session *s)
{
	struct flight *f = s->flight;

	do
		f->lent = !memfs_take(f->reserve, f->reserve_bytes);
	while (f->lent && recording_session_flight_drop(s));
}

/* A segment that cannot be remembered goes, and with it all before it: there must be no gap. */
static void forget_present(struct recording_session *s)
{
	struct diag quiet = { 0 };

	live_clear(&s->live);
	diag_warn(s->d, "--flight: a segment cannot be kept: what was recorded before is dropped, the "
			"recording goes on: raise ulimit -n");
	tree_remove(s->name->dirfd, s->name->name, s->name->name, &quiet);
	diag_free(&quiet);
	drop_all(s);
}

void recording_session_flight_add(struct recording_session *s, uint64_t end_ns)
{
	struct flight *f = s->flight;
	struct part p = { .begin_ns = s->start_ns - f->paused_ns,
			  .end_ns = recorded_ns(s, end_ns) };

	if (retain_add(s->retain, s->name->dirfd, s->name->name, s->name->path)) {
		p.name = xstrdup(s->name->name);
		vec_push(&f->parts, p);
		if (f->full)
			drop_all(s);
	} else {
		forget_present(s);
	}
	if (f->lent)
		take_reserve(s);
	f->paused_ns = s->earlier.paused_ns;
	f->full = false;
}

bool recording_session_flight_restarts(struct recording_session *s)
{
	if (!s->flight || !s->flight->full)
		return false;
	drop_all(s);
	return true;
}

static bool is_crowded(const struct recording_session *s)
{
	uint64_t limit = s->plan->flight_bytes;

	return used(s->flight) > limit - limit / SPARE_PART;
}

/* `t` is a time of recorded_ns. */
static void trim(struct recording_session *s, uint64_t t)
{
	struct flight *f = s->flight;

	while (f->parts.len > 1 && f->parts.data[1].begin_ns + s->plan->flight_ns <= t &&
	       retain_drop_oldest(s->retain, s->d))
		continue;
	while (is_crowded(s) && recording_session_flight_drop(s))
		continue;
}

void recording_session_flight_trim(struct recording_session *s, uint64_t t)
{
	trim(s, recorded_ns(s, t));
}

uint64_t recording_session_flight_room(const struct recording_session *s)
{
	uint64_t taken = used(s->flight), limit = s->plan->flight_bytes / ARCHIVE_PART;

	return taken < limit ? limit - taken : 0;
}

/* --- a dump --- */

/* When the segments in memory begin, a time of recorded_ns. */
static uint64_t begin_of(const struct recording_session *s)
{
	const struct flight *f = s->flight;

	return f->parts.len ? f->parts.data[0].begin_ns : s->start_ns - f->paused_ns;
}

/* "the last 62.3 s", or "the last 31.0 s of 60 s" and why it is less. `t`: end, of recorded_ns. */
static void put_window(const struct recording_session *s, uint64_t t, struct buf *b)
{
	uint64_t wanted = s->plan->flight_ns;
	char bytes[32];

	buf_printf(b, "the last %.3f s", (t - begin_of(s)) / 1e9);
	if (t - begin_of(s) >= wanted)
		return;
	buf_printf(b, " of %g s", wanted / 1e9);
	if (!s->flight->crowded_ns || s->flight->crowded_ns + wanted <= t)
		return;
	status_bytes(s->plan->flight_bytes, bytes, sizeof(bytes));
	buf_printf(b, " (earlier ones found no room in %s: give --flight more)", bytes);
}

static void put_note(const struct recording_session *s, const char *reason, uint64_t t,
		     struct buf *b)
{
	size_t n = s->flight->parts.len;
	time_t now = time(NULL);
	char clock[32];
	struct tm tm;

	strftime(clock, sizeof(clock), "%F %T", localtime_r(&now, &tm));
	buf_printf(b, "Flight recorder: dumped at %s, %s: ", clock, reason);
	put_window(s, t, b);
	buf_printf(b, " in %zu experiment%s", n, n == 1 ? "" : "s");
}

/* End the present segment now. False after a message. */
static bool cut_now(struct recording_session *s, const char *reason)
{
	bool paused = is_paused(&s->recorder_xml.pauses), ok;
	struct expwriter *w;
	char *text;

	if (paused && recording_session_resume(s) < 0)
		return false;
	w = output_writer(recording_founder(s->recording));
	text = xasprintf("dumped: %s", reason);
	expwriter_message(w, "comment", EXP_MSG_OURS, now_ns(), text);
	free(text);
	ok = recording_session_next(s, now_ns());
	if (paused && !s->over && recording_session_pause(s) < 0)
		s->failed = s->over = true;
	return ok && !s->failed;
}

static char *write_parts(struct recording_session *s, const char *note, struct diag *d)
{
	struct flight *f = s->flight;
	const char **names = xcalloc(f->parts.len, sizeof(*names));
	struct dump what = { .from = f->memory, .names = names, .n = f->parts.len, .note = note,
			     .relief = recording_session_relieve, .ctx = s };
	char *path;

	for (size_t i = 0; i < f->parts.len; i++)
		names[i] = f->parts.data[i].name;
	path = dumps_write(f->dumps, &what, d);
	free(names);
	return path;
}

/* Count a failed dump, and say why: `reply` has the sentence. Returns -1. */
static int fail(struct recording_session *s, const struct buf *reply)
{
	s->flight->nfailed++;
	live_clear(&s->live);
	diag_warn(s->d, "%s", reply->data);
	return -1;
}

/* Report the outcome, to the log and to the caller. Returns 0 or -1. Takes over `path`. */
static int conclude(struct recording_session *s, char *path, const char *note,
		    const struct diag *step, struct buf *reply)
{
	struct flight *f = s->flight;
	const char *why = step->nmsgs ? step->msgs[0].text : "no reason is known";

	live_clear(&s->live);
	if (!path) {
		buf_printf(reply, "the dump failed, the recording goes on: %s: free some space, or "
				  "choose another place with -d", why);
		return fail(s, reply);
	}
	for (size_t i = 0; i < step->nmsgs; i++)
		diag_warn(s->d, "%s", step->msgs[i].text);
	f->ndumps++;
	free(f->last);
	f->last = path;
	buf_puts(reply, path);
	diag_note(s->d, "%s: %s", path, note);
	return 0;
}

static int write_dump(struct recording_session *s, const char *reason, struct buf *reply)
{
	struct diag step = { 0 };
	struct buf note = { 0 };
	struct flight *f = s->flight;
	uint64_t end;
	int err;

	if (!f->parts.len) {
		buf_puts(reply, "the dump failed, because the memory was full: give --flight more");
		return fail(s, reply);
	}
	end = f->parts.data[f->parts.len - 1].end_ns;
	trim(s, end);
	put_note(s, reason, end, &note);
	err = conclude(s, write_parts(s, note.data, &step), note.data, &step, reply);
	diag_free(&step);
	buf_free(&note);
	return err;
}

/* Why there is nothing to dump now; NULL: there is. */
static const char *refusal(const struct recording_session *s)
{
	if (!s->flight)
		return "this recorder keeps nothing in memory: start one with --flight 60s";
	if (s->over)
		return "the recording is ending";
	return s->capture && !s->capturing ? "nothing is recorded yet: resume it first" : NULL;
}

int recording_session_dump(struct recording_session *s, const char *reason, struct buf *reply)
{
	const char *why = refusal(s);

	if (why) {
		buf_puts(reply, why);
		return -1;
	}
	if (!cut_now(s, reason)) {
		buf_puts(reply, s->over && !s->failed ? refusal(s) :
			 "the dump failed, because the present segment cannot be ended: the "
			 "recorder's own messages say why");
		return fail(s, reply);
	}
	return write_dump(s, reason, reply);
}

/* --- dumps without a command --- */

int recording_session_flight_watch(struct recording_session *s)
{
	for (int i = 0; s->flight && i < PRESSURE_COUNT; i++) {
		const struct pressure_limit *limit = &s->plan->pressure[i];
		int fd = limit->percent > 0 ? pressure_open(i, limit) : -1;

		if (limit->percent > 0 && fd < 0)
			return diag_errno(s->d, -fd, "--dump-on %s: the kernel cannot watch this pressure: %s",
					  pressure_name(i), pressure_remedy_of(-fd));
		s->flight->pressure[i] = fd;
	}
	return 0;
}

int recording_session_flight_fd(const struct recording_session *s, enum pressure what)
{
	return s->flight ? s->flight->pressure[what] : -1;
}

/* For dumps that nobody waits for. The outcome is in messages and in the status. */
static void dump_by_itself(struct recording_session *s, const char *reason)
{
	const char *why = refusal(s);
	struct buf reply = { 0 };

	if (why) {
		buf_printf(&reply, "no dump %s: %s", reason, why);
		fail(s, &reply);
	} else {
		recording_session_dump(s, reason, &reply);
	}
	buf_free(&reply);
}

void recording_session_flight_pressed(struct recording_session *s, enum pressure what)
{
	const struct pressure_limit *limit = &s->plan->pressure[what];
	struct flight *f = s->flight;
	char *reason;

	if (refusal(s) || is_paused(&s->recorder_xml.pauses) || now_ns() < f->quiet_until_ns) {
		f->nignored++;
		return;
	}
	reason = xasprintf("by %s pressure above %g %% of %g s (avg10 %.2f %%)",
			   pressure_name(what), limit->percent, limit->window_ns / 1e9,
			   pressure_now(what));
	dump_by_itself(s, reason);
	f->quiet_until_ns = now_ns() + s->plan->cooldown_ns;
	free(reason);
}

void recording_session_flight_signalled(struct recording_session *s)
{
	const char *name = sigabbrev_np(s->plan->dump_signal);
	char *reason = name ? xasprintf("by signal SIG%s", name) :
			      xasprintf("by signal %d", s->plan->dump_signal);

	s->dump_asked = false;
	dump_by_itself(s, reason);
	free(reason);
}

void recording_session_flight_end(struct recording_session *s)
{
	struct buf reply = { 0 };

	if (!s->flight || s->failed)
		return;
	if (!s->plan->dump_at_end) {
		if (!s->flight->ndumps && !s->flight->nfailed && (s->live.on || s->plan->verbose))
			diag_say(stderr, "%s: wrote nothing, as no dump was asked for: --ctl dump and --dump-on do",
				 plan_recorder(s->plan));
		return;
	}
	recording_session_flight_add(s, s->stop_ns);
	if (write_dump(s, "by the end of the recording", &reply) < 0)
		s->failed = true;
	buf_free(&reply);
}

void recording_session_flight_status(const struct recording_session *s, uint64_t t,
				     struct status *ret)
{
	const struct flight *f = s->flight;

	if (!f)
		return;
	ret->flight = (struct status_flight){
		.wanted_ns = s->plan->flight_ns,
		.dumps = s->path,
		.covered_ns = recorded_ns(s, t) - begin_of(s),
		.bytes = used(f),
		.limit = s->plan->flight_bytes,
		.ncrowded = f->ncrowded,
		.ndumps = f->ndumps,
		.nfailed = f->nfailed,
		.nignored = f->nignored,
		.last = f->last,
	};
}

char *recording_session_flight_path(const struct recording_session *s)
{
	return expname_dumps(s->asked);
}
