/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One experiment as its directory tells it: log, maps, stacks, packets. This
 * layer knows the format and nothing of symbols or metrics. Any byte of any
 * file may be wrong: what cannot be read is reported into the experiment's own
 * diag, counted, and passed over; the rest is shown.
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

/* One <profile name="hwcounter"/>, by tag. */
struct exp_counter {
	int tag;
	const char *name, *int_name, *metric; /* alias, internal name, label (or NULL) */
	int64_t interval;
	int timecvt; /* > 0: counts are clock ticks; < 0: -timecvt thousandth of a ns; 0: counts */
	const char *modstr;
};

/* The packets of one kind; of CLOCK also those of waits, which have some fields more. */
struct exp_stream {
	enum er_packet kind;
	bool waits; /* and those of kinds that is_wait_kind */
	const char *fname, *uname;
	VEC(struct exp_field) fields;
	int64_t ptimer_us;    /* clock: microseconds of one NTICK */
	int numstates;        /* clock: enum er_stateset */
	int64_t threshold_us; /* synchronization */
	VEC(struct exp_counter) counters;
	struct file file;
	bool reported; /* what cannot be read in the file */
};

struct exp_event {
	const char *kind; /* "run", "sample", "exit", "cwarn", … */
	int64_t time_ns;  /* relative to the start of this experiment */
	int64_t id;       /* sample number, message number; -1: none */
	const char *label, *text; /* of exec_start the program */
};

struct exp_map {
	enum { EXP_MAP_SEGMENT, EXP_MAP_FUNCTION, EXP_MAP_DYNFUNC, EXP_MAP_UNMAP } what;
	int64_t time_ns; /* relative */
	uint64_t vaddr, size;
	int64_t foffset;
	unsigned modes;
	const char *name; /* path, or function name */
	const char *module; /* DYNFUNC: the dynamic module's name */
};

struct exp_ksym {
	uint64_t addr, size;
	const char *name;   /* as written: ready to show */
	const char *module; /* "vmlinux" when none is named */
};

struct exp_stack {
	uint64_t uid;
	uint32_t first; /* index into stack_pcs */
	uint32_t npcs;  /* leaf first; the last may be a marker ER_PC_… */
};

/* An element of recorder.xml, er_kernel's own account of a recording. */
struct exp_element {
	const char *name;
	const struct xml_attr *attrs;
	size_t nattrs;
};

/*
 * An element of threads.xml: where the time of one thread went that the
 * recording saw, in nanoseconds, none negative. run_ns and off_ns add up to
 * end_ns - begin_ns, as thread_sum says.
 */
struct exp_thread {
	int64_t pid, tid;            /* pid 0: a kernel thread */
	const char *comm, *cgroup;
	const char *experiment;      /* the sub-experiment with its packets; "": the founder */
	int64_t begin_ns, end_ns;    /* relative */
	int64_t run_ns, user_ns, system_ns;
	int64_t off_ns[MS_COUNT];    /* by state; 0 for those on a CPU */
	int64_t off_n[MS_COUNT];     /* waits that off_ns adds up; all 0 in recordings without counts */
	int64_t stolen_ns;           /* part of off_ns[MS_WAIT_CPU]: it had a CPU, and was not charged */
	int64_t nwaits, npreempted, minflt, majflt;
	int64_t nmoved, moved_ns;    /* sleeps that schedstat has as waiting for a CPU; not off_ns */
	bool born, ended;            /* in the recording */
	bool split;                  /* user_ns and system_ns are exact */
};

/* An element of names.xml: what a thread is called from then on, until the next of it. */
struct exp_name {
	int64_t pid, tid; /* pid 0: a kernel thread */
	int64_t at_ns;    /* relative */
	const char *comm;
};

/* What I/O packets are about: a file as it was opened once, or what stands for others. */
struct exp_io_file {
	const char *name;
	int64_t fd; /* -1: none */
};

/* The numbers of those that stand for others, and of the first file; 0: no I/O. */
enum { IO_FILE_STDIN = 1, IO_FILE_OTHER = 4, IO_FILE_FIRST = 10 };

/* Strings that are not known are "", never NULL. */
struct experiment {
	unsigned id;                 /* 1, 2, … in order of opening; set by the opener */
	unsigned group;              /* 1, 2, … what is compared; set by the opener */
	struct experiment *founder;  /* NULL: is one */
	bool system_wide;            /* a recording of the whole system, or any part of one */
	bool many_processes;         /* packets name their process, in LWPID */
	const char *path;            /* as given, or founder path + "/" + name */
	const char *name;            /* last component */
	const char *version, *collector, *hostname, *arch, *os, *cwd, *command, *notes;
	const char *process;         /* base name of the command's first word; "" when unknown */
	int64_t pid, ppid;
	int wordsize;
	bool swap;                   /* recorded in the other byte order */
	int64_t pagesize, npages;
	int64_t ncpus, mhz;          /* mhz of the first CPU named, 0 unknown */
	int64_t start_ns;            /* event run: absolute hrtime */
	int64_t start_epoch;
	int64_t end_ns;              /* event exit, relative; or the last time seen */
	bool closed;                 /* has an event exit */
	bool opened;                 /* log.xml could be read up to event run */
	int64_t sample_period_s;
	const char *dversion;
	VEC(struct exp_event) events;
	VEC(struct exp_map) maps;    /* in file order */
	VEC(struct exp_ksym) ksyms;  /* sorted by address */
	VEC(struct exp_stream) streams;
	VEC(struct exp_stack) stacks;
	VEC(uint64_t) stack_pcs;
	struct map stack_by_uid;     /* uid to index into stacks */
	uint64_t njava;              /* Java stacks and compiled methods, which are passed over */
	VEC(struct exp_element) recorder; /* in file order; none when another recorder wrote it */
	VEC(struct exp_thread) threads;   /* in file order; none without microstates */
	VEC(struct exp_name) names;       /* in file order */
	VEC(struct exp_io_file) io_files; /* made at the first question for one */
	struct map io_by_packet;     /* address of a packet to index into io_files */
	bool io_followed;
	struct map thread_numbers, lwp_numbers; /* made at the first question for one */
	bool numbered;
	struct file overview;
	struct diag diag;            /* what was wrong, shown by `header` */
	struct arena arena;
};

/*
 * Open the experiment directory at path. NULL, after reporting to d, when it is
 * none (no directory, a name without ".er", no log.xml); whatever else is wrong
 * goes into the experiment's diag and the caller gets what is readable.
 */
struct experiment *experiment_open(const char *path, struct diag *d);
/* Also for sub-experiments: name is an entry of founder's directory. */
struct experiment *experiment_open_sub(struct experiment *founder, const char *name);
void experiment_close(struct experiment *e);

/* The attribute of an element, or NULL; as an integer, or 0. */
const char *element_get(const struct exp_element *el, const char *name);
int64_t element_int(const struct exp_element *el, const char *name);

/* run_ns and off_ns together. */
int64_t thread_sum(const struct exp_thread *th);

/* How many usage records there are, and the i-th (cumulative). */
size_t experiment_nusages(const struct experiment *e);
void experiment_usage(const struct experiment *e, size_t i, struct exp_usage *ret);

/* Whether a path is spelled as that of an experiment (".er"), of a group (".erg"). */
bool is_experiment_name(const char *path);
bool is_group_name(const char *path);

/*
 * The names of the sub-experiments ("_….er" directories) of a founder, sorted by name
 * with numbers by value; freed by the caller with free() each and vec_free.
 */
typedef VEC(char *) str_vec;
void experiment_subs(const struct experiment *e, str_vec *ret);

/* What a group file begins with, without its newline. */
extern const char group_first_line[];
/*
 * The experiments a group file (.erg) names, in order; a warning when there are none. 0 or
 * -1 after reporting.
 */
int group_read(const char *path, str_vec *ret, struct diag *d);
/* Add a line to a group file, creating it with its first line. 0 or -1 after reporting. */
int group_add(const char *path, const char *experiment, struct diag *d);

/* --- packets --- */

struct packet;

/* The file that an I/O packet is about, into e->io_files; 0 for other packets. */
uint32_t experiment_io_file(struct experiment *e, const struct packet *p);

/*
 * The number of the thread, of the LWP, with this id in packets: from 1 in the order of
 * packets, clock packets first, as gprofng numbers them. 0: no packet has the id. The first call reads all
 * packets.
 */
int64_t experiment_thread_number(struct experiment *e, int64_t thrid);
int64_t experiment_lwp_number(struct experiment *e, int64_t lwpid);

/* A field found by name in a stream; offset 0 (no field is there) when it has none. */
struct field_ref {
	uint32_t offset;
	enum er_type type;
};

struct field_ref stream_field(const struct exp_stream *s, const char *name);

/* A packet: a borrowed view, checked to lie in the file. */
struct packet {
	const unsigned char *p;
	uint32_t size;
	bool swap;
};

/* The field's value; 0 when the packet is too short for it or has none, or it is no integer. */
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

/* A STRING field: its bytes (no NUL at their end) and how many; 0 when there is none. */
size_t packet_text(const struct packet *p, struct field_ref f, const char **ret);

struct packet_iter {
	const struct exp_stream *stream;
	uint64_t pos, released; /* up to where it need not stay in memory */
	uint64_t nbad; /* places that could not be read and were passed over */
	bool swap;
};

void packet_iter_init(struct packet_iter *it, const struct experiment *e,
		      const struct exp_stream *s);
/*
 * Once a walk came to the end: warn of the places that it passed over, the first
 * time. experiment_check_packets sees to it that all streams were walked.
 */
void packet_iter_report(const struct packet_iter *it, struct experiment *e, struct exp_stream *s);
void experiment_check_packets(struct experiment *e);
/* The next packets of the stream's kind, up to max; 0 only at the end. */
size_t packet_batch(struct packet_iter *it, struct packet *ret, size_t max);

/* The next one; false at the end. */
static inline bool packet_next(struct packet_iter *it, struct packet *ret)
{
	return packet_batch(it, ret, 1);
}

/* The index into e->stacks of the uid, or -1. */
static inline int64_t experiment_stack(const struct experiment *e, uint64_t uid)
{
	const uint64_t *index = map_get(&e->stack_by_uid, uid);

	return index ? (int64_t)*index : -1;
}

#endif
