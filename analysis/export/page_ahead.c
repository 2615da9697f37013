/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/export/page_ahead.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "analysis/base/alloc.h"
#include "analysis/base/copy.h"
#include "analysis/base/interrupt.h"
#include "analysis/base/parallel.h"
#include "analysis/export/export.h"
#include "analysis/export/page_index.h"

static void make_here(struct page_ahead *a)
{
	/* The findings need most memory; the first part of reading events does, too. */
	make_fixed_reports(a->x, &a->reports);
	put_findings(a->x, &a->findings);
}

static void free_made(struct page_ahead *a)
{
	buf_free(&a->findings);
	made_reports_free(&a->reports);
}

/* --- the pipe: a head before the bytes of each report, and of the findings, which come last --- */

struct head {
	size_t which, nrows, n;
};

static const size_t FINDINGS = SIZE_MAX;

static int send_part(int fd, struct head h, const void *bytes)
{
	int err = fd_write(fd, &h, sizeof(h));

	return err ? err : fd_write(fd, bytes, h.n);
}

static int send_all(const struct page_ahead *a, int fd)
{
	int err = 0;

	vec_for_each(r, &a->reports.all)
		err = err ? err : send_part(fd, (struct head){ r->which, r->nrows, r->pack.n }, r->pack.bytes);
	return err ? err : send_part(fd, (struct head){ FINDINGS, 0, a->findings.len }, a->findings.data);
}

static bool receive(int fd, void *bytes, size_t n)
{
	for (char *at = bytes; n;) {
		ssize_t got = read(fd, at, n);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return false;
		at += got;
		n -= got;
	}
	return true;
}

/* Whether all has come. */
static bool receive_all(struct page_ahead *a)
{
	struct head h;

	while (receive(a->from, &h, sizeof(h))) {
		struct packed pack = { 0 };

		if (h.which == FINDINGS)
			return receive(a->from, buf_zero(&a->findings, h.n), h.n);
		pack = (struct packed){ .bytes = xmalloc(h.n), .n = h.n };
		vec_push(&a->reports.all, (struct made_report){ .which = h.which, .nrows = h.nrows, .pack = pack });
		if (!receive(a->from, pack.bytes, h.n))
			return false;
	}
	return false;
}

/* --- the process --- */

/* The parent reads the same files, so it says what is wrong with them. */
static void be_silent(void)
{
	int null = open("/dev/null", O_WRONLY | O_CLOEXEC);

	if (null >= 0)
		dup2(null, STDERR_FILENO);
}

__attribute__((noreturn)) static void run_child(struct page_ahead *a, int to)
{
	int err;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	be_silent();
	make_here(a);
	err = interrupt_pending() ? -EINTR : send_all(a, to);
	_exit(err ? 1 : 0);
}

void page_ahead_begin(struct page_ahead *a, const struct export *x)
{
	int fds[2];

	*a = (struct page_ahead){ .x = x, .from = -1 };
	if (parallel_parts() < 2 || pipe2(fds, O_CLOEXEC) < 0)
		return;
	a->child = fork();
	if (!a->child)
		run_child(a, fds[1]);
	close(fds[1]);
	a->from = fds[0];
}

static void end_child(struct page_ahead *a)
{
	if (a->child > 0) {
		kill(a->child, SIGKILL);
		while (waitpid(a->child, NULL, 0) < 0 && errno == EINTR)
			;
	}
	closep(&a->from);
	a->child = 0;
}

void page_ahead_end(struct page_ahead *a)
{
	bool made = a->from >= 0 && receive_all(a);

	end_child(a);
	if (made)
		return;
	free_made(a);
	a->made_here = true;
	make_here(a);
}

void page_ahead_free(struct page_ahead *a)
{
	end_child(a);
	free_made(a);
}
