/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/files/archiver.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "analysis/base/alloc.h"
#include "analysis/base/buf.h"
#include "analysis/base/copy.h"
#include "analysis/base/diag.h"
#include "analysis/experiment/exp_map.h"
#include "analysis/files/cmdline.h"
#include "analysis/files/operand.h"
#include "analysis/files/owner.h"
#include "analysis/files/sources.h"
#include "analysis/model/session.h"
#include "analysis/symbols/archive.h"
#include "analysis/symbols/elfsyms.h"

/* Whether to archive an object, and its addresses that occur in stacks. */
struct wanted {
	bool is;
	VEC(uint64_t) used;
};

struct archiver {
	const struct archive_plan *plan;
	struct session *session;
	const char *path;
	int expdir;
	uid_t owner;  /* the experiment's */
	int archives; /* archives/; -1 until the first file is archived */
	struct diag *d;   /* errors */
	struct buf log;   /* warnings, one per line */
	struct wanted *wanted; /* by object id */
};

/* Warn in the experiment's archive.log and, unless -q, on the terminal. */
__attribute__((format(printf, 2, 3))) static void warn(struct archiver *a, const char *fmt, ...)
{
	va_list ap;
	char *text;

	va_start(ap, fmt);
	text = xvasprintf(fmt, ap);
	va_end(ap);
	buf_put_printable(&a->log, text);
	buf_puts(&a->log, "\n");
	if (!a->plan->quiet)
		diag_warn(a->d, "%s", text);
	free(text);
}

static bool is_chosen(const struct archiver *a, const char *path)
{
	return path[0] == '/' &&
	       (!a->plan->has_only || !regexec(&a->plan->only, path, 0, NULL, 0));
}

/* Archive the file at fd under `path`. Returns 0, or -1 after a report. */
static int put(struct archiver *a, int fd, const char *path)
{
	const struct archive_plan *plan = a->plan;
	const struct archive_order order = {
		.mode = plan->mode,
		.old = plan->force && !plan->only_founder && !plan->has_only ? ARCHIVE_REPLACE :
		       plan->mode == ARCHIVE_COPY ? ARCHIVE_UPGRADE : ARCHIVE_KEEP,
		.stop = &tool_stop,
	};
	__cleanup(closep) int common = -1;

	if (a->archives < 0)
		a->archives = archive_dir(a->expdir, a->d);
	if (a->archives < 0)
		return -1;
	if (!plan->common)
		return archive_put(a->archives, fd, path, &order, a->d);
	common = open(plan->common, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (common < 0)
		return diag_errno(a->d, errno, "-d '%s': cannot open", plan->common);
	if (archive_put(common, fd, path, &order, a->d))
		return -1;
	return archive_link(a->archives, plan->common, path, a->d);
}

/*
 * Open the file as it was recorded, if the experiment's owner may read it. Returns a
 * descriptor, or -1 with the reason in *why.
 */
static int open_recorded(const struct archiver *a, const char *path, const char **why)
{
	int fd = session_open_recorded(a->session, path, why);

	if (fd < 0 || owner_may_read(a->owner, fd, path))
		return fd;
	*why = "the owner of the experiment may not read it";
	close(fd);
	return -1;
}

static int archive_object(struct archiver *a, const struct loadobj *o)
{
	const char *why;
	__cleanup(closep) int fd = open_recorded(a, o->path, &why);
	__cleanup(closep) int archived = fd < 0 ? archive_open(a->expdir, o->path) : -1;

	if (fd >= 0 && !elf_file(fd)) {
		warn(a, "%s: is not archived: it is no ELF file", o->path);
		return 0;
	}
	if (fd < 0 && archived < 0)
		warn(a, "%s: is not archived: %s", o->path, why);
	return fd < 0 ? 0 : put(a, fd, o->path);
}

/*
 * Archive the sources of one object. A library's sources are mostly not on this machine, so
 * there is one warning for all of them.
 */
static int archive_sources(struct archiver *a, const struct wanted *w, const char *path)
{
	const char *why;
	__cleanup(closep) int fd = open_recorded(a, path, &why);
	struct strtab sources = { 0 };
	size_t nmissing = 0;
	int err = 0;

	if (fd < 0)
		fd = archive_open(a->expdir, path);
	if (fd >= 0)
		sources_of(fd, path, a->plan->only_used ? w->used.data : NULL, w->used.len,
			   &sources, a->d);
	for (size_t i = 0; !err && i < sources.len; i++) {
		const char *source = sources.strings[i];
		__cleanup(closep) int in = is_chosen(a, source) ?
			open_recorded(a, source, &why) : -1;

		if (in >= 0)
			err = put(a, in, source);
		else
			nmissing += is_chosen(a, source);
	}
	if (nmissing)
		warn(a, "%s: %zu of its %zu source files are not here, changed since, or not for the "
			"experiment's owner to read", path,
		     nmissing, sources.len);
	strtab_free(&sources);
	return err;
}

static void want_mapped(struct archiver *a, const struct experiment *e)
{
	vec_for_each(m, &e->maps) {
		const struct loadobj *o = m->what == EXP_MAP_SEGMENT && m->name[0] == '/' ?
						  session_find_object(a->session, m->name) : NULL;

		if (o)
			a->wanted[o->id].is = true;
	}
}

/*
 * Mark the frames of all the experiment's stacks in `met`, which grows with the session's
 * frames.
 */
static void meet_frames(struct archiver *a, struct experiment *e, struct buf *met)
{
	const struct session *s = a->session;

	for (size_t i = 0; i < e->stacks.len; i++) {
		const struct stack *st =
			&s->stacks.data[session_resolve(a->session, e, i, e->end_ns)];

		if (met->len < s->frames.len)
			buf_zero(met, s->frames.len - met->len);
		for (uint32_t f = 0; f < st->n; f++)
			met->data[s->stack_frames.data[st->first + f]] = 1;
	}
}

static void want_used(struct archiver *a, const struct buf *met)
{
	for (size_t i = 0; i < met->len; i++) {
		struct frame f = frame_at(a->session, i);
		struct wanted *w = &a->wanted[f.func->obj->id];

		if (!met->data[i] || f.func->obj->path[0] != '/' || f.offset == FRAME_OUTLINED)
			continue;
		w->is = true;
		vec_push(&w->used, f.body->addr + f.offset);
	}
}

static void choose(struct archiver *a)
{
	struct buf met = { 0 };
	struct session *s = a->session;

	session_load_objects(s);
	vec_for_each(e, &s->experiments) {
		if (a->plan->only_used && !((*e)->founder && a->plan->only_founder))
			meet_frames(a, *e, &met);
	}
	/* All objects are known only after that. */
	a->wanted = xcalloc(s->objects.len, sizeof(*a->wanted));
	vec_for_each(e, &s->experiments) {
		if (!a->plan->only_used && !((*e)->founder && a->plan->only_founder))
			want_mapped(a, *e);
	}
	want_used(a, &met);
	buf_free(&met);
}

static int archive_wanted(struct archiver *a, const struct wanted *w, const struct loadobj *o)
{
	int err = 0;

	if (a->plan->objects && is_chosen(a, o->path))
		err = archive_object(a, o);
	if (!err && a->plan->sources)
		err = archive_sources(a, w, o->path);
	return err;
}

static int archive_files(struct archiver *a)
{
	int err = 0;

	choose(a);
	for (size_t i = 0; i < a->session->objects.len; i++) {
		if (a->wanted[i].is && !err && !tool_stop)
			err = archive_wanted(a, &a->wanted[i], a->session->objects.data[i]);
		vec_free(&a->wanted[i].used);
	}
	free(a->wanted);
	return err;
}

/* Another machine's files may have the same names and different contents. */
static int check_host(const struct archiver *a)
{
	const struct experiment *e = a->session->experiments.data[0];
	struct utsname here;

	if (a->plan->force || !e->hostname[0] || uname(&here) || !strcmp(here.nodename, e->hostname))
		return 0;
	return diag_error(a->d, "experiment '%s': was recorded on '%s': run er_archive there, or "
			  "with -F if the files are the same here", a->path, e->hostname);
}

static void write_log(const struct archiver *a)
{
	const int flags = O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
	__cleanup(closep) int fd = a->log.len ? openat(a->expdir, "archive.log", flags, 0600) : -1;
	int err = fd < 0 ? -errno : fd_write(fd, a->log.data, a->log.len);

	if (a->log.len && err)
		diag_errno(a->d, -err, "experiment '%s': cannot write archive.log", a->path);
}

static int archive_open_experiment(struct archiver *a)
{
	__cleanup(freep) char *recorder = experiment_recorder(a->expdir);
	int err;

	if (session_add(a->session, a->path) || check_host(a))
		return -1;
	if (recorder)
		warn(a, "experiment '%s': is still being recorded by %s: archive it again when "
		     "that has ended", a->path, recorder);
	err = a->plan->nothing ? 0 : archive_files(a);
	write_log(a);
	return err;
}

/* Descendants have no archives of their own; the founder has them. */
static int check_founder(const struct operand *p, struct diag *d)
{
	__cleanup(closep) int fd = openat(p->dir, "log.xml", O_PATH | O_CLOEXEC);

	if (p->name[0] != '_' || fd < 0)
		return 0;
	return diag_error(d, "experiment '%s': is part of another experiment: archive that one", p->path);
}

int archive_experiment(const char *path, const struct archive_plan *plan, struct diag *d)
{
	struct archiver a = { .plan = plan, .archives = -1, .expdir = -1, .d = d };
	struct operand p;
	struct stat st;
	int err = operand_init(&p, path, d) || check_founder(&p, d) ? -1 : 0;

	a.path = p.path;
	if (!err)
		a.expdir = operand_open_experiment(&p, d);
	if (a.expdir >= 0 && !fstat(a.expdir, &st)) {
		a.owner = st.st_uid;
		a.session = session_new(d);
		err = archive_open_experiment(&a);
		session_free(a.session);
		close(a.expdir);
	} else {
		err = -1;
	}
	if (a.archives >= 0)
		close(a.archives);
	buf_free(&a.log);
	operand_free(&p);
	return err;
}

bool archive_abandoned(const struct experiment *e)
{
	const struct archive_plan names = { .objects = true, .quiet = true };
	__cleanup(closep) int dir = -1;
	__cleanup(freep) char *recorder = NULL;
	struct diag d = { 0 };
	bool done;

	if (e->closed || e->founder)
		return false;
	dir = open(e->path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (dir < 0 || faccessat(dir, ".", W_OK, 0) ||
	    !faccessat(dir, "archives", F_OK, AT_SYMLINK_NOFOLLOW))
		return false;
	recorder = experiment_recorder(dir);
	if (recorder)
		return false;
	done = !archive_experiment(e->path, &names, &d) &&
	       !faccessat(dir, "archives", F_OK, AT_SYMLINK_NOFOLLOW);
	diag_free(&d);
	return done;
}
