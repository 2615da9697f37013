/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The load command: a child that is forked early, waits behind a gate, and then
 * runs with the caller's own identity, signals and descriptors.
 */
#ifndef USER_RECORD_LOAD_H
#define USER_RECORD_LOAD_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

struct diag;

struct load {
	pid_t pid;  /* 0: none */
	int pidfd;  /* polls readable when the load has ended; -1: none */
	int gate;   /* -1 once it is open */
	bool stop;  /* -x */
	bool ended;
	int status; /* for exit(): the load's own, or 128 + signal; valid once ended */
};

/* Is there such a command, and may it be run? 0 or -errno after reporting. */
int load_check(char *const *argv, struct diag *d);
/* Fork the child, which waits; `mask` is the signal mask it shall have. 0 or -errno. */
int load_prepare(struct load *l, char *const *argv, bool stop, const sigset_t *mask, struct diag *d);
/* Open the gate. With `stop` the load is left stopped at its first instruction. */
int load_go(struct load *l, struct diag *d);
/* Take the exit status if there is one; `wait` waits for it (a signal ends the wait). */
void load_reap(struct load *l, bool wait);
/* A load that never went is ended; one that runs is left alone. */
void load_fini(struct load *l);

#endif
