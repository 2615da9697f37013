/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Attaches BPF programs to places in user code. Where the kernel has links for many places (Linux 6.6
 * to 6.10, by their updates), all places of a file share one. Then the kernel waits once until no CPU
 * runs the program, not once for each place. On other kernels each place is a perf event of the uprobe
 * unit with a link of its own; those take one descriptor each.
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
	bool refused;       /* set by uprobes_attach: the kernel puts no breakpoint on this instruction */
};

struct bpf_program;
struct uprobes;

/* Call it before loading a program with SEC "uprobe", which uprobes_attach shall attach. */
void uprobes_prepare(struct bpf_program *prog);
/*
 * Attach the program `prog`, a descriptor, to the sites and add the links to *u, which is made if it is
 * NULL. pid -1: in all processes, those that start later included; else in this one, but not in its
 * children. Sites on instructions that the kernel refuses are left out and marked; with a pid only if the
 * process has mapped the file. Returns 0, or -errno; *bad is then the site that failed, and some sites stay
 * attached.
 */
int uprobes_attach(struct uprobes **u, int prog, struct uprobe_site *sites, size_t n, pid_t pid, size_t *bad);
/*
 * The same for a tracepoint of the kernel, by its id; `prog` has SEC "tp". Runs on all CPUs.
 */
int uprobes_attach_tracepoint(struct uprobes **u, int prog, int id, uint64_t cookie);
/*
 * Raise the semaphores of the sites in this process until the detachment, without a program: places
 * that are reached only cost their breakpoints. 0 or -errno.
 */
int uprobes_raise(struct uprobes **u, const struct uprobe_site *sites, size_t n, pid_t pid);
/*
 * Whether sites that are in one process only stay there when it begins to run a set-user-id program. The
 * kernel then takes perf events away, and with them the sites.
 */
bool uprobes_survive_setuid(void);
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
