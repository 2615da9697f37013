/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Shared by the parts of the drain only. drain.c has the batches; route.c chooses the experiment
 * for a record; samples.c, waits.c and totals.c each turn one kind of record into packets.
 */
#ifndef USER_RECORD_DRAIN_IMPL_H
#define USER_RECORD_DRAIN_IMPL_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/base/buf.h"
#include "analysis/base/vec.h"
#include "analysis/experiment/mstate.h"
#include "user/record/commands.h"
#include "user/record/cuts.h"
#include "user/record/drain.h"
#include "user/record/ends.h"
#include "user/record/fold_sums.h"
#include "user/record/folds.h"
#include "user/record/jit_names.h"
#include "user/record/kinds.h"
#include "user/record/modes.h"
#include "user/record/processes.h"
#include "user/record/raws.h"
#include "user/record/reason.h"
#include "user/record/snapshots.h"
#include "user/record/stacks.h"
#include "user/record/thread_names.h"
#include "user/record/unread.h"
#include "user/unwind/unwinder.h"

enum { NCARRY = 8192 }; /* a power of two */

/* Texts of spans. Each is written once, unless many others came since. */
enum { SPAN_TEXTS = 1024 };

struct span_texts {
	uint32_t n; /* numbers given in this segment */
	struct span_text {
		uint32_t number, n;
		char text[ER_SPAN_TEXT];
	} last[SPAN_TEXTS];
};

/* Precedes a record that was taken; the record is padded to 8 bytes. */
struct taken {
	uint32_t size, cpu;
};

struct drain {
	struct drain_parts parts;
	struct procmap *procmap;
	struct stacks *stacks;
	struct unwinder *unwinder; /* NULL: no stack is raw */
	struct raws *raws;
	struct unread *unread;
	struct jit_names *jit; /* NULL: generated code gets no names */
	struct ends *ends;
	struct reasons *reasons;
	struct cgroups *cgroups;
	struct folds *folds; /* NULL: each thread has a line of its own */
	/* Of folded threads: the time that no record represents; with folds. */
	struct fold_sums *unsampled_cpu, *unsampled_waits;
	struct modes modes;  /* of CPU time without samples */
	struct snapshots *snapshots;
	struct cuts *cuts;  /* NULL: the recording has one segment */
	struct buf taken;   /* records, each after a struct taken */
	struct buf cut;     /* the same, of a cut */
	struct buf spare;   /* empty; drain_process exchanges it with `taken` */
	struct buf waiting; /* records whose stack has not come yet */
	bool misses_stacks; /* one of them waits for a stack from a ring, not for a walk */
	struct buf spare_waiting;
	struct ring_count *rings;
	struct ring_count *next_rings; /* of the next segment, from a cut until drain_restart */
	bool cutting;
	uint16_t carry[NCARRY]; /* ns that did not fill a packet's microsecond */
	struct thread_names *names;
	struct commands *commands;
	struct late_lines late_lines; /* of processes.xml */
	uint64_t nwritten[ER_KIND_COUNT];
	size_t nprograms;
	VEC(struct er_task) recorders; /* seen so far; for PIDs and start times */
	uint64_t state_ns[MS_COUNT]; /* of all packets */
	struct span_texts span_texts;
};

/* --- route.c --- */

/* The thread of a record. */
struct actor {
	const struct er_task *task; /* in the record */
	const char *comm;           /* its name, as in struct er_task; RECORDING for the recorder's */
	bool kthread;
	bool recorder;              /* of the recorder, or of the process that builds unwind tables */
};

/* The name and the only frame of the recorder's own threads: what the recording itself cost. */
#define RECORDING "<Recording>"

struct actor route_actor(struct drain *dr, const struct er_task *task, bool kthread,
			 uint64_t time_ns);

/*
 * Returns the sub-experiment of the process at that time: its own, or that of its program. NULL
 * for a kernel thread, for the recorder, for a process that -F does not select, and if none could
 * be made. With `make` false also NULL if the process has none yet, unless a program that it ran
 * before is listed in processes.xml: that program must not seem to go on.
 */
struct output *route_output(struct drain *dr, const struct actor *a, uint64_t time_ns, bool make);
/*
 * For the total of a process's main thread, if the process has no sub-experiment: list it in processes.xml if it
 * failed, with each_thread if it began or ended, or if an earlier segment lists it and it ended. Whether it is listed.
 */
bool route_list(struct drain *dr, const struct actor *a, const struct er_total *t);
/*
 * The output for a record of a thread without a sub-experiment: `on_cpu` for its time on the CPU,
 * else for its time off the CPU.
 */
struct output *route_rest(struct drain *dr, const struct actor *a, bool on_cpu);
/* Whether the thread may get a sub-experiment though no record of it has come yet. */
bool route_may_make(struct drain *dr, const struct actor *a, uint64_t time_ns);
/*
 * Call it when a stack of the thread has shown code that is in no file. Addresses of such code are
 * meaningful in one process only. So a process that shares a sub-experiment gets its own, if there
 * is room. Returns the output to use from now on.
 */
struct output *route_own(struct drain *dr, const struct actor *a, uint64_t time_ns);
/* The address, in the output, of data of the thread's process. */
uint64_t route_data(struct drain *dr, const struct actor *a, uint64_t time_ns, struct output *p,
		    uint64_t address);
/*
 * Writes the pseudo frame that replaces all user frames of such a process: "<comm_PID_n>", or
 * RECORDING, which replaces the kernel frames as well.
 */
void route_pseudo_name(const struct actor *a, char *ret, size_t size);
/* Count how the walk of the stack ended, for the program that the thread ran. */
void route_count_end(struct drain *dr, const struct actor *a, uint64_t time_ns, enum ends_kind kind,
		     uint64_t stack, uint64_t weight_ns);

/* --- drain.c --- */

/* LWPID of a packet: in an experiment of many processes the process ID, 0 for a kernel thread. */
int64_t drain_lwp(const struct actor *a, const struct output *p);
/*
 * Write a packet of this weight, or several if one cannot hold it. Nanoseconds that do not fill
 * a microsecond are carried to a later packet of the same thread and state, so that sums are
 * exact. Fills in THRID, and LWPID by drain_lwp. Afterwards c->wait is NULL.
 */
void drain_packet(struct drain *dr, struct output *p, const struct actor *a,
		  struct clock_packet *c, uint64_t weight_ns);

void keep_stack(struct drain *dr, const void *record);
void keep_code(struct drain *dr, const void *record);
void keep_command(struct drain *dr, const void *record);

/* --- drain_folds.c --- */

void drain_begin_folds(struct drain *dr);
void drain_free_folds(struct drain *dr); /* what is not written is lost */
/* Write what is due, or all. */
void drain_write_folds(struct drain *dr, bool all);
/*
 * Add the time of a folded thread to the sum of its fold; false: the packets of the output cannot be
 * those of several threads. *joined: the record gets no packet of its own.
 */
bool drain_fold(struct drain *dr, struct output *p, const struct actor *a, uint32_t fold,
		const struct clock_packet *c, uint64_t weight_ns, bool *joined);

/* --- one kind of record each, as struct data_kind has it --- */

bool write_sample(struct drain *dr, const void *record, bool last_chance);
bool write_residual(struct drain *dr, const void *record, bool last_chance);
/* Writes any record that begins with a struct er_clock. Its row in kinds.c names the packet. */
bool write_event(struct drain *dr, const void *record, bool last_chance);
bool write_wait(struct drain *dr, const void *record, bool last_chance);
bool write_total(struct drain *dr, const void *record, bool last_chance);
bool write_heap(struct drain *dr, const void *record, bool last_chance);
bool write_span(struct drain *dr, const void *record, bool last_chance);

/* --- heap_events.c, also for clock_events.c --- */

struct heap_process;

/* A stack that a library in the program has walked. */
struct heap_stack {
	uint64_t id, time_ns, start_time; /* start_time: of the process */
	const uint64_t *pcs; /* leaf first */
	size_t n;            /* at most HEAP_FRAMES */
	unsigned end;        /* enum er_end, not checked */
	bool exact;          /* the leaf is an instruction; all others are return addresses */
};

/* The id of the stack in the recording. */
uint64_t heap_stack_id(const struct heap_process *p, uint64_t id);
/* Keep it as if BPF had sent it. */
void heap_stack_keep(struct stacks *stacks, const struct image *im, const struct heap_stack *from);

/* --- waits.c, also for totals.c --- */

extern const enum er_mstate off_states[ER_OFF_STATES]; /* the states on disk */

/* An interval off the CPU for which a packet is to be written. */
struct off_time {
	struct output *output;
	bool followed;
	struct actor actor;
	enum er_off_state state;
	uint64_t stack;          /* id; 0: none */
	const char *pseudo;      /* the function to show if there is no stack */
	uint32_t fold;           /* number of the thread's fold, whose sum gets it; 0: none */
	uint64_t time_ns, weight_ns;
	uint64_t sync_ns;        /* length of the call of a traced wait for a lock; 0: it is none */
	uint64_t sync_end_ns;    /* when it ended */
	uint32_t cpu, seq;
	uint64_t goroutine;      /* 0: none, or not known */
	struct wait_info info;
};

void put_off_time(struct drain *dr, const struct off_time *t);

#endif
