/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writers of experiments in a test's directory, and what they left there. */
#ifndef TESTS_EXPWRITER_FIXTURE_H
#define TESTS_EXPWRITER_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fcntl.h>

#include <cmocka.h>

#include "analysis/base/alloc.h"
#include "analysis/experiment/exp_packets.h"
#include "analysis/experiment/experiment.h"
#include "analysis/experiment/expwriter.h"
#include "tests/fixtures/tempdir.h"

static const struct exp_header header = {
	.collector = "c", .hostname = "h", .arch = "x86_64", .os = "Linux", .cwd = "/",
	.command = "a \"<b>\" 5%20%", .wordsize = 64, .start_ns = 5000000000,
};

/* A writer in the directory, which stays open in *dirfd. */
static inline struct expwriter *new_writer(const char *dir, const char *name, int *dirfd)
{
	struct expwriter *w = NULL;

	*dirfd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_int_equal(expwriter_create(*dirfd, name, &header, NULL, &w), 0);
	return w;
}

static inline void assert_has(const char *dir, const char *file, const char *expect)
{
	__cleanup(freep) char *text = tempdir_read(dir, file, NULL);

	if (!strstr(text, expect))
		fail_msg("%s lacks '%s': %s", file, expect, text);
}

static inline size_t count_packets(struct experiment *e)
{
	struct exp_stream *s = &e->streams.data[0];
	struct packet_iter it;
	struct packet p;
	size_t n = 0;

	for (packet_iter_init(&it, e, s); packet_next(&it, &p);)
		n++;
	packet_iter_report(&it, e, s);
	return n;
}

#endif
