/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What this kernel and these privileges allow, found out by trying, and in
 * words: what is missing, what that costs, what would enable it.
 */
#ifndef LOADERS_FEATURES_H
#define LOADERS_FEATURES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct feature {
	const char *name;    /* "clock events" */
	bool ok, required;
	bool naming;         /* without it recordings are made, and lack names or show others' */
	char why[160];       /* when not ok: what the kernel said */
	const char *cost;    /* what is lost without it */
	const char *remedy;  /* what would enable it */
};

/* Try them all; the rows live until the program ends. */
const struct feature *features_probe(size_t *n);
/* The first required feature that is missing, or NULL: the one sentence for the user. */
const struct feature *features_missing(void);
/* Process numbers here are those that the kernel records: this is no container. */
bool features_host_numbers(void);
/* Try only those that names need, which costs next to nothing; tell of each that is missing. */
void features_naming(void (*missing)(void *ctx, const struct feature *f), void *ctx);

#endif
