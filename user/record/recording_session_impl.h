/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the parts of a session share; nobody else includes this. recording_session_begin.c
 * sets everything up and starts the capture; recording_session.c has the loop and the end.
 */
#ifndef USER_RECORD_RECORDING_SESSION_IMPL_H
#define USER_RECORD_RECORDING_SESSION_IMPL_H

#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "analysis/base/vec.h"
#include "analysis/experiment/usage.h"
#include "user/record/recorder_xml.h"
#include "user/record/recording.h"
#include "user/record/drain.h"
#include "user/record/follow.h"
#include "user/record/host.h"
#include "user/record/live.h"
#include "user/record/load.h"
#include "user/record/expname.h"
#include "user/record/schedule.h"
#include "user/record/control.h"
#include "loaders/capture.h"
#include "user/space/binaries.h"
#include "user/space/procmap.h"
#include "user/space/sideband.h"
#include "user/unwind/worker.h"

/* What is polled first; the load only if there is one. Then come the rings and the side band. */
enum { FD_SIGNAL, FD_LOAD };

struct recording_session {
	const struct plan *plan;
	struct diag *d;
	const struct expname *name;
	struct host host;
	struct load load;
	struct drops drops;
	struct follow follow;
	struct capture *capture;
	struct sideband *sideband;
	struct procmap *procmap;
	struct binaries *binaries;
	struct recording *recording;
	struct drain *drain;
	struct unwind_worker *worker; /* builds unwind tables; NULL: could not be started */
	size_t worker_at;             /* where it is in fds; its descriptor may become another */
	struct recorder_xml recorder_xml;
	struct exp_usage usage_base, usage_end; /* when time begins to count, and ceases to */
	struct live live;
	struct schedule due;
	struct control control;
	uint64_t start_ns, stop_ns; /* stop: 0 while time counts */
	uint64_t pumped_ns;         /* when records were last asked for */
	sigset_t signals, old_mask;
	int sigfd;
	int signal;                 /* the last that came; 0: none */
	bool capturing, over, interrupted, failed;
	VEC(struct pollfd) fds;
};

/* --- recording_session_begin.c --- */

/* Ending signals are blocked from here on, and read from sigfd. 0, or -errno after a message. */
int recording_session_take_signals(struct recording_session *s);
/*
 * Fork the load, open everything, and begin to record unless -t says later. 0, or
 * -1 after a message; the recording, if there is one by then, is the caller's to discard.
 */
int recording_session_begin(struct recording_session *s);
/* From here on time counts, and capabilities are given up. 0, or -1 after a message. */
int recording_session_capture(struct recording_session *s);

/* --- recording_session.c --- */

/* A usage sample: what the system has used since the beginning. */
void recording_session_sample(struct recording_session *s, const char *label);
/* Rewrite recorder.xml. */
void recording_session_recorder_xml(struct recording_session *s);
/*
 * While a batch is being written, which may take seconds: the rings to memory, for the
 * next pump, and the end of the recording when it is due. `ctx` is the session.
 */
void recording_session_meanwhile(void *ctx);

#endif
