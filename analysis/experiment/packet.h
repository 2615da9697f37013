/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The packets of format 12.4 as tables, one row a field. The <field> elements of
 * log.xml, the writer's layout, the reader's checks and docs/format.md follow these
 * rows. To read a recorded experiment the fields described in its own log.xml are used,
 * never these.
 */
#ifndef EXPERIMENT_PACKET_H
#define EXPERIMENT_PACKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The values are on disk: never renumber them. */
enum er_packet {
	ER_PKT_EMPTY = 0,
	ER_PKT_PROF = 1, /* clock packets of old collectors: one field a state */
	ER_PKT_SYNC = 2,
	ER_PKT_HWC = 3,
	ER_PKT_HEAP = 5,
	ER_PKT_MHWC = 7,
	ER_PKT_CLOCK = 8,
	ER_PKT_FRAME = 11,
	ER_PKT_UID = 17,
	ER_PKT_IO = 19,
	ER_PKT_WAIT = 64, /* ours: a clock packet of time off a CPU, in the same file */
	ER_PKT_WAIT_SHORT = 65, /* as WAIT, with the fewest fields */
	ER_PKT_WAIT_WOKEN = 66, /* as WAIT, ends after the waker */
	ER_PKT_WAIT_HELD = 67,  /* as WAIT, ends after the holder */
	ER_PKT_SPAN = 70,       /* one call of a named span (span.h) */
	ER_PKT_PROBE = 71,      /* a hit of a probe; PROBE is its tag in log.xml */
	ER_PKT_LOCKS = 72,      /* how often a thread took a lock (-s all) */
	/*
	 * Ours: clock packets in fewer bytes, in the same file. MAIN: THRID is LWPID, and of a waker and a
	 * holder thread and process are equal. USER: without MSTATE, which is 0.
	 */
	ER_PKT_USER = 80,
	ER_PKT_MAIN = 81,
	ER_PKT_THREAD_USER = 82,
	ER_PKT_MAIN_WAIT = 83,   /* + PACKED_… */
	ER_PKT_THREAD_WAIT = 87, /* + PACKED_… */
	/* The only kinds with a goroutine of Go. */
	ER_PKT_GO_WAIT = 91,     /* has all fields */
	ER_PKT_GO_USER = 92,
	ER_PKT_GO = 93,
	ER_PKT_CLOSED = 65535,
};

/* Added to MAIN_WAIT and THREAD_WAIT: the packet has the waker, and its holder. */
enum { PACKED_WOKEN = 1, PACKED_HELD = 2 };
enum { PACKED_FIRST = ER_PKT_USER, PACKED_KINDS = 14 };

enum er_type { ER_INT32, ER_UINT32, ER_INT64, ER_UINT64, ER_STRING, ER_DOUBLE, ER_DATE };

struct field_desc {
	const char *name;  /* name in filters */
	const char *uname; /* name in reports; NULL: not shown */
	uint16_t offset;   /* bytes from the start of the packet; 0: packets of this kind lack it */
	enum er_type type;
};

struct packet_desc {
	enum er_packet kind;
	/*
	 * Name of its <profile> element. gprofng rejects the whole log if it does not know the
	 * name. A kind of ours has "omptrace", which gprofng accepts and then ignores.
	 */
	const char *profile;
	const char *fname;   /* its file */
	const char *uname;   /* in log.xml and `header` */
	const char *title;   /* of its metrics, in `overview` */
	const char *word;    /* for the data, in `describe` */
	uint16_t size;
	const struct field_desc *fields;
	size_t nfields;
};

extern const struct packet_desc packet_descs[];
extern const size_t npacket_descs;

/*
 * How records of each kind are counted. recorder.xml has an element for each CPU, with the numbers
 * of records produced, recorded and lost. Packets have the record's number in SEQ.
 */
enum er_ring {
	ER_RING_CLOCK, ER_RING_WAIT, ER_RING_TOTAL, ER_RING_COUNTER, ER_RING_SPAN, ER_RING_PROBE, ER_RING_IO,
	ER_RINGS
};

struct ring_desc {
	const char *element;
	const char *one, *many;  /* "sample", "samples"; NULL: not shown */
	enum er_packet packet;   /* the packet that has the number; EMPTY: none */
};

extern const struct ring_desc ring_descs[ER_RINGS];

/* Whether the kind is a clock packet in fewer bytes, whose fields have places of their own. */
static inline bool is_packed_kind(unsigned kind)
{
	return kind - PACKED_FIRST < PACKED_KINDS;
}

/* Whether packets of the kind are clock packets of time off a CPU. */
static inline bool is_wait_kind(unsigned kind)
{
	return (kind >= ER_PKT_WAIT && kind <= ER_PKT_WAIT_HELD) ||
	       (kind >= ER_PKT_MAIN_WAIT && kind <= ER_PKT_GO_WAIT);
}

/* Whether packets of the kind are clock packets, of time on a CPU or off it. */
static inline bool is_clock_kind(unsigned kind)
{
	return kind == ER_PKT_CLOCK || is_wait_kind(kind) || is_packed_kind(kind);
}

/* The row of a kind; NULL: unknown kind. */
const struct packet_desc *packet_desc(enum er_packet kind);
/* The type's name in log.xml ("INT32" …), and back; -1: unknown name. */
const char *er_type_name(enum er_type type);
int er_type_parse(const char *name);
/* Bytes a value takes; 0: a string that extends to the end of the packet. */
size_t er_type_size(enum er_type type);

/* Field REASON: why a thread was off the CPU. The values are on disk. */
enum er_reason {
	REASON_NONE = 0,   /* unknown or not recorded */
	REASON_DISK,       /* a block device */
	REASON_NETWORK,    /* a socket */
	REASON_PIPE,
	REASON_POLL,       /* poll, select, epoll: any of several files */
	REASON_TIMER,      /* sleeping on purpose */
	REASON_CHILD,      /* waiting for a child; vfork */
	REASON_USER_LOCK,  /* futex */
	REASON_KERNEL_LOCK,
	REASON_FILE_LOCK,  /* flock, fcntl */
	REASON_RECLAIM,    /* memory reclaim */
	REASON_FAULT,      /* page fault */
	REASON_WRITEBACK,  /* fsync, journal */
	REASON_THROTTLED,  /* the cgroup used up its CPU time */
	REASON_PREEMPTED,  /* another thread was given the CPU */
	REASON_WOKEN,      /* runnable, waiting for a CPU */
	REASON_STOPPED,    /* a stop signal */
	REASON_TRACED,     /* stopped by its debugger */
	REASON_FROZEN,
	REASON_SIGNAL,     /* pause, sigwait */
	REASON_TTY,
	REASON_EVENT,      /* eventfd, inotify, signalfd, timerfd, fanotify */
	REASON_IPC,        /* System V and POSIX queues and semaphores */
	REASON_IO_URING,
	REASON_KERNEL_SYNC, /* a grace period, a completion, another CPU */
	REASON_NO_WORK,    /* idle kernel thread or worker */
	REASON_EXIT,
	REASON_OTHER,      /* examined, none of these */
	REASON_STOLEN,     /* had the CPU, but the hypervisor took it */
	REASON_STOLEN_IRQ, /* hypervisor or interrupts: the kernel accounts interrupts apart */
	REASON_RUNTIME_IDLE, /* an idle worker of a language runtime: not recorded, its stack tells (model/atrest.h) */
	REASON_COUNT
};

struct reason_desc {
	enum er_reason reason;
	const char *name;  /* "DISK": in filters */
	const char *uname; /* "disk" */
};

extern const struct reason_desc reason_descs[REASON_COUNT]; /* by reason */

/* Whether a thread that waits for this reason waits for nobody: it sleeps, or has nothing to do. */
static inline bool reason_is_rest(int64_t reason)
{
	return reason == REASON_TIMER || reason == REASON_NO_WORK || reason == REASON_RUNTIME_IDLE;
}

/* Field SEQ of a packet that has another CPU than its record was numbered on. */
#define SEQ_NONE UINT32_MAX

/* Field WFLAGS. The values are on disk. */
enum er_wflag {
	WFLAG_TRACED = 1 << 0,     /* recorded because of its length, not by a sample point */
	WFLAG_OPEN_START = 1 << 1, /* began before the recording */
	WFLAG_OPEN_END = 1 << 2,   /* had not ended when the recording ended */
	WFLAG_IO = 1 << 3,         /* the scheduler counts it as I/O wait */
	WFLAG_WAKER_IRQ = 1 << 4,  /* woken from an interrupt; WAKER was merely interrupted */
	WFLAG_REST = 1 << 5, /* synthetic: remainder of the thread's exact total, not one wait */
	WFLAG_STACK_EARLY = 1 << 6, /* stack taken when the thread left the CPU */
	WFLAG_WAKER_TIMER = 1 << 7, /* with WAKER_IRQ: the interrupt was an expired timer */
	WFLAG_CONTINUED = 1 << 8,  /* counts no wait: the segment before has, or the packet before (MORE) */
	WFLAG_MORE = 1 << 9,       /* has more of the weight of the packet before, whose NTICK is INT32_MAX */
};

/* Field SPANFLAGS. The values are on disk. The first six say how the span began and ended. */
enum er_span_flag {
	SPAN_RETURNED = 1 << 0,    /* ended as its name says: return, or the second function or probe */
	SPAN_THREAD_END = 1 << 1,  /* ended with its thread */
	SPAN_EXEC = 1 << 2,        /* ended by an exec */
	SPAN_LEFT = 1 << 3,        /* left by longjmp or an exception; its end was noticed later */
	SPAN_OPEN_START = 1 << 4,  /* began before the recording, and counts from its start */
	SPAN_OPEN_END = 1 << 5,    /* had not ended when the recording ended */
	SPAN_SPLIT = 1 << 6,       /* SPANUSER and SPANSYSTEM are valid, and exact */
	SPAN_SAMPLED = 1 << 7,     /* recorded as a sample of the calls, whatever its length */
	SPAN_OVER = 1 << 8,        /* at least as long as the threshold, so surely recorded */
};

enum { SPAN_ARGS = 4 };

/* Field LOCKKIND. The values are on disk. */
enum er_lock {
	ER_LOCK_UNKNOWN = 0,
	ER_LOCK_MUTEX,
	ER_LOCK_READ,      /* an rwlock, by a reader */
	ER_LOCK_WRITE,     /* the same by a writer */
	ER_LOCK_SPIN,
	ER_LOCK_SEMAPHORE,
	ER_LOCK_CONDITION,
	ER_LOCK_BARRIER,
	ER_LOCK_JOIN,      /* the end of a thread */
	ER_LOCK_KINDS
};

struct lock_desc {
	const char *uname; /* as in reports on waits */
	bool held;         /* it is taken; others are only waited for */
	uint16_t size;     /* of the object in glibc, on x86-64: a wait may be for any word of it */
};

extern const struct lock_desc lock_descs[ER_LOCK_KINDS]; /* by kind */

/* Frames without code. As the last "pc" of a stack they say how it ended. */
#define ER_PC_TRUNCATED     ((uint64_t)-2)
#define ER_PC_UNWIND_FAILED ((uint64_t)-3)

#endif
