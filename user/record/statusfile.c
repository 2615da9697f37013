/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "user/record/statusfile.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "analysis/base/alloc.h"
#include "analysis/base/buf.h"
#include "analysis/base/diag.h"

struct statusfile {
	char *path; /* for messages */
	int dirfd;
	char *name, *fresh;
	bool failed;
};

/* --- the text --- */

static void put_head(struct buf *b, const char *name, const char *type, const char *help)
{
	buf_printf(b, "# HELP er_kernel_%s %s\n# TYPE er_kernel_%s %s\n", name, help, name, type);
}

static void put_seconds(struct buf *b, const char *name, const char *type, const char *help,
			uint64_t ns)
{
	put_head(b, name, type, help);
	buf_printf(b, "er_kernel_%s %" PRIu64 ".%09" PRIu64 "\n", name, ns / 1000000000,
		   ns % 1000000000);
}

static void put_number(struct buf *b, const char *name, const char *type, const char *help,
		       uint64_t v)
{
	put_head(b, name, type, help);
	buf_printf(b, "er_kernel_%s %" PRIu64 "\n", name, v);
}

/* A label's value: the format escapes three characters. */
static void put_label(struct buf *b, const char *s)
{
	for (; *s; s++) {
		if (*s == '\\' || *s == '"')
			buf_printf(b, "\\%c", *s);
		else if (*s == '\n')
			buf_puts(b, "\\n");
		else
			buf_add(b, s, 1);
	}
}

/* One line for each kind that is recorded; `member` is a counter of struct kind_count. */
static void put_kinds(struct buf *b, const char *name, const char *help,
		      const struct record_counts *n, size_t member)
{
	put_head(b, name, "counter", help);
	for (int kind = 0; kind < ER_KIND_COUNT; kind++) {
		const struct kind_count *c = &n->of[kind];

		if (c->wanted)
			buf_printf(b, "er_kernel_%s{kind=\"%s\"} %" PRIu64 "\n", name,
				   data_kind(kind)->ring->one,
				   *(const uint64_t *)((const char *)c + member));
	}
}

static void put_info(struct buf *b, const struct status *s)
{
	put_head(b, "info", "gauge", "The recorder, and its experiment or where its dumps go.");
	buf_printf(b, "er_kernel_info{version=\"" ER_VERSION "\",pid=\"%d\",%s=\"", s->pid,
		   s->experiment ? "experiment" : "dumps");
	put_label(b, s->experiment ? s->experiment : s->flight.dumps);
	buf_puts(b, "\"} 1\n");
}

static void put_flight(struct buf *b, const struct status_flight *f)
{
	put_seconds(b, "flight_seconds", "gauge", "Time that is in memory.", f->covered_ns);
	put_seconds(b, "flight_wanted_seconds", "gauge", "Time that --flight asks for.",
		    f->wanted_ns);
	put_number(b, "flight_bytes", "gauge", "Memory that it takes.", f->bytes);
	put_number(b, "flight_limit_bytes", "gauge", "Memory that it may take.", f->limit);
	put_number(b, "flight_crowded_total", "counter",
		   "Segments that were dropped early for lack of memory.", f->ncrowded);
	put_number(b, "dumps_total", "counter", "Dumps that were written.", f->ndumps);
	put_number(b, "dumps_failed_total", "counter", "Dumps that failed.", f->nfailed);
	put_number(b, "dumps_ignored_total", "counter",
		   "Times that pressure was high in the cooldown or in a pause.", f->nignored);
}

void statusfile_format(const struct status *s, bool running, struct buf *b)
{
	put_info(b, s);
	put_number(b, "updated_timestamp_seconds", "gauge", "When this file was written.",
		   time(NULL));
	put_number(b, "running", "gauge", "1 until the recording has ended.", running);
	put_number(b, "paused", "gauge", "1 while the recording is paused.", s->paused);
	put_seconds(b, "elapsed_seconds_total", "counter", "Time since the recording began.",
		    s->elapsed_ns);
	put_seconds(b, "paused_seconds_total", "counter", "Part of it that was paused.",
		    s->paused_ns);
	put_kinds(b, "records_total", "Records taken from the kernel.", &s->counts,
		  offsetof(struct kind_count, recorded));
	put_kinds(b, "lost_total", "Records that found no room.", &s->counts,
		  offsetof(struct kind_count, lost));
	put_number(b, "shedding_level", "gauge", "What --budget leaves out: 0 is nothing.",
		   s->shedding);
	put_seconds(b, "cpu_seconds_total", "counter",
		    "CPU time of the recorder and its BPF programs.", s->cpu_ns);
	put_number(b, "written_bytes_total", "counter", "Bytes in the experiment, without archives.",
		   s->bytes);
	put_number(b, "processes_total", "counter", "Programs that followed processes ran.",
		   s->nprocesses);
	if (s->flight.wanted_ns)
		put_flight(b, &s->flight);
}

/* --- the file --- */

/* Whether the name belongs to something else, such as /dev/null, that must not be replaced. */
static bool is_other(int dirfd, const char *name)
{
	struct stat st;

	return !fstatat(dirfd, name, &st, 0) && !S_ISREG(st.st_mode);
}

struct statusfile *statusfile_open(const char *path, struct diag *d)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	__cleanup(freep) char *dir = !slash ? xstrdup(".") :
				     slash == path ? xstrdup("/") : xstrndup(path, slash - path);
	int dirfd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct statusfile *f;

	if (dirfd < 0) {
		diag_errno(d, errno, "--status '%s': its directory cannot be opened: name a file in another directory", path);
		return NULL;
	}
	if (!*name || is_other(dirfd, name)) {
		diag_error(d, "--status '%s': is not a regular file: name a new file", path);
		close(dirfd);
		return NULL;
	}
	f = xcalloc(1, sizeof(*f));
	*f = (struct statusfile){ .path = xstrdup(path), .dirfd = dirfd, .name = xstrdup(name),
				  .fresh = xasprintf(".%s.%d", name, getpid()) };
	return f;
}

void statusfile_close(struct statusfile *f)
{
	if (!f)
		return;
	close(f->dirfd);
	free(f->path);
	free(f->name);
	free(f->fresh);
	free(f);
}

/* A file that anyone may read: the metrics tell nothing about other users' processes. */
static int replace(const struct statusfile *f, const struct buf *text)
{
	int fd, err = 0;

	unlinkat(f->dirfd, f->fresh, 0); /* of a killed recorder with our number */
	fd = openat(f->dirfd, f->fresh, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
	if (fd < 0)
		return -errno;
	if (write(fd, text->data, text->len) != (ssize_t)text->len)
		err = errno ? -errno : -ENOSPC;
	if (!err && fchmod(fd, 0644) < 0)
		err = -errno;
	close(fd);
	if (!err && renameat(f->dirfd, f->fresh, f->dirfd, f->name) < 0)
		err = -errno;
	if (err)
		unlinkat(f->dirfd, f->fresh, 0);
	return err;
}

void statusfile_write(struct statusfile *f, const struct status *s, bool running, struct diag *d)
{
	struct buf text = { 0 };
	int err;

	statusfile_format(s, running, &text);
	err = replace(f, &text);
	buf_free(&text);
	if (err && !f->failed)
		diag_warn(d, "--status '%s': cannot be written: %s: the recording goes on without it",
			  f->path, strerror(-err));
	f->failed = err;
}
