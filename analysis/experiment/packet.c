/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/experiment/packet.h"

#include <string.h>

/* The first fields of all kinds except clock packets. */
#define HEAD_FIELDS                                                                                \
	{ "LWPID", "Lightweight process id", 8, ER_INT64 },                                        \
	{ "THRID", "Thread number", 16, ER_INT64 },                                                \
	{ "CPUID", "CPU id", 24, ER_INT32 },                                                       \
	{ "TSTAMP", "High resolution timestamp", 32, ER_INT64 }
#define COMMON_FIELDS HEAD_FIELDS, { "FRINFO", NULL, 40, ER_INT64 }

/* By far the most frequent kind: packed without holes, and shorter than gprofng's 56 bytes. */
#define CLOCK_FIELDS_AT(thread, cpu, time, stack, state, ticks, seq)                               \
	{ "LWPID", "Lightweight process id", 4, ER_INT32 },                                        \
	{ "THRID", "Thread number", thread, ER_INT32 },                                            \
	{ "CPUID", "CPU id", cpu, ER_INT32 },                                                      \
	{ "TSTAMP", "High resolution timestamp", time, ER_INT64 },                                 \
	{ "FRINFO", NULL, stack, ER_UINT32 },                                                      \
	{ "MSTATE", "Thread state", state, ER_INT32 },                                             \
	{ "NTICK", "Duration", ticks, ER_INT32 },                                                  \
	{ "SEQ", "Sequence number on its CPU", seq, ER_UINT32 } /* ours, as are all that follow */
#define CLOCK_FIELDS CLOCK_FIELDS_AT(8, 12, 16, 24, 28, 32, 36)

static const struct field_desc clock_fields[] = { CLOCK_FIELDS };

/* The part of a wait packet that says what the wait was. */
#define WAIT_FIELDS_AT(reason, syscall, flags, length)                                             \
	{ "REASON", "Reason of the wait", reason, ER_INT32 },                                      \
	{ "SYSCALL", "System call + 1", syscall, ER_INT32 },                                       \
	{ "WFLAGS", "Wait flags", flags, ER_UINT32 },                                              \
	{ "WLEN", "Length of the wait, ns", length, ER_INT64 }

/* The part that names threads. */
#define ACTOR_FIELDS_AT(waker, waker_pid, waker_stack, holder, holder_pid)                         \
	{ "WAKER", "Thread that ended the wait", waker, ER_INT32 },                                \
	{ "WAKERPID", "Process that ended the wait", waker_pid, ER_INT32 },                        \
	{ "WAKERSTACK", "Stack that ended the wait", waker_stack, ER_UINT32 },                     \
	/* WAIT_WOKEN ends here */                                                                 \
	{ "HOLDER", "Thread that held it", holder, ER_INT32 },                                     \
	{ "HOLDERPID", "Process that held it", holder_pid, ER_INT32 }

/*
 * Fields about time off a CPU. Those that most packets lack come last, and a packet
 * ends before them. Each length is a kind of its own, because gprofng reads all fields
 * of a kind even if a packet is shorter.
 */
static const struct field_desc wait_fields[] = {
	CLOCK_FIELDS,
	WAIT_FIELDS_AT(40, 44, 48, 52),
	/* WAIT_SHORT ends here */
	ACTOR_FIELDS_AT(60, 64, 68, 72, 76),
	/* WAIT_HELD ends here */
	{ "WOBJ", "Address waited for", 80, ER_UINT64 },
};

/*
 * The same in fewer bytes. An offset 0 says that the kind lacks the field, and two fields at one place
 * that they are equal: THRID and LWPID, a waker and its process, a holder and its process. Types are
 * those of the other kinds: gprofng rejects a field that has several.
 */
#define PACKED_CLOCK(thread, state) CLOCK_FIELDS_AT(thread, 8, 12, 20, state, 24, 28)
#define PACKED_WAIT(thread) PACKED_CLOCK(thread, 32), WAIT_FIELDS_AT(36, 40, 44, 48)
#define GO_FIELDS_AT(object, goroutine)                                                            \
	{ "WOBJ", "Address waited for", object, ER_UINT64 },                                       \
	{ "GOID", "Number of the goroutine", goroutine, ER_UINT64 }
#define GO_ON_CPU(goroutine)                                                                       \
	WAIT_FIELDS_AT(0, 0, 0, 0), ACTOR_FIELDS_AT(0, 0, 0, 0, 0), GO_FIELDS_AT(0, goroutine)

static const struct field_desc user_fields[] = { PACKED_CLOCK(4, 0) };
static const struct field_desc main_fields[] = { PACKED_CLOCK(4, 32) };
static const struct field_desc thread_user_fields[] = { PACKED_CLOCK(32, 0) };
static const struct field_desc main_wait_fields[] = { PACKED_WAIT(4), ACTOR_FIELDS_AT(0, 0, 0, 0, 0) };
static const struct field_desc main_woken_fields[] = { PACKED_WAIT(4), ACTOR_FIELDS_AT(56, 56, 60, 0, 0) };
static const struct field_desc main_held_fields[] = { PACKED_WAIT(4), ACTOR_FIELDS_AT(0, 0, 0, 56, 56) };
static const struct field_desc main_both_fields[] = { PACKED_WAIT(4), ACTOR_FIELDS_AT(56, 56, 60, 64, 64) };
static const struct field_desc thread_wait_fields[] = { PACKED_WAIT(56), ACTOR_FIELDS_AT(0, 0, 0, 0, 0) };
static const struct field_desc thread_woken_fields[] = { PACKED_WAIT(56), ACTOR_FIELDS_AT(60, 64, 68, 0, 0) };
static const struct field_desc thread_held_fields[] = { PACKED_WAIT(56), ACTOR_FIELDS_AT(0, 0, 0, 60, 64) };
static const struct field_desc thread_both_fields[] = { PACKED_WAIT(56), ACTOR_FIELDS_AT(60, 64, 68, 72, 76) };
static const struct field_desc go_wait_fields[] = { PACKED_WAIT(56), ACTOR_FIELDS_AT(60, 64, 68, 72, 76),
						    GO_FIELDS_AT(80, 88) };
static const struct field_desc go_user_fields[] = { PACKED_CLOCK(32, 0), GO_ON_CPU(36) };
static const struct field_desc go_fields[] = { PACKED_CLOCK(36, 32), GO_ON_CPU(40) };

/* Old collectors, before MSTATE existed, wrote ticks by state since the previous packet. */
static const struct field_desc prof_fields[] = {
	HEAD_FIELDS,
	{ "FRINFO", NULL, 40, ER_UINT32 }, /* gprofng requires the type of CLOCK's FRINFO */
	{ "UCPU", "User CPU", 48, ER_INT32 },
	{ "SCPU", "System CPU", 52, ER_INT32 },
	{ "TRAP", "Trap CPU", 56, ER_INT32 },
	{ "TFLT", "Text Page Fault", 60, ER_INT32 },
	{ "DFLT", "Data Page Fault", 64, ER_INT32 },
	{ "KFLT", "Kernel Page Fault", 68, ER_INT32 },
	{ "ULCK", "User Lock", 72, ER_INT32 },
	{ "TSLP", "Sleep", 76, ER_INT32 },
	{ "WCPU", "Wait CPU", 80, ER_INT32 },
	{ "TSTP", "Stopped", 84, ER_INT32 },
};

static const struct field_desc sync_fields[] = {
	COMMON_FIELDS,
	{ "SRQST", "Synchronization start time", 48, ER_INT64 },
	{ "SOBJ", "Synchronization object address", 56, ER_UINT64 },
};

static const struct field_desc hwc_fields[] = {
	COMMON_FIELDS,
	{ "HWCTAG", "Hardware counter index", 48, ER_INT32 },
	{ "HWCINT", "Hardware counter interval", 56, ER_UINT64 },
	{ "SEQ", "Sequence number on its CPU", 52, ER_UINT32 }, /* ours */
};

static const struct field_desc heap_fields[] = {
	COMMON_FIELDS,
	{ "HTYPE", "Heap function type", 48, ER_INT32 },
	{ "HSIZE", "Memory size", 56, ER_UINT64 },
	{ "HVADDR", "Memory address", 64, ER_UINT64 },
	{ "HOVADDR", "Previous memory address", 72, ER_UINT64 },
};

static const struct field_desc mhwc_fields[] = {
	COMMON_FIELDS,
	{ "HWCTAG", "Hardware counter index", 48, ER_INT32 },
	{ "HWCINT", "Hardware counter interval", 56, ER_UINT64 },
	{ "VADDR", "Virtual address (data)", 64, ER_UINT64 },
	{ "VIRTPC", "Virtual address (instruction)", 72, ER_UINT64 },
	{ "PADDR", "Physical address (data)", 80, ER_UINT64 },
	{ "PHYSPC", "Physical address (instruction)", 88, ER_UINT64 },
	{ "EA_PAGESIZE", "Page size (data)", 96, ER_INT64 },
	{ "PC_PAGESIZE", "Page size (instruction)", 104, ER_INT64 },
	{ "EA_LGRP", "Locality group (data)", 112, ER_INT32 },
	{ "PC_LGRP", "Locality group (instruction)", 116, ER_INT32 },
	{ "LWP_LGRP_HOME", "Home locality group of the thread", 120, ER_INT32 },
	{ "PS_LGRP_HOME", "Home locality group of the process", 124, ER_INT32 },
	{ "MEM_LAT", "Memory latency", 128, ER_UINT64 },
	{ "MEM_SRC", "Memory source", 136, ER_UINT64 },
	{ "SEQ", "Sequence number on its CPU", 52, ER_UINT32 }, /* ours */
};

static const struct field_desc io_fields[] = {
	COMMON_FIELDS,
	{ "IOTYPE", "I/O type", 48, ER_INT32 },
	{ "IOFD", "File descriptor", 52, ER_INT32 },
	{ "IONBYTE", "Number of bytes", 56, ER_INT64 },
	{ "IORQST", "I/O start time", 64, ER_INT64 },
	{ "IOOFD", "Original file descriptor", 72, ER_INT32 },
	{ "IOFSTYPE", "File system type", 76, ER_INT32 },
	{ "SEQ", "Sequence number on its CPU", 28, ER_UINT32 }, /* ours */
	{ "IOFNAME", "File name", 80, ER_STRING },
};

/* TSTAMP is the span's end. Times are in nanoseconds. mstate.c has the field of each state. */
static const struct field_desc span_fields[] = {
	COMMON_FIELDS,
	{ "SPAN", "Span", 48, ER_UINT32 },
	{ "SPANDEPTH", "Depth of the span", 52, ER_UINT32 },
	{ "SPANID", "Number of the span", 56, ER_UINT64 },
	{ "SPANPARENT", "Number of the enclosing span", 64, ER_UINT64 },
	{ "SPANDUR", "Duration of the span, ns", 72, ER_INT64 },
	{ "SPANRUN", "On a CPU, ns", 80, ER_INT64 },
	{ "SPANUSER", "User CPU, ns", 88, ER_INT64 },
	{ "SPANSYSTEM", "System CPU, ns", 96, ER_INT64 },
	{ "SPANTFAULT", "Text Page Fault, ns", 104, ER_INT64 },
	{ "SPANDFAULT", "Data Page Fault, ns", 112, ER_INT64 },
	{ "SPANKFAULT", "Kernel Page Fault, ns", 120, ER_INT64 },
	{ "SPANLOCK", "User Lock, ns", 128, ER_INT64 },
	{ "SPANSLEEP", "Sleep, ns", 136, ER_INT64 },
	{ "SPANWAITCPU", "Wait CPU, ns", 144, ER_INT64 },
	{ "SPANSTOP", "Stopped, ns", 152, ER_INT64 },
	{ "SPANSTOLEN", "Stolen part of Wait CPU, ns", 160, ER_INT64 },
	{ "SPANWAITS", "Intervals off the CPU", 168, ER_UINT32 },
	{ "SPANMINFLT", "Minor page faults", 172, ER_UINT32 },
	{ "SPANMAJFLT", "Major page faults", 176, ER_UINT32 },
	{ "SPANFLAGS", "Span flags", 180, ER_UINT32 },
	{ "SPANTEXT", "Number of the text", 184, ER_UINT32 },
	{ "SEQ", "Sequence number on its CPU", 188, ER_UINT32 },
	{ "SPANA1", "Argument 1", 192, ER_INT64 },
	{ "SPANA2", "Argument 2", 200, ER_INT64 },
	{ "SPANA3", "Argument 3", 208, ER_INT64 },
	{ "SPANA4", "Argument 4", 216, ER_INT64 },
};

static const struct field_desc probe_fields[] = {
	COMMON_FIELDS,
	{ "PROBE", "Probe", 48, ER_INT32 },
	{ "SEQ", "Sequence number on its CPU", 52, ER_UINT32 },
	{ "PROBEA1", "Argument 1", 56, ER_INT64 },
	{ "PROBEA2", "Argument 2", 64, ER_INT64 },
	{ "PROBEA3", "Argument 3", 72, ER_INT64 },
	{ "PROBEA4", "Argument 4", 80, ER_INT64 },
};

/* TSTAMP is not after the first of them. The stack is the caller only. */
static const struct field_desc lock_fields[] = {
	COMMON_FIELDS,
	{ "LOCKKIND", "Kind of lock", 48, ER_INT32 },
	{ "SOBJ", "Synchronization object address", 56, ER_UINT64 },
	{ "NLOCKS", "Times that the lock was taken", 64, ER_INT64 },
};

#define FIELDS(f) .fields = (f), .nfields = sizeof(f) / sizeof((f)[0])
#define FIRST_FIELDS(f, lacks) .fields = (f), .nfields = sizeof(f) / sizeof((f)[0]) - (lacks)

#define CLOCK_FILE "profile", "profile", "Clock profiling data", "Clock Profiling", "clock"

const struct packet_desc packet_descs[] = {
	{ ER_PKT_CLOCK, CLOCK_FILE, 40, FIELDS(clock_fields) },
	{ ER_PKT_WAIT, CLOCK_FILE, 88, FIELDS(wait_fields) },
	{ ER_PKT_WAIT_SHORT, CLOCK_FILE, 60, FIRST_FIELDS(wait_fields, 6) },
	{ ER_PKT_WAIT_WOKEN, CLOCK_FILE, 72, FIRST_FIELDS(wait_fields, 3) },
	{ ER_PKT_WAIT_HELD, CLOCK_FILE, 80, FIRST_FIELDS(wait_fields, 1) },
	{ ER_PKT_USER, CLOCK_FILE, 32, FIELDS(user_fields) },
	{ ER_PKT_MAIN, CLOCK_FILE, 36, FIELDS(main_fields) },
	{ ER_PKT_THREAD_USER, CLOCK_FILE, 36, FIELDS(thread_user_fields) },
	{ ER_PKT_MAIN_WAIT, CLOCK_FILE, 56, FIELDS(main_wait_fields) },
	{ ER_PKT_MAIN_WAIT + PACKED_WOKEN, CLOCK_FILE, 64, FIELDS(main_woken_fields) },
	{ ER_PKT_MAIN_WAIT + PACKED_HELD, CLOCK_FILE, 60, FIELDS(main_held_fields) },
	{ ER_PKT_MAIN_WAIT + PACKED_WOKEN + PACKED_HELD, CLOCK_FILE, 68, FIELDS(main_both_fields) },
	{ ER_PKT_THREAD_WAIT, CLOCK_FILE, 60, FIELDS(thread_wait_fields) },
	{ ER_PKT_THREAD_WAIT + PACKED_WOKEN, CLOCK_FILE, 72, FIELDS(thread_woken_fields) },
	{ ER_PKT_THREAD_WAIT + PACKED_HELD, CLOCK_FILE, 68, FIELDS(thread_held_fields) },
	{ ER_PKT_THREAD_WAIT + PACKED_WOKEN + PACKED_HELD, CLOCK_FILE, 80, FIELDS(thread_both_fields) },
	{ ER_PKT_GO_WAIT, CLOCK_FILE, 96, FIELDS(go_wait_fields) },
	{ ER_PKT_GO_USER, CLOCK_FILE, 44, FIELDS(go_user_fields) },
	{ ER_PKT_GO, CLOCK_FILE, 48, FIELDS(go_fields) },
	{ ER_PKT_PROF, CLOCK_FILE, 88, FIELDS(prof_fields) },
	{ ER_PKT_SYNC, "synctrace", "synctrace", "Synchronization tracing data",
	  "Synchronization Tracing", "synchronization", 64, FIELDS(sync_fields) },
	{ ER_PKT_HWC, "hwcounter", "hwcounters", "Hardware counter profiling data",
	  "Hardware Counters", "counters", 64, FIELDS(hwc_fields) },
	{ ER_PKT_HEAP, "heaptrace", "heaptrace", "Heap tracing data", "Heap Tracing", "heap", 80,
	  FIELDS(heap_fields) },
	{ ER_PKT_MHWC, "hwcounter", "hwcounters", "Memory profiling data", "Hardware Counters",
	  "data counters", 144, FIELDS(mhwc_fields) },
	{ ER_PKT_IO, "iotrace", "iotrace", "I/O tracing data", "I/O Tracing", "I/O", 80,
	  FIELDS(io_fields) },
	{ ER_PKT_SPAN, "omptrace", "spans", "Span data", "Spans", "spans", 224, FIELDS(span_fields) },
	{ ER_PKT_PROBE, "omptrace", "probes", "Probe data", "Probes", "probes", 88, FIELDS(probe_fields) },
	{ ER_PKT_LOCKS, "omptrace", "lockcounts", "Counts of locks", "Lock Counts", "locks", 72,
	  FIELDS(lock_fields) },
};

const size_t npacket_descs = sizeof(packet_descs) / sizeof(packet_descs[0]);

const struct ring_desc ring_descs[ER_RINGS] = {
	[ER_RING_CLOCK] = { "ring", "sample", "samples", ER_PKT_CLOCK },
	[ER_RING_WAIT] = { "waitring", "wait", "waits", ER_PKT_WAIT },
	[ER_RING_TOTAL] = { "totalring", NULL, NULL, ER_PKT_EMPTY },
	[ER_RING_COUNTER] = { "counterring", "overflow of a counter", "overflows of counters",
				ER_PKT_HWC },
	[ER_RING_SPAN] = { "spanring", "span", "spans", ER_PKT_SPAN },
	[ER_RING_PROBE] = { "probering", "hit of a probe", "hits of probes", ER_PKT_PROBE },
	[ER_RING_IO] = { "ioring", "I/O call", "I/O calls", ER_PKT_IO },
};

const struct packet_desc *packet_desc(enum er_packet kind)
{
	for (size_t i = 0; i < npacket_descs; i++) {
		if (packet_descs[i].kind == kind)
			return &packet_descs[i];
	}
	return NULL;
}

static const char *const type_names[] = {
	[ER_INT32] = "INT32",	[ER_UINT32] = "UINT32", [ER_INT64] = "INT64", [ER_UINT64] = "UINT64",
	[ER_STRING] = "STRING", [ER_DOUBLE] = "DOUBLE", [ER_DATE] = "DATE",
};

const char *er_type_name(enum er_type type)
{
	return type_names[type];
}

int er_type_parse(const char *name)
{
	for (size_t i = 0; i < sizeof(type_names) / sizeof(type_names[0]); i++) {
		if (!strcmp(type_names[i], name))
			return i;
	}
	return -1;
}

size_t er_type_size(enum er_type type)
{
	static const unsigned char sizes[] = {
		[ER_INT32] = 4,	 [ER_UINT32] = 4, [ER_INT64] = 8, [ER_UINT64] = 8,
		[ER_STRING] = 0, [ER_DOUBLE] = 8, [ER_DATE] = 8,
	};

	return sizes[type];
}

const struct reason_desc reason_descs[REASON_COUNT] = {
	{ REASON_NONE, "NONE", "unknown" },
	{ REASON_DISK, "DISK", "disk" },
	{ REASON_NETWORK, "NETWORK", "network" },
	{ REASON_PIPE, "PIPE", "pipe" },
	{ REASON_POLL, "POLL", "poll" },
	{ REASON_TIMER, "TIMER", "timer" },
	{ REASON_CHILD, "CHILD", "child" },
	{ REASON_USER_LOCK, "USER_LOCK", "user lock" },
	{ REASON_KERNEL_LOCK, "KERNEL_LOCK", "kernel lock" },
	{ REASON_FILE_LOCK, "FILE_LOCK", "file lock" },
	{ REASON_RECLAIM, "RECLAIM", "memory reclaim" },
	{ REASON_FAULT, "FAULT", "page fault" },
	{ REASON_WRITEBACK, "WRITEBACK", "writeback" },
	{ REASON_THROTTLED, "THROTTLED", "CPU limit" },
	{ REASON_PREEMPTED, "PREEMPTED", "preempted" },
	{ REASON_WOKEN, "WOKEN", "woken, no CPU" },
	{ REASON_STOPPED, "STOPPED", "stopped" },
	{ REASON_TRACED, "TRACED", "traced" },
	{ REASON_FROZEN, "FROZEN", "frozen" },
	{ REASON_SIGNAL, "SIGNAL", "signal" },
	{ REASON_TTY, "TTY", "terminal" },
	{ REASON_EVENT, "EVENT", "event" },
	{ REASON_IPC, "IPC", "message, semaphore" },
	{ REASON_IO_URING, "IO_URING", "io_uring" },
	{ REASON_KERNEL_SYNC, "KERNEL_SYNC", "kernel event" },
	{ REASON_NO_WORK, "NO_WORK", "no work" },
	{ REASON_EXIT, "EXIT", "exit" },
	{ REASON_OTHER, "OTHER", "other" },
	{ REASON_STOLEN, "STOLEN", "stolen by the hypervisor" },
	{ REASON_STOLEN_IRQ, "STOLEN_IRQ", "stolen, interrupts" },
	{ REASON_RUNTIME_IDLE, "RUNTIME_IDLE", "no work, in a language runtime" },
};

const struct lock_desc lock_descs[ER_LOCK_KINDS] = {
	[ER_LOCK_UNKNOWN] = { "lock", true, 1 },
	[ER_LOCK_MUTEX] = { "mutex", true, 40 },
	[ER_LOCK_READ] = { "rwlock", true, 56 },
	[ER_LOCK_WRITE] = { "rwlock", true, 56 },
	[ER_LOCK_SPIN] = { "spin lock", true, 4 },
	[ER_LOCK_SEMAPHORE] = { "semaphore", true, 32 },
	[ER_LOCK_CONDITION] = { "condition variable", false, 48 },
	[ER_LOCK_BARRIER] = { "barrier", false, 32 },
	[ER_LOCK_JOIN] = { "join", false, 2304 },
};
