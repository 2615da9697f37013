/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The load: the command that the recorder was asked to run. It is forked early and waits at a gate, a
 * pipe, until the recording has begun. It runs with the caller's own identity, signals and
 * descriptors. Or a process that runs already, whose end alone is of interest.
 */
#ifndef USER_RECORD_LOAD_H
#define USER_RECORD_LOAD_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct diag;
struct collector_server;
struct heap_server;

struct load {
	pid_t pid;  /* 0: none */
	int pidfd;  /* readable for poll(2) when the load has ended; -1: none */
	int gate;   /* -1 once it is open */
	unsigned how; /* of enum load_how */
	bool ended;
	int status; /* for exit(): the load's own, or 128 + signal; valid once ended */
	int signal; /* that ended it; 0: none */
	uint64_t cpu_ns; /* CPU time of it and of the processes that were waited for; once ended */
	const char *recorder; /* for messages; borrowed */
	void (*trapped)(void *ctx);
	void *ctx;
};

enum load_how {
	LOAD_STOP = 1 << 0, /* -x: leave it stopped */
	LOAD_JIT = 1 << 1,  /* --jit: its runtimes name their generated code */
};

/* The file that the command runs, which the caller frees; NULL: there is none that may be run. */
char *load_path(char *const *argv);
/* Check that the command exists and may be run. 0, -ENOENT or -EACCES after reporting. */
int load_check(char *const *argv, struct diag *d);

/* How to start a load. All is borrowed. */
struct load_start {
	const char *recorder; /* its name, for messages */
	char *const *argv;
	unsigned how;         /* enum load_how */
	const sigset_t *mask; /* becomes its signal mask */
	const struct heap_server *heap; /* traces its heap; NULL: nothing does */
	const struct heap_server *locks; /* counts the locks that it takes; NULL: nothing does */
	const struct collector_server *collector; /* takes its calls; NULL: nothing does */
	void (*trapped)(void *ctx); /* called when it has been executed, before its first instruction; NULL */
	void *ctx;
	const int *fds;       /* become its standard output and standard error; 0: as they are */
};

/* Fork the child, which waits at the gate. 0 or -errno. */
int load_prepare(struct load *l, const struct load_start *s, struct diag *d);
/* Watch a process that runs already. 0 or -errno. */
int load_attach(struct load *l, pid_t pid, struct diag *d);
/* Open the gate. With LOAD_STOP the load is left stopped at its first instruction. */
int load_go(struct load *l, struct diag *d);
/* Take the exit status if the load has ended. `wait`: wait for that, or for a signal. */
void load_reap(struct load *l, bool wait);
/* Ends a load that is still behind the gate. A load that runs is left running. */
void load_fini(struct load *l);

#endif
