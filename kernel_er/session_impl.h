/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the parts of a session share; nobody else includes this. session_begin.c
 * sets everything up and starts the capture; session.c has the loop and the end.
 */
#ifndef KERNEL_ER_SESSION_IMPL_H
#define KERNEL_ER_SESSION_IMPL_H

#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "analysis/base/vec.h"
#include "kernel_er/account.h"
#include "kernel_er/book.h"
#include "kernel_er/drain.h"
#include "kernel_er/follow.h"
#include "kernel_er/host.h"
#include "kernel_er/live.h"
#include "kernel_er/load.h"
#include "kernel_er/names.h"
#include "kernel_er/schedule.h"
#include "kernel_er/steer.h"
#include "loaders/capture.h"
#include "user/binaries.h"
#include "user/procmap.h"
#include "user/sideband.h"

/* What is polled first; the load only if there is one. Then come the rings and the side band. */
enum { FD_SIGNAL, FD_LOAD };

struct session {
	const struct plan *plan;
	struct diag *d;
	struct expname name;
	struct host host;
	struct load load;
	struct drops drops;
	struct follow follow;
	struct capture *capture;
	struct sideband *sideband;
	struct procmap *procmap;
	struct binaries *binaries;
	struct book *book;
	struct drain *drain;
	struct account account;
	struct exp_usage usage_base, usage_end; /* when time begins to count, and ceases to */
	struct live live;
	struct schedule due;
	struct steer steer;
	uint64_t start_ns, stop_ns; /* stop: 0 while time counts */
	uint64_t pumped_ns;         /* when records were last asked for */
	sigset_t signals, old_mask;
	int sigfd;
	bool capturing, over, interrupted, failed;
	VEC(struct pollfd) fds;
};

/* --- session_begin.c --- */

/* Ending signals are blocked from here on, and read from sigfd. 0, or -errno after a message. */
int session_take_signals(struct session *s);
/*
 * Fork the load, open everything, and begin to record unless -t says later. 0, or
 * -1 after a message; the book, if there is one by then, is the caller's to discard.
 */
int session_begin(struct session *s);
/* From here on time counts, and capabilities are given up. 0, or -1 after a message. */
int session_capture(struct session *s);

/* --- session.c --- */

/* A usage sample: what the system has used since the beginning. */
void session_sample(struct session *s, const char *label);
/* Rewrite recorder.xml. */
void session_account(struct session *s);
/*
 * While a batch is being written, which may take seconds: the rings to memory, for the
 * next pump, and the end of the recording when it is due. `ctx` is the session.
 */
void session_meanwhile(void *ctx);

#endif
