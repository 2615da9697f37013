/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Shared by the parts of a session only. recording_session_begin.c sets everything up and starts
 * the capture; recording_session.c has the loop and the end.
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
#include "user/record/collector_server.h"
#include "user/record/drain.h"
#include "user/record/clock_events.h"
#include "user/record/task_events.h"
#include "user/record/follow.h"
#include "user/record/heap_server.h"
#include "user/record/heap_unseen.h"
#include "user/record/host.h"
#include "user/record/live.h"
#include "user/record/load.h"
#include "user/record/expname.h"
#include "user/record/retain.h"
#include "user/record/span_set.h"
#include "user/record/schedule.h"
#include "user/record/control.h"
#include "user/record/status.h"
#include "user/record/statusfile.h"
#include "user/record/target_ends.h"
#include "user/ctl/server.h"
#include "loaders/capture.h"
#include "loaders/task_perf.h"
#include "user/space/binaries.h"
#include "user/space/procmap.h"
#include "user/space/sideband.h"
#include "user/unwind/tablecache.h"
#include "user/unwind/tablesource.h"
#include "user/unwind/worker.h"

/* The first entries of `fds`; FD_LOAD only if there is a load. Rings and side band follow. */
enum { FD_SIGNAL, FD_LOAD };

/* What the earlier segments of the recording have, for its status. */
struct earlier {
	struct record_counts counts;
	uint64_t bytes, paused_ns;
};

struct recording_session {
	const struct plan *plan;
	struct diag *d;
	const struct expname *asked;  /* of the first segment, or of the flight recorder */
	const struct expname *name;   /* of this segment */
	struct expname rolled;        /* what `name` points to after the first segment, or in memory */
	struct flight *flight;        /* NULL: the recording goes to disk at once */
	struct retain *retain;        /* NULL: the recording has one segment */
	size_t nsegments;             /* that are complete */
	size_t nunarchived;           /* of these: archives could not be written */
	struct earlier earlier;       /* the sums of these */
	uint64_t roll_after_ns;       /* not before: the last attempt failed */
	struct host host;
	struct load load;
	struct drops drops;           /* of this segment */
	struct drops drops_base;      /* sums in procmap and side band up to this segment */
	struct follow follow;
	struct capture *capture;
	struct sideband *sideband;
	struct procmap *procmap;
	struct binaries *binaries;
	struct recording *recording;
	struct drain *drain;
	struct heap_server *heap;     /* -H, or the plan has timers; NULL: neither */
	struct heap_unseen *unseen;   /* NULL: no heap is traced by breakpoints that children inherit */
	struct heap_server *locks;    /* counts of locks; NULL: there are none */
	struct collector_server *collector; /* calls of the load and of targets; NULL: there are none */
	struct clock_events *clock;   /* NULL: the plan has no timers */
	struct task_perf *perf;       /* NULL: the plan has no perf events … */
	struct task_events *tasks;    /* … that records are made from */
	size_t perf_at, nperf;        /* the place of their descriptors in fds */
	struct span_set *spans;          /* NULL: there are none */
	struct unwind_worker *worker; /* reads others' files; NULL: could not be started */
	struct table_source *tables;  /* NULL: there are no stacks */
	size_t tables_at;             /* the index of its descriptors in fds; they may change */
	struct recorder_xml recorder_xml;
	struct exp_usage usage_base, usage_end; /* at the begin and the end of the capture */
	struct live live;
	struct schedule due;
	struct ctl_server *ctl;       /* NULL: there is no control socket */
	size_t ctl_at;                /* its index in fds */
	struct target_ends target_ends; /* of er_kernel's -P and -T */
	size_t target_ends_at;        /* the index of the first in fds */
	size_t collector_at;          /* the same of `collector` */
	size_t pressure_at;           /* the index of the first of PRESSURE_COUNT */
	char *path;                   /* of the experiment, or of dumps ("…/stem.N"); absolute */
	struct statusfile *statusfile; /* NULL: none is wanted */
	struct control control;
	uint64_t first_ns;          /* start of the first segment */
	uint64_t start_ns, stop_ns; /* of this one; stop: 0 while the capture runs */
	uint64_t pumped_ns;         /* when records were last taken from the rings */
	sigset_t signals, old_mask;
	int sigfd;
	int signal;                 /* the last ending signal that came; 0: none */
	unsigned samples_asked, toggles_asked; /* by signals (-l, -y), and not done yet */
	bool dump_asked;            /* the same (--dump-on) */
	bool capturing, detached, over, interrupted, failed;
	bool said_tight;            /* one segment takes more than --keep */
	bool said_removed;          /* segments were removed because the disk was full */
	bool orphaned;              /* the program has ended, and its descendants go on */
	VEC(struct pollfd) fds;
};

/* --- recording_session_begin.c --- */

/* Block the signals that end a recording; sigfd reports them. 0, or -errno after a message. */
int recording_session_take_signals(struct recording_session *s);
/*
 * Fork the load, open everything, and start the capture unless -t delays it. Returns 0, or -1 after
 * a message. After a failure the caller discards the recording if s->recording is set.
 */
int recording_session_begin(struct recording_session *s);
/* Set s->path, which the status shows. */
void recording_session_set_path(struct recording_session *s);
/*
 * Make the experiment. Another recorder may have taken its name since it was chosen: then this one takes the next
 * number. 0, or -errno after reporting.
 */
int recording_session_create(struct recording_session *s);
/* Start the capture and give up capabilities. 0, or -1 after a message. */
int recording_session_capture(struct recording_session *s);

/* --- recording_session_control.c --- */

/*
 * Take no records from now on, or take them again, and say so in the experiment. Nothing happens if
 * that is the state already. 0, or -1 after a message: the recording cannot go on.
 */
int recording_session_pause(struct recording_session *s);
int recording_session_resume(struct recording_session *s);
/* The length of all pauses up to this time, which is not before the last one ended, in ns. */
uint64_t recording_session_paused_ns(const struct recording_session *s, uint64_t time_ns);
/* The status of the recording: all segments together. */
void recording_session_status(struct recording_session *s, uint64_t time_ns, struct status *ret);
/* This segment is complete: from now on it is one of the earlier ones. */
void recording_session_add_earlier(struct recording_session *s);
/* Do what the control socket, the load's calls and signals have asked for. */
void recording_session_serve(struct recording_session *s);
void recording_session_called(struct recording_session *s);
void recording_session_obey(struct recording_session *s);

/* --- recording_session_load.c --- */

/* Open the servers of the libraries that are loaded into the program. 0, or -1 after a message. */
int recording_session_open_libraries(struct recording_session *s);
/* Those whose own calls I/O tracing leaves out. Returns how many there are. */
size_t recording_session_libraries(const struct recording_session *s, struct capture_library ret[ER_IO_LIBRARIES]);
/* The load is known. If nothing else is recorded, the libraries are for nobody else. */
void recording_session_aim_libraries(struct recording_session *s);

/*
 * Read a signal. True if one came that ends the recording. Those with other meanings are noted for
 * later, and those for the program are passed on.
 */
bool recording_session_signalled(struct recording_session *s);
/*
 * Find out by the first nfds descriptors whether the load or all targets have ended, and end the recording
 * with them. It stops polling the descriptors of what has ended, because these stay readable.
 */
void recording_session_look_at_ends(struct recording_session *s, size_t nfds);
/* End with the targets, if nothing else is recorded. Call it when s->fds has all other descriptors. */
void recording_session_watch_targets(struct recording_session *s);
/* Whether threads of the program's family still run. */
bool recording_session_has_descendants(const struct recording_session *s);
/* Give rings to the libraries in the load that ask for one, and note how far the rings are filled. */
void recording_session_mark_libraries(struct recording_session *s);
/* Count what these libraries could not record. */
void recording_session_library_drops(struct recording_session *s);
/* Say what the library in the load could not record, if there is much of that. Call it at the end. */
void recording_session_say_untold(struct recording_session *s);
/*
 * The recording is over: let the load go on by itself, and wait for it. A signal ends the wait.
 * Returns its exit status; 0: there is none.
 */
int recording_session_await_load(struct recording_session *s);

/* --- recording_session.c --- */

/* Write a usage sample: what the system has used since the capture began. */
void recording_session_sample(struct recording_session *s, const char *label);
/* Rewrite recorder.xml. */
void recording_session_recorder_xml(struct recording_session *s);
void recording_session_put_sample(struct recording_session *s, struct exp_usage u,
				  const char *label);
/* Turn the records in the rings into packets. */
void recording_session_pump(struct recording_session *s);
/* Write to disk; after a failure the recording is over, with a message. */
void recording_session_flush(struct recording_session *s);
/* Report the error -err of writing, and end the recording; `what` is what comes of it. */
void recording_session_say_unwritten(struct recording_session *s, int err, const char *what);
void recording_session_say_losses(const struct recording_session *s);
/* What -L leaves for archives, in bytes, beside so many recorded. */
uint64_t recording_session_room(const struct recording_session *s, uint64_t recorded);
/*
 * Called while a batch is being written, which may take seconds. Copies the rings to memory for
 * the next pump, and ends the recording when that is due. `ctx` is the session.
 */
void recording_session_meanwhile(void *ctx);

/* --- recording_session_roll.c --- */

/* The last segment has ended. Keep to the quota; if it could not be written, the one before stays, too. */
void recording_session_retain_last(struct recording_session *s);
/*
 * The disk is full: remove the oldest complete segment of --keep, and say so the first time. Also gives
 * a flight recorder memory. False: nothing can be removed. `ctx` is the session.
 */
bool recording_session_make_room(void *ctx);
/*
 * Write the archives of this segment, as binaries_archive does. If the disk is full, older segments make
 * room for them. A flight recorder's dump is good without archives: no room for them is no error.
 */
int recording_session_archive(struct recording_session *s, uint64_t room, const volatile int *stop,
			      struct diag *d);
/* At the end: a warning that counts the segments whose archives could not be written, if that was more than one. */
void recording_session_say_unarchived(struct recording_session *s);
/* The first segment exists, and more will follow. */
void recording_session_roll_begin(struct recording_session *s);
/* Go on in the next segment if that is due, and keep to the quota. */
void recording_session_roll(struct recording_session *s, uint64_t t);
/* Go on in the next segment now. False, after a message, if it cannot be made. */
bool recording_session_next(struct recording_session *s, uint64_t t);
/* For callers that write much at once: empties the rings. `ctx` is the session. */
void recording_session_relieve(void *ctx);
/* When it is due, close files that are not needed any more: those that are not written, and unmapped programs. */
void recording_session_close_files(struct recording_session *s, uint64_t t);

/* --- recording_session_flight.c --- */

/* Make the memory of --flight, where segments go from now on. 0, or -1 after a message. */
int recording_session_flight_open(struct recording_session *s);
/* Call it when the first segment exists. */
void recording_session_flight_begin(struct recording_session *s);
void recording_session_flight_free(struct recording_session *s);
/*
 * True if there is a flight recorder and a write failed with -ENOSPC. The recording then goes on,
 * but all that is in memory will be dropped. The first time this is reported.
 */
bool recording_session_flight_full(struct recording_session *s, int err);
/* True if that has happened: complete segments are dropped now, the present one has to end. */
bool recording_session_flight_restarts(struct recording_session *s);
/* The present segment has ended, and its files are complete. Remembers it in s->retain, too. */
void recording_session_flight_add(struct recording_session *s, uint64_t end_ns);
/* Remove the oldest segment for lack of memory. False: there are fewer than two. */
bool recording_session_flight_drop(struct recording_session *s);
/*
 * The next segment cannot be created for lack of memory: remove the oldest one, lend it the memory
 * that is reserved for this, or remove the last one. False: there is nothing left to give.
 */
bool recording_session_flight_make_room(struct recording_session *s);
/* Remove the segments that the window does not need, and the oldest if memory gets short. */
void recording_session_flight_trim(struct recording_session *s, uint64_t t);
/* Bytes of memory that archives may still take. */
uint64_t recording_session_flight_room(const struct recording_session *s);
/*
 * Write what is in memory to disk. `reason` is a clause: "by command". Returns 0 and appends the
 * path of the dump's group, or -1 and appends a sentence. A dump that was tried and failed is
 * reported, too. The recording goes on in either case.
 */
int recording_session_dump(struct recording_session *s, const char *reason, struct buf *reply);
/*
 * Ask the kernel to watch the pressure that --dump-on names. 0, or -1 after a message. Then
 * recording_session_flight_fd has the descriptor of each, which polls POLLPRI, or -1.
 */
int recording_session_flight_watch(struct recording_session *s);
int recording_session_flight_fd(const struct recording_session *s, enum pressure what);
/* A limit was exceeded: write a dump, but none in a pause or in the cooldown after such a dump. */
void recording_session_flight_pressed(struct recording_session *s, enum pressure what);
/* The signal of --dump-on has come. */
void recording_session_flight_signalled(struct recording_session *s);
/* The last segment is complete: write a dump if --dump-on end asks for it. */
void recording_session_flight_end(struct recording_session *s);
void recording_session_flight_status(const struct recording_session *s, uint64_t t,
				     struct status *ret);
/* The path of dumps for people, "dir/stem.N". The caller frees it. */
char *recording_session_flight_path(const struct recording_session *s);

#endif
