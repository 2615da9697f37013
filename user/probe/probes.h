/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The probes of a recording (--probe, --probe-counts). */
#ifndef USER_PROBE_PROBES_H
#define USER_PROBE_PROBES_H

#include "analysis/base/vec.h"
#include "loaders/capture.h"
#include "user/probe/sites.h"

struct diag;

struct probe {
	struct probe_spec spec;
	struct probe_sites sites;
	bool counts_only;
	char *metric; /* its name in metric lists: letters, digits and _; unique */
	VEC(struct capture_probe_site) places; /* those of a function follow each other */
	uint32_t nfunctions;
};

typedef VEC(struct probe) probe_list;

/* Parse a SPEC and append the probe. Returns 0, or -1 after one sentence with the remedy. */
int probes_add(probe_list *l, const char *text, bool counts_only, struct diag *d);
/*
 * Find the places of all probes; `pids` are the recorded processes, n 0: all. Call it once, before
 * probes_capture. Returns 0, or -1 after one sentence with the remedy.
 */
int probes_find(probe_list *l, const pid_t *pids, size_t n, struct diag *d);
/* What the capture needs: an array of l->len that the caller frees. It borrows from the list. */
struct capture_probe *probes_capture(const probe_list *l);
/*
 * After capture_open: report what the kernel refused. Returns 0, or -1 after one sentence with the remedy, if no place
 * of a probe is left or it has no wildcards.
 */
int probes_refused(const probe_list *l, struct diag *d);
/* The number of places where the probe is. The ends of a function are one. */
size_t probe_nplaces(const struct probe *p);
void probes_free(probe_list *l);

#endif
