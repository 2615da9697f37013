/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "user/record/follow.h"

#include <assert.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/alloc.h"
#include "analysis/base/regex.h"

void follow_init(struct follow *f, const struct plan *plan)
{
	__cleanup(freep) char *whole = NULL;

	*f = (struct follow){ .mode = plan->follow };
	/* Targets are few, and their own addresses are wanted. */
	if (f->mode == FOLLOW_SHARED && plan->targets.len)
		f->mode = FOLLOW_ALL;
	if (f->mode != FOLLOW_MATCHING)
		return;
	whole = xasprintf("^(%s)$", plan->follow_regexp);
	if (regex_compile(&f->re, whole))
		f->mode = FOLLOW_OFF;
}

void follow_fini(struct follow *f)
{
	if (f->mode == FOLLOW_MATCHING)
		regfree(&f->re);
	f->mode = FOLLOW_OFF;
}

/* A comm may contain any byte but NUL: keep those that are safe in a file name. */
void follow_stem(const struct image *im, char *ret, size_t size)
{
	char comm[sizeof(im->comm)];
	size_t i;

	for (i = 0; i < sizeof(comm) - 1 && im->comm[i]; i++) {
		unsigned char c = im->comm[i];

		comm[i] = isascii(c) && (isalnum(c) || strchr(".+-", c)) ? c : '_';
	}
	comm[i] = 0;
	snprintf(ret, size, "_%s_PID_%d", i ? comm : "unknown", im->pid);
}

bool follow_wants(const struct follow *f, const struct image *im)
{
	char pid[16], stem[64];
	const char *names[] = { im->comm, image_file(im), pid, stem, im->lineage ? im->lineage : "" };

	if (f->mode != FOLLOW_MATCHING)
		return f->mode != FOLLOW_OFF;
	snprintf(pid, sizeof(pid), "%d", im->pid);
	follow_stem(im, stem, sizeof(stem));
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (*names[i] && !regexec(&f->re, names[i], 0, NULL, 0))
			return true;
	}
	return false;
}
