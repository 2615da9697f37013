/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/views/losses.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/base/buf.h"
#include "analysis/base/intern.h"
#include "analysis/experiment/exp_map.h"
#include "analysis/experiment/exp_recorder.h"
#include "analysis/symbols/archive.h"
#include "analysis/views/columns.h"
#include "analysis/views/table.h"

/* What the recorder counted as dropped (recorder.xml), and what each kind of drop means. */
static const struct {
	const char *kind;
	const char *old; /* the wording of recorders that do not write kinds */
	bool lost;       /* data is missing; false: data is only less detailed */
	const char *one, *many; /* text after the number */
} drops[] = {
	{ "record", "unknown ring records", true,
	  "record is of a kind that er_kernel does not know: report this as a bug",
	  "records are of a kind that er_kernel does not know: report this as a bug" },
	{ "stack", "samples whose stack was lost", true,
	  "sample or wait has lost its stack: its time is under <Stack-lost>",
	  "samples and waits have lost their stacks: their time is under <Stack-lost>" },
	{ "sideband", "records of processes and mappings", true,
	  "record about processes and mappings was lost in the kernel: some code may be <Unknown>; "
	  "record when the machine is less busy",
	  "records about processes and mappings were lost in the kernel: some code may be <Unknown>; "
	  "record when the machine is less busy" },
	{ "process", "processes and mappings beyond the bound", true,
	  "process or mapping exceeded a limit of the recorder: its code is <Unknown>",
	  "processes and mappings exceeded a limit of the recorder: their code is <Unknown>" },
	{ "cpu", "CPUs that came online and were not sampled from then on", true,
	  "time a CPU came online and could not be sampled: what ran on it from then on is missing",
	  "times a CPU came online and could not be sampled: what ran on it from then on is missing" },
	{ "unfinished", "threads that ended at the stop, their last CPU time is missing", true,
	  "thread ended just as the recording stopped: the last of its CPU time is missing",
	  "threads ended just as the recording stopped: the last of their CPU time is missing" },
	{ "experiment", "processes without an experiment of their own", false,
	  "time a process got no experiment, because none could be made: its user code is one frame, "
	  "<NAME_PID_n>; free some space on the disk",
	  "times a process got no experiment, because none could be made: its user code is one frame, "
	  "<NAME_PID_n>; free some space on the disk" },
	{ "pseudo", "processes shown together", false,
	  "sample is under <other processes>, because there were too many processes for a frame each; "
	  "follow some with -F =regexp",
	  "samples are under <other processes>, because there were too many processes for a frame each; "
	  "follow some with -F =regexp" },
	{ "ioforeign", "system calls of 32-bit programs, whose I/O is not traced", true,
	  "system call was one of a 32-bit program, whose I/O is not traced",
	  "system calls were those of 32-bit programs, whose I/O is not traced" },
	{ "ioopen", "I/O calls that had not returned at the end", false,
	  "I/O call had not returned when the recording ended, and is in no sum",
	  "I/O calls had not returned when the recording ended, and are in no sum" },
	{ "late", "processes known only from /proc", false,
	  "process was found in /proc only: what it had mapped before that is not known",
	  "processes were found in /proc only: what they had mapped before that is not known" },
	{ "archive", "binaries that could not be archived", false,
	  "binary could not be read for the archives: its functions have no names on another machine; "
	  "a user who may read it adds it with er_archive",
	  "binaries could not be read for the archives: their functions have no names on another "
	  "machine; a user who may read them adds them with er_archive" },
};

enum { NDROPS = sizeof(drops) / sizeof(drops[0]) };

static bool is_drop(const struct exp_element *el, size_t i)
{
	const char *kind = element_get(el, "kind"), *what = element_get(el, "what");

	return !strcmp(el->name, "dropped") &&
	       (kind ? !strcmp(kind, drops[i].kind) : what && !strcmp(what, drops[i].old));
}

static uint64_t dropped(const struct experiment *e, size_t i)
{
	uint64_t n = 0;

	vec_for_each(el, &e->recorder) {
		if (is_drop(el, i))
			n += element_int(el, "count");
	}
	return n;
}

static const struct exp_element *find(const struct experiment *e, const char *name)
{
	vec_for_each(el, &e->recorder) {
		if (!strcmp(el->name, name))
			return el;
	}
	return NULL;
}

/* Recorders before the element `limit` wrote only the number of records beyond it. */
static bool limit_reached(const struct experiment *e)
{
	if (find(e, "limit"))
		return true;
	vec_for_each(el, &e->recorder) {
		const char *what = element_get(el, "what");

		if (!strcmp(el->name, "dropped") && what &&
		    !strcmp(what, "samples beyond the size limit"))
			return true;
	}
	return false;
}

static void count_unarchived(const struct experiment *e, int dir, struct strtab *paths, size_t *n)
{
	vec_for_each(m, &e->maps) {
		int fd;

		if (m->what != EXP_MAP_SEGMENT || !m->name || m->name[0] != '/' || !(m->modes & 4) ||
		    strstr(m->name, " (deleted)"))
			continue;
		if (strtab_has(paths, m->name))
			continue;
		strtab_id(paths, m->name);
		fd = archive_open(dir, m->name);
		*n += fd < 0;
		if (fd >= 0)
			close(fd);
	}
}

/*
 * Number of binaries with code in stacks that the recorder should have added to archives/ but did
 * not.
 */
static size_t unarchived(const struct session *s, const struct experiment *founder)
{
	const struct exp_element *recorder = find(founder, "recorder");
	__cleanup(closep) int dir = -1;
	struct strtab paths = { 0 };
	size_t n = 0, unreadable = 0;

	if (!recorder || !element_int(recorder, "archive") || !founder->closed)
		return 0;
	dir = open(founder->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	vec_for_each(e, &s->experiments) {
		if (dir >= 0 && (*e == founder || (*e)->founder == founder))
			count_unarchived(*e, dir, &paths, &n);
	}
	strtab_free(&paths);
	for (size_t i = 0; i < NDROPS; i++)
		unreadable += strcmp(drops[i].kind, "archive") ? 0 : dropped(founder, i);
	return n > unreadable ? n - unreadable : 0;
}

/* Why binaries are not archived. Recorders before the element `archives` did not say it. */
static const char *archives_reason(const struct experiment *founder)
{
	static const char *const reasons[][2] = {
		{ "interrupted", "archiving was interrupted" },
		{ "no room", "the archives had no room (--archive-limit, -L)" },
		{ "failed", "the archives could not be written" },
		{ "running", "archiving has not ended: its recorder is still at work, or was killed" },
	};
	const struct exp_element *el = find(founder, "archives");
	const char *state = el ? element_get(el, "state") : NULL;

	for (size_t i = 0; state && i < sizeof(reasons) / sizeof(reasons[0]); i++) {
		if (!strcmp(state, reasons[i][0]))
			return reasons[i][1];
	}
	return "archiving was interrupted or had no room";
}

static const char *plural(uint64_t n)
{
	return n == 1 ? "" : "s";
}

/* Join the parts of a sentence: ", " between them, " and " before the last. */
static void put_part(struct buf *b, size_t left, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

static void put_part(struct buf *b, size_t left, const char *fmt, ...)
{
	char *text;
	va_list ap;

	va_start(ap, fmt);
	text = xvasprintf(fmt, ap);
	va_end(ap);
	buf_printf(b, "%s%s", b->len ? left ? ", " : " and " : "", text);
	free(text);
}

/* The counts that are not zero: "61 samples, 231 waits and 15961 overflows of counters". */
static void put_counts(struct buf *b, const uint64_t counts[ER_RINGS])
{
	size_t left = 0;

	for (int k = 0; k < ER_RINGS; k++)
		left += counts[k] != 0;
	for (int k = 0; k < ER_RINGS; k++) {
		uint64_t n = counts[k];

		if (n || (k == ER_RING_CLOCK && !left))
			put_part(b, left ? --left : 0, "%" PRIu64 " %s", n,
				 n == 1 ? ring_descs[k].one : ring_descs[k].many);
	}
}

static uint64_t sum_of(const uint64_t counts[ER_RINGS])
{
	uint64_t sum = 0;

	for (int k = 0; k < ER_RINGS; k++)
		sum += counts[k];
	return sum;
}

static void put_nothing_lost(struct table *t, const struct record_loss *r)
{
	struct buf b = { 0 };

	put_counts(&b, r->produced);
	put_line(t, "Nothing was lost: %s produced, all recorded.", b.data);
	buf_free(&b);
}

/* Say what is known of a recording that was not closed. */
static void put_last_count(struct table *t, const struct record_loss *r)
{
	struct buf b = { 0 };

	if (!sum_of(r->produced))
		return;
	put_counts(&b, r->produced);
	put_line(t, "  At the recorder's last count %s were produced%s", b.data,
		 sum_of(r->lost) ? "" : ", and none was lost");
	if (sum_of(r->unwritten)) {
		buf_clear(&b);
		put_counts(&b, r->unwritten);
		put_line(t, "  Of these, %s %s not in the experiment: not written yet, or never", b.data,
			 sum_of(r->unwritten) == 1 ? "is" : "are");
	}
	buf_free(&b);
}

/* Say how much was lost, and that sums are too small by it. */
static void put_lost(struct table *t, const struct record_loss *r, uint64_t stacks)
{
	struct buf b = { 0 };
	size_t left = stacks != 0;
	bool time = false;

	for (int k = 0; k < ER_RINGS; k++)
		left += r->lost[k] + r->missing[k] != 0;
	for (int k = 0; k < ER_RINGS; k++) {
		uint64_t n = r->lost[k] + r->missing[k];

		if (!n)
			continue;
		time |= k != ER_RING_WAIT || r->missing[k];
		put_part(&b, --left, "%" PRIu64 " of %" PRIu64 " %s (%.2f %%)", n, r->produced[k],
			 r->produced[k] == 1 ? ring_descs[k].one : ring_descs[k].many,
			 percent_of(n, r->produced[k]));
	}
	if (stacks)
		put_part(&b, 0, "%" PRIu64 " stack%s", stacks, plural(stacks));
	put_line(t, "*** Lost: %s: %s.", b.data, time ?
		 "times and counts in reports are too small by that" :
		 "times are right, but some have no stack");
	buf_free(&b);
}

size_t losses_ends(const struct experiment *e, char *ret[LOSSES_ENDS])
{
	const struct exp_element *limit = find(e, "limit"), *unwritten = find(e, "unwritten");
	size_t n = 0;

	if (limit)
		ret[n++] = xasprintf("The size limit was reached in second %.3f: what came later is missing; "
				     "raise -L, or record for a shorter time",
				     element_int(limit, "reached_ns") / 1e9);
	else if (limit_reached(e))
		ret[n++] = xstrdup("The size limit was reached: what came later is missing; raise -L, or "
				   "record for a shorter time");
	if (unwritten)
		ret[n++] = xasprintf("The experiment could not be written to its end (%s): the last part is "
				     "missing; free some space, or choose another place with -d",
				     element_get(unwritten, "error") ? element_get(unwritten, "error") : "");
	if (!e->closed)
		ret[n++] = xstrdup("The recording was not closed: its recorder still runs, was killed, or could "
				   "not write; losses of its last 5 seconds are not known");
	return n;
}

static void put_ends(struct table *t, const struct experiment *e)
{
	char *texts[LOSSES_ENDS];
	size_t n = losses_ends(e, texts);

	for (size_t i = 0; i < n; i++) {
		put_line(t, "  %s", texts[i]);
		free(texts[i]);
	}
}

/* Say how many records were lost on the way, and how many are missing for no known reason. */
static void put_records(struct table *t, const struct experiment *e, const struct record_loss *r)
{
	bool explained = limit_reached(e) || find(e, "unwritten");
	uint64_t lost = sum_of(r->lost) - r->lost[ER_RING_WAIT], missing = sum_of(r->missing);

	if (lost)
		put_line(t, "  %" PRIu64 " record%s found no room in a ring, because er_kernel did not get a CPU "
			 "in time: record at a lower rate (-p, or larger intervals of -h)", lost, plural(lost));
	if (r->lost[ER_RING_WAIT])
		put_line(t, "  %" PRIu64 " wait%s found no room in a ring: their time is in the totals, only "
			 "their stacks are missing", r->lost[ER_RING_WAIT], plural(r->lost[ER_RING_WAIT]));
	if (missing && !explained)
		put_line(t, "  %" PRIu64 " record%s were recorded and are not in the experiment: files of it "
			 "are damaged or missing", missing, plural(missing));
}

static void put_drops(struct table *t, const struct experiment *e)
{
	for (size_t i = 0; i < NDROPS; i++) {
		uint64_t n = dropped(e, i);

		if (n)
			put_line(t, "  %" PRIu64 " %s", n, n == 1 ? drops[i].one : drops[i].many);
	}
}

static bool any_dropped(const struct experiment *e)
{
	for (size_t i = 0; i < NDROPS; i++) {
		if (drops[i].lost && dropped(e, i))
			return true;
	}
	return false;
}

void losses_put(struct table *t, const struct session *s, const struct experiment *founder,
		const struct record_loss *r)
{
	const struct exp_element *stacks = find(founder, "stacks");
	uint64_t nstacks = stacks ? element_int(stacks, "lost") : 0;
	size_t narchives = unarchived(s, founder);

	if (sum_of(r->lost) || sum_of(r->missing) || nstacks)
		put_lost(t, r, nstacks);
	else if (!founder->closed || limit_reached(founder) || find(founder, "unwritten") ||
		 narchives || any_dropped(founder))
		put_line(t, "*** Not complete, for this reason:");
	else
		put_nothing_lost(t, r);
	put_ends(t, founder);
	if (!founder->closed)
		put_last_count(t, r);
	put_records(t, founder, r);
	if (narchives)
		put_line(t, "  %zu binar%s not archived, because %s: functions may have no names on "
			 "another machine; er_archive adds %s", narchives,
			 narchives == 1 ? "y is" : "ies are", archives_reason(founder),
			 narchives == 1 ? "it" : "them");
	put_drops(t, founder);
}
