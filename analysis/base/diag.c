/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/base/diag.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analysis/base/alloc.h"
#include "analysis/base/buf.h"

static void keep(struct diag *d, enum diag_level level, const char *text)
{
	if (d->nmsgs == DIAG_MAX) {
		d->dropped++;
		return;
	}
	if (d->nmsgs == d->cap) {
		d->cap = d->cap ? d->cap * 2 : 8;
		d->msgs = xrealloc_array(d->msgs, d->cap, sizeof(*d->msgs));
	}
	d->msgs[d->nmsgs++] = (struct diag_msg){ .level = level, .text = xstrdup(text) };
}

static void print(const struct diag *d, enum diag_level level, const char *text)
{
	static const char *const words[] = { "", "warning: ", "" };
	static const char *const levels[] = { "<6>", "<4>", "<3>" }; /* syslog(3) */
	struct buf b = { 0 };

	buf_put_printable(&b, text);
	fprintf(stderr, "%s%s: %s%s\n", d->journal ? levels[level] : "", d->prefix, words[level],
		b.data ? b.data : "");
	buf_free(&b);
}

static void emit(struct diag *d, enum diag_level level, int err, const char *fmt, va_list ap)
{
	char *text;

	if (!d)
		return;
	d->nerrors += level == DIAG_ERROR;
	d->nwarnings += level == DIAG_WARNING;
	text = xvasprintf(fmt, ap);
	if (err) {
		char *with_reason = xasprintf("%s: %s", text, strerror(err));

		free(text);
		text = with_reason;
	}
	if (d->prefix)
		print(d, level, text);
	else
		keep(d, level, text);
	free(text);
}

/* JOURNAL_STREAM names the journal's stream by device and inode; stderr may be redirected. */
bool diag_in_journal(void)
{
	const char *stream = getenv("JOURNAL_STREAM");
	unsigned long long dev, ino;
	struct stat st;

	return stream && sscanf(stream, "%llu:%llu", &dev, &ino) == 2 &&
	       !fstat(STDERR_FILENO, &st) && st.st_dev == dev && st.st_ino == ino;
}

int diag_error(struct diag *d, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	emit(d, DIAG_ERROR, 0, fmt, ap);
	va_end(ap);
	return -1;
}

int diag_errno(struct diag *d, int err, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	emit(d, DIAG_ERROR, err, fmt, ap);
	va_end(ap);
	return -err;
}

void diag_warn(struct diag *d, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	emit(d, DIAG_WARNING, 0, fmt, ap);
	va_end(ap);
}

void diag_note(struct diag *d, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	emit(d, DIAG_NOTE, 0, fmt, ap);
	va_end(ap);
}

void diag_say(FILE *f, const char *fmt, ...)
{
	struct buf b = { 0 };
	va_list ap;
	char *text;

	va_start(ap, fmt);
	text = xvasprintf(fmt, ap);
	va_end(ap);
	buf_put_printable(&b, text);
	fprintf(f, "%s\n", b.data ? b.data : "");
	buf_free(&b);
	free(text);
}

void diag_free(struct diag *d)
{
	for (size_t i = 0; i < d->nmsgs; i++)
		free(d->msgs[i].text);
	free(d->msgs);
	*d = (struct diag){ .prefix = d->prefix };
}
