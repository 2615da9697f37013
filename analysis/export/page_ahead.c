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

static void make_part(struct page_ahead *a, enum ahead_part part)
{
	if (part == AHEAD_REPORTS)
		make_fixed_reports(a->x, &a->reports);
	else
		put_findings(a->x, &a->findings);
}

static void free_part(struct page_ahead *a, enum ahead_part part)
{
	if (part == AHEAD_REPORTS)
		made_reports_free(&a->reports);
	else
		buf_free(&a->findings);
}

/* --- the pipe: a head before the bytes of each report, and of the findings, with which each process ends --- */

struct head {
	size_t which, nrows, n;
};

static const size_t FINDINGS = SIZE_MAX;

static int send_piece(int fd, struct head h, const void *bytes)
{
	int err = fd_write(fd, &h, sizeof(h));

	return err ? err : fd_write(fd, bytes, h.n);
}

static int send_all(const struct page_ahead *a, int fd)
{
	int err = 0;

	vec_for_each(r, &a->reports.all)
		err = err ? err : send_piece(fd, (struct head){ r->which, r->nrows, r->pack.n }, r->pack.bytes);
	return err ? err : send_piece(fd, (struct head){ FINDINGS, 0, a->findings.len }, a->findings.data);
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

/* Whether all has come that this process makes. */
static bool receive_all(struct page_ahead *a, int from)
{
	struct head h;

	while (receive(from, &h, sizeof(h))) {
		struct packed pack = { 0 };

		if (h.which == FINDINGS)
			return !h.n || receive(from, buf_zero(&a->findings, h.n), h.n);
		pack = (struct packed){ .bytes = xmalloc(h.n), .n = h.n };
		vec_push(&a->reports.all, (struct made_report){ .which = h.which, .nrows = h.nrows, .pack = pack });
		if (!receive(from, pack.bytes, h.n))
			return false;
	}
	return false;
}

/* --- the processes --- */

/* The parent reads the same files, so it says what is wrong with them. */
static void be_silent(void)
{
	int null = open("/dev/null", O_WRONLY | O_CLOEXEC);

	if (null >= 0)
		dup2(null, STDERR_FILENO);
}

__attribute__((noreturn)) static void run_child(struct page_ahead *a, enum ahead_part part, int to)
{
	int err;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	be_silent();
	make_part(a, part);
	err = interrupt_pending() ? -EINTR : send_all(a, to);
	_exit(err ? 1 : 0);
}

static void begin_child(struct page_ahead *a, enum ahead_part part)
{
	struct ahead_process *p = &a->processes[part];
	int fds[2];

	if (pipe2(fds, O_CLOEXEC) < 0)
		return;
	p->pid = fork();
	if (!p->pid)
		run_child(a, part, fds[1]);
	close(fds[1]);
	p->from = fds[0];
}

void page_ahead_begin(struct page_ahead *a, const struct export *x)
{
	*a = (struct page_ahead){ .x = x };
	for (int part = 0; part < AHEAD_PARTS; part++) {
		a->processes[part].from = -1;
		if (parallel_parts() > 1)
			begin_child(a, part);
	}
}

static void end_child(struct ahead_process *p)
{
	if (p->pid > 0) {
		kill(p->pid, SIGKILL);
		while (waitpid(p->pid, NULL, 0) < 0 && errno == EINTR)
			;
	}
	closep(&p->from);
	p->pid = 0;
}

void page_ahead_end(struct page_ahead *a)
{
	for (int part = 0; part < AHEAD_PARTS; part++) {
		struct ahead_process *p = &a->processes[part];
		bool made = p->from >= 0 && receive_all(a, p->from);

		end_child(p);
		if (made)
			continue;
		free_part(a, part);
		a->made_here = true;
		make_part(a, part);
	}
}

void page_ahead_free(struct page_ahead *a)
{
	for (int part = 0; part < AHEAD_PARTS; part++) {
		end_child(&a->processes[part]);
		free_part(a, part);
	}
}
