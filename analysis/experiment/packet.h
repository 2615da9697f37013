/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The packets of format 12.4, as tables: one row a field. From these rows come
 * the <field> elements of log.xml, the writer's layout, the reader's checks and
 * docs/format.md. Readers never trust them about a recorded experiment: there
 * the fields are those that its own log.xml describes.
 */
#ifndef EXPERIMENT_PACKET_H
#define EXPERIMENT_PACKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Values are on disk: never renumbered. */
enum er_packet {
	ER_PKT_EMPTY = 0,
	ER_PKT_PROF = 1, /* clock packets of old collectors: a field for each state */
	ER_PKT_SYNC = 2,
	ER_PKT_HWC = 3,
	ER_PKT_HEAP = 5,
	ER_PKT_MHWC = 7,
	ER_PKT_CLOCK = 8,
	ER_PKT_FRAME = 11,
	ER_PKT_UID = 17,
	ER_PKT_IO = 19,
	ER_PKT_WAIT = 64, /* ours: a clock packet of a time off a CPU, in the same file */
	ER_PKT_WAIT_SHORT = 65, /* the same without the last fields: fewest, */
	ER_PKT_WAIT_WOKEN = 66, /* with who woke, */
	ER_PKT_WAIT_HELD = 67,  /* and with who held */
	ER_PKT_CLOSED = 65535,
};

enum er_type { ER_INT32, ER_UINT32, ER_INT64, ER_UINT64, ER_STRING, ER_DOUBLE, ER_DATE };

struct field_desc {
	const char *name;  /* what filters call it */
	const char *uname; /* what people call it; NULL: not shown */
	uint16_t offset;   /* from the start of the packet, bytes */
	enum er_type type;
};

struct packet_desc {
	enum er_packet kind;
	const char *profile; /* the name of its <profile> element */
	const char *fname;   /* the file it is kept in */
	const char *uname;
	uint16_t size;
	const struct field_desc *fields;
	size_t nfields;
};

extern const struct packet_desc packet_descs[];
extern const size_t npacket_descs;

/* Whether packets of the kind are clock packets that tell of a time off a CPU. */
static inline bool is_wait_kind(unsigned kind)
{
	return kind >= ER_PKT_WAIT && kind <= ER_PKT_WAIT_HELD;
}

/* The row of a kind, or NULL. */
const struct packet_desc *packet_desc(enum er_packet kind);
/* "INT32" and so on, as log.xml spells it, and back (-1 for what it does not know). */
const char *er_type_name(enum er_type type);
int er_type_parse(const char *name);
/* Bytes a value takes; 0: a string, up to the end of the packet. */
size_t er_type_size(enum er_type type);

/* Why a thread was off the CPU: field REASON; values are on disk. */
enum er_reason {
	REASON_NONE = 0,   /* not known, or not recorded */
	REASON_DISK,       /* a block device */
	REASON_NETWORK,    /* a socket */
	REASON_PIPE,
	REASON_POLL,       /* poll, select, epoll: for any of several */
	REASON_TIMER,      /* slept on purpose */
	REASON_CHILD,      /* wait for a child, vfork */
	REASON_USER_LOCK,  /* futex */
	REASON_KERNEL_LOCK,
	REASON_FILE_LOCK,  /* flock, fcntl */
	REASON_RECLAIM,    /* memory was short */
	REASON_FAULT,      /* a page was brought in */
	REASON_WRITEBACK,  /* fsync, journal */
	REASON_THROTTLED,  /* the cgroup had used up its CPU time */
	REASON_PREEMPTED,  /* another thread was given the CPU */
	REASON_WOKEN,      /* could run, had to wait for a CPU */
	REASON_STOPPED,    /* a stop signal */
	REASON_TRACED,     /* its debugger */
	REASON_FROZEN,
	REASON_SIGNAL,     /* pause, sigwait */
	REASON_TTY,
	REASON_EVENT,      /* eventfd, inotify, signalfd, timerfd, fanotify */
	REASON_IPC,        /* System V and POSIX queues and semaphores */
	REASON_IO_URING,
	REASON_KERNEL_SYNC, /* a grace period, a completion, another CPU */
	REASON_NO_WORK,    /* a kernel thread or worker that has nothing to do */
	REASON_EXIT,
	REASON_OTHER,      /* looked at, and none of these */
	REASON_STOLEN,     /* had a CPU, and the hypervisor took it */
	REASON_STOLEN_IRQ, /* the hypervisor or an interrupt took it: the kernel keeps both apart */
	REASON_COUNT
};

struct reason_desc {
	enum er_reason reason;
	const char *name;  /* "DISK": what filters call it */
	const char *uname; /* "disk" */
};

extern const struct reason_desc reason_descs[REASON_COUNT]; /* by reason */

/* Field WFLAGS; values are on disk. */
enum er_wflag {
	WFLAG_TRACED = 1 << 0,     /* recorded for its length, not by a sample point */
	WFLAG_OPEN_START = 1 << 1, /* had begun before the recording */
	WFLAG_OPEN_END = 1 << 2,   /* had not ended when it did */
	WFLAG_IO = 1 << 3,         /* the scheduler counts it as waiting for I/O */
	WFLAG_WAKER_IRQ = 1 << 4,  /* woken from an interrupt, not WAKER's doing: it was come upon */
	WFLAG_REST = 1 << 5,       /* no single wait: what is left of the thread's exact total */
	WFLAG_STACK_EARLY = 1 << 6, /* the stack was taken when it left the CPU */
	WFLAG_WAKER_TIMER = 1 << 7, /* with WAKER_IRQ: the interrupt was a timer's that ran out */
};

/* Frames that stand for no code. As the last "pc" of a stack they say how it ended. */
#define ER_PC_TRUNCATED     ((uint64_t)-2)
#define ER_PC_UNWIND_FAILED ((uint64_t)-3)

#endif
