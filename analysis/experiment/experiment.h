/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads one experiment directory: log, maps, stacks and packets. This layer knows the
 * file format; it knows nothing of symbols or metrics. No byte of any file is trusted.
 * Data that cannot be read is skipped, counted and reported in the experiment's own
 * diag; the rest is shown.
 *
 * Everything reached from a struct experiment belongs to it and is valid until
 * experiment_close.
 */
#ifndef EXPERIMENT_EXPERIMENT_H
#define EXPERIMENT_EXPERIMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "analysis/base/alloc.h"
#include "analysis/base/diag.h"
#include "analysis/base/file.h"
#include "analysis/base/map.h"
#include "analysis/base/vec.h"
#include "analysis/experiment/mstate.h"
#include "analysis/experiment/packet.h"
#include "analysis/experiment/xml.h"

struct exp_usage;

struct exp_field {
	const char *name, *uname;
	uint32_t offset;
	enum er_type type;
};

/* One <profile name="hwcounter"/> element; `tag` identifies it. */
struct exp_counter {
	int tag;
	const char *name, *int_name, *metric; /* alias, internal name, label (NULL: none) */
	int64_t interval;
	int timecvt; /* > 0: counts are clock ticks; < 0: units of -timecvt ps; 0: counts */
	const char *modstr;
};

/*
 * The packets of one kind. The CLOCK stream also has the packets of waits, which have
 * more fields.
 */
struct exp_stream {
	enum er_packet kind;
	bool waits; /* the stream also has the kinds for which is_wait_kind is true */
	const char *fname, *uname;
	VEC(struct exp_field) fields;
	int64_t ptimer_us;    /* clock: one NTICK in microseconds */
	int numstates;        /* clock: enum er_stateset */
	int64_t threshold_us; /* synchronization: shorter waits were not recorded */
	VEC(struct exp_counter) counters;
	struct file file;
	bool reported; /* unreadable parts of the file were reported */
};

struct exp_event {
	const char *kind; /* "run", "sample", "exit", "cwarn", … */
	int64_t time_ns;  /* relative to the start of this experiment */
	int64_t id;       /* sample number, message number; -1: none */
	const char *label, *text; /* text: for exec_start, the program */
};

struct exp_map {
	enum { EXP_MAP_SEGMENT, EXP_MAP_FUNCTION, EXP_MAP_DYNFUNC, EXP_MAP_UNMAP } what;
	int64_t time_ns; /* relative to the start of this experiment */
	uint64_t vaddr, size;
	int64_t foffset;
	unsigned modes;
	const char *name; /* path or function name */
	const char *module; /* DYNFUNC: the dynamic module's name */
};

struct exp_ksym {
	uint64_t addr, size;
	const char *name;   /* ready to show, with the kernel's own dots */
	const char *module; /* "vmlinux" when the line names none */
};

struct exp_stack {
	uint64_t uid;
	uint32_t first; /* index into stack_pcs */
	uint32_t npcs;  /* pcs are leaf first; the last may be a marker ER_PC_… */
};

/* An element of recorder.xml: what er_kernel reports about its own recording. */
struct exp_element {
	const char *name;
	const struct xml_attr *attrs;
	size_t nattrs;
};

/*
 * An element of threads.xml: how one recorded thread spent its time. Times are
 * nanoseconds and never negative. run_ns and all off_ns add up to end_ns - begin_ns;
 * thread_sum adds them.
 */
struct exp_thread {
	int64_t pid, tid;            /* pid 0: a kernel thread */
	const char *comm, *cgroup;
	const char *experiment;      /* sub-experiment with the thread's packets; "": the founder */
	int64_t begin_ns, end_ns;    /* relative to the start of this experiment */
	int64_t run_ns, user_ns, system_ns;
	int64_t off_ns[MS_COUNT];    /* time by state; 0 for states on a CPU */
	int64_t off_n[MS_COUNT];     /* number of waits in off_ns; all 0 if not recorded */
	int64_t stolen_ns;           /* part of off_ns[MS_WAIT_CPU]: had the CPU, was not charged */
	int64_t nwaits, npreempted, minflt, majflt;
	int64_t nmoved, moved_ns;    /* sleeps that schedstat counts as CPU waits; not in off_ns */
	bool born, ended;            /* the thread began, ended during the recording */
	bool split;                  /* user_ns and system_ns are exact */
};

/* An element of names.xml: the thread's name from at_ns until its next element. */
struct exp_name {
	int64_t pid, tid; /* pid 0: a kernel thread */
	int64_t at_ns;    /* relative to the start of this experiment */
	const char *comm;
};

/* An element of processes.xml: a program that a process ran from begin_ns on. */
struct exp_process {
	int64_t pid;
	int64_t begin_ns; /* relative to the start of this experiment */
	const char *name; /* of the program */
};

/*
 * The subject of I/O packets: one opening of a file, or one of the fixed entries below
 * ("<stdin>", "<Other IO activity>", …).
 */
struct exp_io_file {
	const char *name;
	int64_t fd; /* -1: none */
};

/* Indexes into io_files: the fixed entries, and the first file. 0: no I/O. */
enum { IO_FILE_STDIN = 1, IO_FILE_OTHER = 4, IO_FILE_FIRST = 10 };

/* Unknown strings are "", never NULL. */
struct experiment {
	unsigned id;                 /* 1, 2, … in order of opening; set by the opener */
	unsigned group;              /* 1, 2, … for comparison; set by the opener */
	struct experiment *founder;  /* NULL: this is a founder */
	bool system_wide;            /* a recording of the whole system, or any part of one */
	bool many_processes;         /* packets name their process, in LWPID */
	const char *path;            /* as given, or founder path + "/" + name */
	const char *name;            /* last component of path */
	const char *version, *collector, *hostname, *arch, *os, *cwd, *command, *notes;
	const char *process;         /* base name of the command's first word; "" unknown */
	int64_t pid, ppid;
	int wordsize;
	bool swap;                   /* recorded in the other byte order */
	int64_t pagesize, npages;
	int64_t ncpus, mhz;          /* mhz of the first CPU listed; 0 unknown */
	int64_t start_ns;            /* absolute hrtime of the event run */
	int64_t start_epoch;
	int64_t end_ns;              /* relative: the event exit, or else the latest time seen */
	bool closed;                 /* has an event exit */
	bool opened;                 /* log.xml could be read up to the event run */
	int64_t sample_period_s;
	const char *dversion;
	VEC(struct exp_event) events;
	VEC(struct exp_map) maps;    /* in file order */
	VEC(struct exp_ksym) ksyms;  /* sorted by address */
	VEC(struct exp_stream) streams;
	VEC(struct exp_stack) stacks;
	VEC(uint64_t) stack_pcs;
	struct map stack_by_uid;     /* uid to index into stacks */
	uint64_t njava;              /* Java stacks and compiled methods that were skipped */
	VEC(struct exp_element) recorder; /* in file order; empty if another recorder wrote it */
	VEC(struct exp_thread) threads;   /* in file order; empty without microstates */
	VEC(struct exp_name) names;       /* in file order */
	VEC(struct exp_process) processes; /* in file order */
	VEC(struct exp_io_file) io_files; /* built by the first experiment_io_file */
	struct map io_by_packet;     /* address of a packet, to index into io_files */
	bool io_followed;
	struct map thread_numbers, lwp_numbers; /* built by the first call that asks for a number */
	bool numbered;
	struct file overview;
	struct diag diag;            /* problems found; `header` shows them */
	struct arena arena;
};

/*
 * Open the experiment directory at path. Returns NULL, after reporting to d, if it is
 * not an experiment: no directory, a name without ".er", or no readable log.xml. All
 * other faults go into the experiment's diag and the caller gets what is readable. Free
 * it with experiment_close.
 */
struct experiment *experiment_open(const char *path, struct diag *d);
/*
 * Open a sub-experiment; name is an entry of the founder's directory. NULL after
 * reporting to the founder's diag.
 */
struct experiment *experiment_open_sub(struct experiment *founder, const char *name);
void experiment_close(struct experiment *e);

/* An attribute as text (NULL: none), or as an integer (0: none). */
const char *element_get(const struct exp_element *el, const char *name);
int64_t element_int(const struct exp_element *el, const char *name);

/* run_ns plus all off_ns, in nanoseconds; saturates. */
int64_t thread_sum(const struct exp_thread *th);

/* The number of usage records, and the i-th of them. Values are cumulative. */
size_t experiment_nusages(const struct experiment *e);
void experiment_usage(const struct experiment *e, size_t i, struct exp_usage *ret);

/* Whether a path is spelled like an experiment (".er") or a group (".erg"). */
bool is_experiment_name(const char *path);
bool is_group_name(const char *path);

/*
 * The names of a founder's sub-experiments (entries "_….er"), sorted by name; runs of
 * digits compare by value. The caller frees each with free() and the vector with
 * vec_free.
 */
typedef VEC(char *) str_vec;
void experiment_subs(const struct experiment *e, str_vec *ret);

/* The first line of a group file, without its newline. */
extern const char group_first_line[];
/*
 * Read the experiments that a group file (.erg) names, in order. Warns when there are
 * none. 0, or -1 after reporting.
 */
int group_read(const char *path, str_vec *ret, struct diag *d);
/* Add a line to a group file; a new file gets its first line, too. 0, or -1 after reporting. */
int group_add(const char *path, const char *experiment, struct diag *d);

/* --- packets --- */

struct packet;

/* The file of an I/O packet, as an index into e->io_files; 0 for other packets. */
uint32_t experiment_io_file(struct experiment *e, const struct packet *p);

/*
 * The number of the thread or LWP that has this id in packets. Numbers count from 1 in
 * the order of packets, clock packets first, as in gprofng. 0: no packet has the id.
 * The first call reads all packets.
 */
int64_t experiment_thread_number(struct experiment *e, int64_t thrid);
int64_t experiment_lwp_number(struct experiment *e, int64_t lwpid);

/* A field found by name in a stream. offset 0: the stream has no such field. */
struct field_ref {
	uint32_t offset;
	enum er_type type;
};

struct field_ref stream_field(const struct exp_stream *s, const char *name);

/* A borrowed view of a packet; it lies entirely in the file. */
struct packet {
	const unsigned char *p;
	uint32_t size;
	bool swap;
};

/*
 * The value of an integer field. 0 if the packet is too short, has no such field, or
 * the field is not an integer.
 */
static inline int64_t packet_int(const struct packet *p, struct field_ref f)
{
	if (!f.offset)
		return 0;
	if (f.type == ER_INT64 || f.type == ER_UINT64) {
		uint64_t v;

		if (f.offset + sizeof(v) > p->size)
			return 0;
		memcpy(&v, p->p + f.offset, sizeof(v));
		return p->swap ? __builtin_bswap64(v) : v;
	}
	if (f.type == ER_INT32 || f.type == ER_UINT32) {
		uint32_t v;

		if (f.offset + sizeof(v) > p->size)
			return 0;
		memcpy(&v, p->p + f.offset, sizeof(v));
		v = p->swap ? __builtin_bswap32(v) : v;
		return f.type == ER_INT32 ? (int64_t)(int32_t)v : (int64_t)v;
	}
	return 0;
}

/* The bytes of a STRING field, not NUL-terminated, and their number. 0: there is none. */
size_t packet_text(const struct packet *p, struct field_ref f, const char **ret);

struct packet_iter {
	const struct exp_stream *stream;
	uint64_t pos, released; /* data before `released` was given back to the kernel */
	uint64_t nbad; /* unreadable places that were skipped */
	bool swap;
};

void packet_iter_init(struct packet_iter *it, const struct experiment *e,
		      const struct exp_stream *s);
/*
 * At the end of a walk: warn about the places it skipped, once a stream.
 * experiment_check_packets does this for all streams; it walks those not walked yet.
 */
void packet_iter_report(const struct packet_iter *it, struct experiment *e, struct exp_stream *s);
void experiment_check_packets(struct experiment *e);
/* Get up to max of the stream's next packets. Returns how many; 0 only at the end. */
size_t packet_batch(struct packet_iter *it, struct packet *ret, size_t max);

/* Get the next packet; false at the end. */
static inline bool packet_next(struct packet_iter *it, struct packet *ret)
{
	return packet_batch(it, ret, 1);
}

/* The index of a stack into e->stacks, or -1. */
static inline int64_t experiment_stack(const struct experiment *e, uint64_t uid)
{
	const uint64_t *index = map_get(&e->stack_by_uid, uid);

	return index ? (int64_t)*index : -1;
}

#endif
