/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Rolling recordings (--roll, --keep): the capture goes on, and the drain goes on in another
 * experiment. The next experiment is made first: if that fails, the present one goes on, and nothing
 * is lost. Then every thread is cut (capture_cut), all records from before the cut are written, and
 * the present experiment is closed like one that ends. A flight recorder does the same in memory.
 */
#include <errno.h>
#include <malloc.h>
#include <string.h>
#include <time.h>

#include "analysis/base/diag.h"
#include "user/record/recording_session_impl.h"
#include "user/record/usage.h"

#define RETRY_NS 10000000000ULL

enum { NAMES_MAX = 100 }; /* that others take in a row */

/* Without a size in --roll a segment may take this part of --keep. */
enum { KEEP_PARTS = 4 };

static bool is_large(const struct recording_session *s)
{
	const struct plan *p = s->plan;
	uint64_t limit = p->roll_bytes ? p->roll_bytes : p->keep_bytes / KEEP_PARTS;

	return limit && recording_bytes(s->recording) >= limit;
}

static void say_removed(struct recording_session *s)
{
	if (!s->said_removed) {
		live_clear(&s->live);
		diag_warn(s->d, "experiment '%s': the disk is full: older experiments are removed before "
				"--keep is reached: free some space, or lower --keep", s->name->path);
	}
	s->said_removed = true;
}

bool recording_session_make_room(void *ctx)
{
	struct recording_session *s = ctx;

	if (s->flight)
		return recording_session_flight_make_room(s);
	if (!s->retain || !retain_drop_oldest(s->retain, s->d))
		return false;
	say_removed(s);
	return true;
}

static bool made_room(struct recording_session *s, int err)
{
	return expwriter_is_full(err) && recording_session_make_room(s);
}

int recording_session_create(struct recording_session *s)
{
	for (;;) {
		struct expname next;
		int err = recording_open(s->name->dirfd, s->name->name, &s->host.header, s->plan, &s->drops, s->d,
					 &s->recording);

		if (err != -EEXIST || expname_evade(s->name, &next, s->d) < 0)
			return err;
		expname_free(&s->rolled);
		s->rolled = next;
		s->name = &s->rolled;
	}
}

/*
 * Create the next experiment, if need be in the place of the oldest. Another recorder that uses the same stem may
 * take its name first. 0 or -errno.
 */
static int prepare(struct recording_session *s, uint64_t start_ns, struct expname *next)
{
	struct diag why = { 0 };
	int ntaken = 0;
	int err;

	s->host.header.start_ns = start_ns;
	s->host.header.start_epoch = time(NULL);
	do {
		expname_free(next);
		expname_next(s->name, next);
		diag_free(&why);
		why = (struct diag){ 0 };
		err = recording_prepare(s->recording, next->dirfd, next->name, &s->host.header, &why);
	} while (made_room(s, err) || (err == -EEXIST && ++ntaken < NAMES_MAX));
	diag_free(&why);
	return err;
}

static void say_postponed(struct recording_session *s, int err, uint64_t t)
{
	if (!s->roll_after_ns) {
		live_clear(&s->live);
		diag_warn(s->d, "experiment '%s': goes on, as the next segment cannot be created: %s: "
				"%s", s->name->path, strerror(-err),
			  s->flight ? "give --flight more memory" : "free some space, or lower --keep");
	}
	s->roll_after_ns = t + RETRY_NS;
}

/*
 * Take all records from before a cut, and write them. *end_ns is the time of the cut, and *u what
 * was used by then: writing may take long. False after a message.
 */
static bool cut(struct recording_session *s, uint64_t *end_ns, struct exp_usage *u)
{
	uint64_t begin_ns = now_ns();
	bool ok = !s->capture || capture_cut(s->capture, drain_take_cut, s->drain, s->d) >= 0;

	*end_ns = now_ns();
	usage_now(u);
	u->time_ns = *end_ns;
	if (!s->capture || !ok)
		return ok;
	/* Twice: a record may come into a ring that was drained before that of an earlier one. */
	capture_drain(s->capture, 0, drain_take, s->drain);
	capture_drain(s->capture, 0, drain_take, s->drain);
	if (s->sideband)
		sideband_drain(s->sideband, now_ns(), procmap_apply, s->procmap);
	drain_cut(s->drain, begin_ns, *end_ns);
	return true;
}

/* Called between archives: empties the rings, and keeps processes up to date. */
void recording_session_relieve(void *ctx)
{
	struct recording_session *s = ctx;

	recording_session_meanwhile(s);
	if (s->capturing && s->sideband)
		sideband_drain(s->sideband, now_ns(), procmap_apply, s->procmap);
}

int recording_session_archive(struct recording_session *s, uint64_t room, const volatile int *stop,
			      struct diag *d)
{
	int err;

	do {
		err = binaries_archive(s->binaries, room, stop, d);
	} while (!s->flight && made_room(s, err));
	return s->flight && err == -ENOSPC ? 0 : err;
}

static void archive(struct recording_session *s)
{
	struct recorder_xml *x = &s->recorder_xml;
	uint64_t room = recording_session_room(s, recording_bytes(s->recording));
	int err;

	if (s->plan->archiving == ARCHIVE_NOTHING)
		return;
	err = recording_session_archive(s, room, NULL, NULL);
	x->unarchived = binaries_left(s->binaries);
	x->archives = err < 0 ? ARCHIVES_FAILED :
		      x->unarchived ? ARCHIVES_NO_ROOM : ARCHIVES_COMPLETE;
	/* A disk stays full for many segments. The end says how many. */
	if (err < 0 && !s->nunarchived++)
		diag_warn(s->d, "experiment '%s': archives are incomplete: %s: free some space, or leave "
				"them out with -A off", s->name->path, strerror(-err));
}

void recording_session_say_unarchived(struct recording_session *s)
{
	if (s->nunarchived > 1)
		diag_warn(s->d, "the archives of %zu experiments are incomplete: free some space, and add them with "
				"er_archive", s->nunarchived);
}

/* A flight recorder archives only what it dumps. */
void recording_session_close_files(struct recording_session *s, uint64_t t)
{
	if (!schedule_due(&s->due, DUE_IDLE_FILES, t))
		return;
	expwriter_close_idle();
	if (s->procmap)
		procmap_trim_files(s->procmap, true);
	if (plan_rolls(s->plan) && !s->flight && s->plan->archiving != ARCHIVE_NOTHING)
		binaries_archive_unmapped(s->binaries,
					  recording_session_room(s, recording_bytes(s->recording)));
}

/* Complete the present experiment. `u` is what was used until time_ns. */
static void finish(struct recording_session *s, uint64_t time_ns, struct exp_usage u)
{
	struct recorder_xml *x = &s->recorder_xml;

	recording_session_put_sample(s, u, "end");
	recording_session_flush(s);
	x->stop_ns = time_ns;
	x->closed = x->followed = true;
	recording_session_recorder_xml(s);
	/* A segment in memory may never be read. If it is, its header shows the losses. */
	if (!s->flight)
		recording_session_say_losses(s);
	recording_finish(s->recording, time_ns);
	/* Its outputs are gone, and events of processes may come while archives are written. */
	if (s->procmap)
		procmap_disown(s->procmap);
	archive(s);
	recording_session_recorder_xml(s);
}

static void restart_drops(struct recording_session *s)
{
	static const enum drop sums[] = { DROP_SIDEBAND, DROP_PROCESS, DROP_LATE, DROP_UNANSWERED,
					  DROP_IO_FOREIGN };

	for (size_t i = 0; i < sizeof(sums) / sizeof(sums[0]); i++)
		s->drops_base.n[sums[i]] += s->drops.n[sums[i]];
	s->drops = (struct drops){ 0 };
}

/* Begin in the experiment that recording_prepare made. `u` is what was used until the cut. */
static void restart(struct recording_session *s, uint64_t start_ns, struct expname *next,
		    struct exp_usage u)
{
	int archives = expwriter_dirfd(output_writer(recording_founder(s->recording)));

	s->start_ns = start_ns;
	binaries_next(s->binaries, archives,
		      s->plan->archive_bytes ? s->plan->archive_bytes : UINT64_MAX);
	expname_free(&s->rolled);
	s->rolled = *next;
	s->name = &s->rolled;
	recording_session_set_path(s);
	s->usage_base = u;
	recording_session_put_sample(s, u, "start");
	recording_session_recorder_xml(s);
	if (expname_join_group(s->name, s->d) < 0)
		s->failed = s->over = true;
}

static void leave_group(void *ctx, const char *path)
{
	struct recording_session *s = ctx;

	expname_leave_group(s->name, path, s->d);
}

void recording_session_roll_begin(struct recording_session *s)
{
	binaries_share(s->binaries);
	binaries_set_relief(s->binaries, recording_session_relieve, s);
	if (s->flight) {
		recording_session_flight_begin(s);
		return;
	}
	s->retain = retain_new(s->plan->keep_bytes);
	retain_on_drop(s->retain, leave_group, s);
	recording_on_full(s->recording, recording_session_make_room, s);
}

bool recording_session_next(struct recording_session *s, uint64_t t)
{
	struct expname next = { .dirfd = -1 };
	uint64_t start_ns, end_ns;
	struct exp_usage used;
	int err;

	recording_session_pump(s);
	if (s->over)
		return false;
	start_ns = now_ns();
	err = prepare(s, start_ns, &next);
	if (err) {
		say_postponed(s, err, t);
		expname_free(&next);
		return false;
	}
	s->roll_after_ns = 0;
	if (!cut(s, &end_ns, &used))
		s->failed = s->over = true;
	finish(s, end_ns, used);
	recording_session_add_earlier(s);
	recorder_xml_restart(&s->recorder_xml, start_ns);
	span_set_restart(s->spans, s->capture);
	if (s->drain)
		drain_restart(s->drain);
	restart_drops(s);
	err = recording_switch(s->recording);
	if (err < 0 && !s->failed && !recording_session_flight_full(s, err))
		recording_session_say_unwritten(s, err, "the recording ends");
	if (s->flight)
		recording_session_flight_add(s, end_ns);
	else if (!s->failed)
		retain_add(s->retain, s->name->dirfd, s->name->name, s->name->path);
	s->nsegments++;
	restart(s, start_ns, &next, used);
	/* Symbols of large programs were read for archives, and stacks and names were forgotten. */
	malloc_trim(0);
	return true;
}

/* Keep to the quota, with `more` bytes beside the complete segments. Say once if it holds only one. */
static void keep_to_quota(struct recording_session *s, uint64_t more)
{
	char taken[32], quota[32];

	retain_make_room(s->retain, more, s->d);
	if (s->said_tight || retain_bytes(s->retain) <= s->plan->keep_bytes)
		return;
	s->said_tight = true;
	status_bytes(retain_bytes(s->retain), taken, sizeof(taken));
	status_bytes(s->plan->keep_bytes, quota, sizeof(quota));
	live_clear(&s->live);
	diag_warn(s->d, "experiment '%s': --keep is %s, and one complete experiment takes %s: only the newest "
			"is kept: give --keep several times as much%s", s->name->path, quota, taken,
		  s->plan->archiving == ARCHIVE_NOTHING ? ", or a shorter time to --roll" :
							  ", or leave archives out with -A off");
}

void recording_session_retain_last(struct recording_session *s)
{
	if (!s->plan->keep_bytes)
		return;
	if (!s->failed)
		retain_add(s->retain, s->name->dirfd, s->name->name, s->name->path);
	keep_to_quota(s, 0);
}

void recording_session_roll(struct recording_session *s, uint64_t t)
{
	bool due;

	if (!plan_rolls(s->plan) || s->over)
		return;
	/* Also if nothing comes of it: what stays due keeps poll from waiting. */
	due = schedule_due(&s->due, DUE_ROLL, t);
	if (s->capture && !s->capturing)
		return;
	/* In a pause all threads are closed, and there is nothing to divide. */
	if (is_paused(&s->recorder_xml.pauses)) {
		if (due)
			s->roll_after_ns = t; /* as soon as it goes on */
		return;
	}
	due |= recording_session_flight_restarts(s);
	if ((due || is_large(s) || s->roll_after_ns) && t >= s->roll_after_ns)
		recording_session_next(s, t);
	if (s->flight)
		recording_session_flight_trim(s, t);
	else if (s->plan->keep_bytes)
		keep_to_quota(s, recording_bytes(s->recording));
}
