/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The load: the command that er_kernel was asked to run. It is forked early and waits at a gate, a
 * pipe, until the recording has begun. It runs with the caller's own identity, signals and
 * descriptors.
 */
#ifndef USER_RECORD_LOAD_H
#define USER_RECORD_LOAD_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

struct diag;

struct load {
	pid_t pid;  /* 0: none */
	int pidfd;  /* readable for poll(2) when the load has ended; -1: none */
	int gate;   /* -1 once it is open */
	bool stop;  /* -x */
	bool ended;
	int status; /* for exit(): the load's own, or 128 + signal; valid once ended */
};

/* Check that the command exists and may be run. 0, or -errno after reporting. */
int load_check(char *const *argv, struct diag *d);
/* Fork the child, which waits at the gate. `mask` becomes its signal mask. 0 or -errno. */
int load_prepare(struct load *l, char *const *argv, bool stop, const sigset_t *mask, struct diag *d);
/* Open the gate. With `stop` the load is left stopped at its first instruction. */
int load_go(struct load *l, struct diag *d);
/* Take the exit status if the load has ended. `wait`: wait for that, or for a signal. */
void load_reap(struct load *l, bool wait);
/* Ends a load that is still behind the gate. A load that runs is left running. */
void load_fini(struct load *l);

#endif
