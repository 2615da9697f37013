/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes the experiments of one recording: the founder and the sub-experiments. Everything is
 * written once, and before anything that refers to it: a kernel symbol before the stacks that
 * contain it, a stack before its packets.
 */
#ifndef USER_RECORD_RECORDING_H
#define USER_RECORD_RECORDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/experiment/expwriter.h"
#include "user/record/drops.h"
#include "user/record/plan.h"
#include "user/space/binaries.h"
#include "user/space/procmap.h"

struct codes;
struct span_packet;
struct diag;
struct recording;
struct ksymtab;
struct output; /* one experiment */

/*
 * Create the founder `name` in the directory dirfd. Returns 0, or -errno after reporting; -EEXIST, which is not
 * reported, if the name is taken. End it
 * with recording_close or recording_discard. The header's strings and the plan must outlive the recording.
 */
int recording_open(int dirfd, const char *name, const struct exp_header *h, const struct plan *plan,
	      struct drops *drops, struct diag *d, struct recording **ret);
/*
 * Write the exit events and flush: the experiment is then complete. Afterwards only recording_close
 * may be called, and functions that replace a file of the founder. Both return 0 or -errno and
 * report nothing.
 */
int recording_finish(struct recording *b, uint64_t time_ns);
int recording_close(struct recording *b);
/*
 * A recording may continue in another experiment, its next segment:
 *
 *	recording_prepare(b, …);      the next experiment exists, and nothing is written there yet
 *	… write the last packets …
 *	recording_finish(b, time_ns); the present experiment is complete
 *	… forget all outputs: drain_restart() …
 *	recording_switch(b);          from now on everything is written into the next experiment
 *
 * Each segment is complete in itself: stacks, maps, symbols and names are written again when they
 * are used again. If recording_prepare fails, as recording_open does, the present experiment goes on.
 * recording_switch returns 0, or -errno of the experiment that it closed.
 */
int recording_prepare(struct recording *b, int dirfd, const char *name, const struct exp_header *h,
		      struct diag *d);
int recording_switch(struct recording *b);
/* Free the recording without writing, and remove the founder's directory. */
void recording_discard(struct recording *b, int dirfd, const char *name);

/*
 * Have fn called every few milliseconds while directories and files are written. Writing may take
 * long, and fn can empty the rings meanwhile. fn must not use the recording.
 */
void recording_set_relief(struct recording *b, void (*fn)(void *ctx), void *ctx);
/*
 * Have fn called when the disk is full while this experiment or a later one is written. fn returns true
 * if it has freed space: the write is tried again. fn must not use the recording.
 */
void recording_on_full(struct recording *b, bool (*fn)(void *ctx), void *ctx);
/* Call that function if its time has come. For callers that write much at once. */
void recording_relieve(struct recording *b);

/*
 * Have fn called when a stack is written into the output of one image with an address that is in no
 * file: generated code. fn may write functions.
 */
void recording_set_generated(struct recording *b,
			     void (*fn)(void *ctx, struct output *p, uint64_t pc), void *ctx);

struct output *recording_founder(struct recording *b);
/*
 * The output for time off the CPU of kernel threads and of processes without a sub-experiment. The
 * first call creates it. If that fails the founder is returned.
 */
struct output *recording_others(struct recording *b);
struct expwriter *output_writer(struct output *p);
/* The image whose addresses the output shows; NULL: it covers many processes. */
struct image *output_image(const struct output *p);
/*
 * Create a sub-experiment for the image, with its present address space and this command line;
 * `binaries` names the mapped files. NULL if there are as many as the plan allows, or if it cannot be created.
 */
struct output *recording_add(struct recording *b, struct image *im, struct binaries *binaries,
		      const char *stem, const char *command);
/*
 * The founder is the experiment of this image, whose addresses it shows from now on. Only for a
 * plan with `program`. Returns the founder.
 */
struct output *recording_adopt(struct recording *b, struct image *im,
			       struct binaries *binaries);
/* True if all packets of the output are of one process. */
bool output_is_process(const struct output *p);
/* True if recording_add has no room any more. */
bool recording_is_crowded(const struct recording *b);
/* The image has ended: write the sub-experiment's exit event and close its files. The founder stays. */
void recording_end(struct recording *b, struct output *p, uint64_t time_ns);

/* A mapping of the output's image came or went. */
void output_map(struct recording *b, struct output *p, struct binaries *binaries, pid_t pid,
	      const struct mapping *m);
void output_unmap(struct recording *b, struct output *p, const struct mapping *m, uint64_t time_ns);

/*
 * output_stack_uid returns the stack's uid in the output, or 0 if the stack is not written there.
 * output_stack writes it and returns its uid, or 0 if all uids are used up. The first nkernel pcs
 * are kernel addresses or addresses from output_pseudo_pc.
 */
uint32_t output_stack_uid(const struct output *p, uint64_t id);
uint32_t output_stack(struct recording *b, struct output *p, uint64_t id, const uint64_t *pcs, size_t npcs,
		    size_t nkernel);
/* The address of a pseudo function, which has no code. A new one is written first. */
uint64_t output_pseudo_pc(struct recording *b, struct output *p, const char *name);
/*
 * Write a function that is in no file; `time_ns` says since when it is at this address, 0: since
 * before the segment. Stacks may mention it already.
 */
void output_function(struct recording *b, struct output *p, uint64_t time_ns, uint64_t start,
		     uint64_t size, const char *name);
/* The same, with all that is known of it. */
void output_dynamic(struct recording *b, struct output *p, const struct exp_code *c);
/* Which methods the code of such a function comes from, and such a method (expwriter.h). */
void output_scopes(struct recording *b, struct output *p, uint64_t time_ns, uint64_t start,
		   const void *data, size_t n);
void output_method(struct recording *b, struct output *p, uint64_t id, const void *data, size_t n);
/* The function that was written with this start is not at its address any more. */
void output_function_gone(struct recording *b, struct output *p, uint64_t time_ns, uint64_t start);
/* The uid of the stack that consists of this pseudo function. */
uint32_t output_pseudo(struct recording *b, struct output *p, const char *name);
/* The name of the kernel function at this address, valid until the next such call; NULL: none. */
const char *recording_ksym_name(struct recording *b, uint64_t pc);
/* The functions of interpreted programs. */
struct codes *recording_codes(struct recording *b);
/* The kernel's symbols; NULL: nothing is profiled. */
const struct ksymtab *recording_ksyms(const struct recording *b);
/* Append a line to threads.xml.gz, to names.xml.gz, to processes.xml.gz. */
void recording_thread(struct recording *b, const char *line);
void recording_name(struct recording *b, const char *line);
void recording_process(struct recording *b, const char *line);
/* Append a line to snapshots.xml.gz. */
void recording_snapshot(struct recording *b, const char *line);
/* Append a line to processes.xml that tells of no further program. */
void recording_process_exit(struct recording *b, const char *line);
/*
 * Whether processes.xml has room for one more process that is listed only because it failed. No: it is
 * counted as dropped.
 */
bool recording_list_failed(struct recording *b);
/* Write the event `run`. */
uint64_t recording_start(const struct recording *b);
/* Write a packet that is not a clock packet; values as in expwriter_packet. */
void output_packet(struct recording *b, struct output *p, enum er_packet kind, const int64_t *values,
		   const char *string);
void output_clock(struct recording *b, struct output *p, const struct clock_packet *c);
void output_span(struct recording *b, struct output *p, const struct span_packet *span);

/*
 * Write buffered data to disk. An output with little data may wait for the next call. Returns 0,
 * or -errno, after which the recording must end.
 */
int recording_flush(struct recording *b);
uint64_t recording_bytes(const struct recording *b);
/* The number of sub-experiments. The number of programs that followed processes ran. */
size_t recording_nsubs(const struct recording *b);
size_t recording_nprocesses(const struct recording *b);
/* True if the limit of -L is reached. */
bool recording_full(const struct recording *b);

#endif
