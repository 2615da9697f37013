/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The recorder's side of heap tracing (-H): gives each process of the load that has the library
 * er_heap.so a ring (user/preload/heap_ring.h), and reads the rings. The same for the other libraries.
 * A process is known by what the kernel says of its socket. What it writes into its ring is not
 * trusted: a slot is copied before it is checked, and a process can only spoil its own data.
 */
#ifndef USER_RECORD_HEAP_SERVER_H
#define USER_RECORD_HEAP_SERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "loaders/capture.h"
#include "user/record/heap_slots.h"

struct diag;
struct heap_server;
struct uprobes;

/*
 * What a server without BPF says of processes, in the order of time: a process has begun to run a
 * program, its parent's or one of its own; it waits until the function returns. Or it has ended,
 * after all of its records. `parent` is what the process says.
 */
struct heap_processes {
	bool (*began)(void *ctx, pid_t pid, pid_t parent, bool forked); /* false: it gets no ring */
	void (*ended)(void *ctx, pid_t pid);
	void *ctx;
};

/*
 * Listen. interval_ns is for HEAP_CLOCK. Returns NULL after a message. The environment of the load
 * needs heap_server_environment.
 */
struct heap_server *heap_server_open(enum heap_mode mode, uint64_t interval_ns, struct diag *d);
/* Only this process gets a ring, and neither its environment nor that of its children shall show the library. */
void heap_server_aim(struct heap_server *s, pid_t pid);
/*
 * HEAP_LOCKS: a process that runs already, and those that it creates, may ask for rings, too. 0, or -errno:
 * -EADDRINUSE if another recorder has attached to it. Its library looks for the server while `raised` is kept
 * (heap_server_keep).
 */
int heap_server_attach(struct heap_server *s, pid_t pid);
/* Keep what makes the process call, until the server stops, and take ownership. NULL: nothing. */
void heap_server_keep(struct heap_server *s, struct uprobes *raised);
/* From now on tell of processes. NULL: do not. */
void heap_server_tell(struct heap_server *s, const struct heap_processes *tell);
/*
 * How many processes that have a ring still run. A forked child that has not asked for its ring yet
 * counts for a second.
 */
unsigned heap_server_living(struct heap_server *s);
void heap_server_close(struct heap_server *s); /* NULL: nothing */
/* A descriptor that is readable when heap_server_accept or heap_server_take is due. */
int heap_server_fd(const struct heap_server *s);
/* Set LD_PRELOAD and the library's variable of this process: the load's, before its exec. 0 or -errno. */
int heap_server_environment(const struct heap_server *s);
/* How I/O tracing knows the library's own calls. Valid until the server is closed. */
struct capture_library heap_server_library(const struct heap_server *s);
/* Give rings to the processes that ask for one. Never waits. */
void heap_server_accept(struct heap_server *s);
/*
 * Note how far the rings are filled. The next heap_server_take reads up to there. In between the
 * caller brings what it knows of mappings up to date.
 */
void heap_server_mark(struct heap_server *s);
/*
 * Hand on at most `most` slots of each ring; with `last` all, see heap_reader_read. With HEAP_LOCKS the
 * counts of a process are read each second, and when it has ended.
 */
void heap_server_take(struct heap_server *s, const struct heap_sink *sink, size_t most, bool last);
/* HEAP_LOCKS: the next heap_server_take reads all counts. */
void heap_server_hurry(struct heap_server *s);
/* Stacks were forgotten: the processes send all of them again. */
void heap_server_resend(struct heap_server *s);
/* The recording ends: the processes write no more, and no ring is given. */
void heap_server_stop(struct heap_server *s);
struct heap_counts heap_server_counts(const struct heap_server *s);

#endif
