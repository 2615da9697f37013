/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which features this kernel and these privileges allow. Each feature is tried; a failure is
 * described in words: what is missing, what is lost without it, what would enable it.
 */
#ifndef LOADERS_FEATURES_H
#define LOADERS_FEATURES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct feature {
	const char *name;    /* "clock events" */
	bool ok, required;
	bool naming;         /* recording works without it, but names are missing or wrong */
	char why[160];       /* if not ok: the kernel's reason */
	const char *cost;    /* what is lost without it */
	const char *remedy;  /* what would enable it */
};

/* Try all features, once; the rows stay valid until the program ends. */
const struct feature *features_probe(size_t *n);
/* The first required feature that is missing, or NULL. */
const struct feature *features_missing(void);
/*
 * Whether process IDs seen here are the host's, which the kernel records. False in a container
 * with its own PID namespace.
 */
bool features_host_numbers(void);
/*
 * Try only the features that names depend on, which is cheap, and call `missing` for each that
 * is missing. The row is valid during the call only.
 */
void features_naming(void (*missing)(void *ctx, const struct feature *f), void *ctx);

#endif
