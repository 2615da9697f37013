/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Attaches BPF programs to places in user code. Each place is a perf event of the kernel's uprobe
 * unit with the program's link on it, which every kernel from 5.15 has. Links take one descriptor
 * each.
 */
#ifndef LOADERS_UPROBES_H
#define LOADERS_UPROBES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct uprobe_site {
	int fd;             /* the binary; borrowed, open until the site is attached */
	uint64_t offset;    /* of the instruction, in the file */
	uint64_t semaphore; /* offset of the 16-bit counter that says whether a probe is attached; 0: none */
	bool ret;           /* run the program when the function returns */
	uint64_t cookie;    /* what bpf_get_attach_cookie returns */
};

struct uprobes;

/*
 * Attach the program `prog` (a descriptor of a program with SEC "uprobe" or "uretprobe") to the
 * sites and add the links to *u, which is made if it is NULL. pid -1: in all processes, those that
 * start later included; else in this one, but not in its children. Returns 0, or -errno; *bad is
 * then the site that failed, and those before it stay attached.
 */
int uprobes_attach(struct uprobes **u, int prog, const struct uprobe_site *sites, size_t n, pid_t pid,
		   size_t *bad);
/*
 * The same for a tracepoint of the kernel, by its id; `prog` has SEC "tp". Runs on all CPUs.
 */
int uprobes_attach_tracepoint(struct uprobes **u, int prog, int id, uint64_t cookie);
/* Why a place was refused and what to do, for the text of a message; err > 0. */
const char *uprobes_why(int err);
/*
 * Runs of the program that the kernel left out, because it ran on the CPU already. From the
 * kernel's own count; 0 also if it does not tell.
 */
uint64_t uprobes_missed(int prog);
/* Detach all. The kernel takes its breakpoints back. NULL is allowed. */
void uprobes_detach(struct uprobes *u);

#endif
