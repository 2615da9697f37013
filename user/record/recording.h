/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The experiments of one recording: the founder and the sub-experiments. Writes
 * what refers to something after it: a stack before the packets that name it, a
 * kernel symbol before the stack, and each once.
 */
#ifndef USER_RECORD_BOOK_H
#define USER_RECORD_BOOK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/experiment/expwriter.h"
#include "user/record/drops.h"
#include "user/record/plan.h"
#include "user/space/binaries.h"
#include "user/space/procmap.h"

struct diag;
struct recording;
struct ksymtab;
struct output; /* one experiment */

/*
 * Make the founder `name` below dirfd. 0 or -errno after reporting; *ret is for
 * recording_close. The header's strings are borrowed for good.
 */
int recording_open(int dirfd, const char *name, const struct exp_header *h, const struct plan *plan,
	      struct drops *drops, struct diag *d, struct recording **ret);
/* Write the exit events, flush, free. 0 or -errno, not reported. */
int recording_close(struct recording *b, uint64_t time_ns);
/* Free what is not written, and take the founder's directory away again. */
void recording_discard(struct recording *b, int dirfd, const char *name);

/*
 * Have fn called every few milliseconds while directories are made and files
 * written, which may take long: rings fill up meanwhile. fn must not use the recording.
 */
void recording_set_relief(struct recording *b, void (*fn)(void *ctx), void *ctx);
/* Call it, if it is time: for those that write much at once. */
void recording_relieve(struct recording *b);

struct output *recording_founder(struct recording *b);
/*
 * The times off a CPU of kernel threads and of processes that have no
 * sub-experiment: made when first asked for; the founder if that fails.
 */
struct output *recording_others(struct recording *b);
struct expwriter *output_writer(struct output *p);
/* The image whose addresses it shows; NULL: of no one process. */
const struct image *output_image(const struct output *p);
/*
 * A sub-experiment of the image, with the address space it has now, under names
 * from `binaries`. NULL, counted, when there is no room for one more.
 */
struct output *recording_add(struct recording *b, const struct image *im, struct binaries *binaries,
		      const char *stem);
/* The image has ended: the sub-experiment's exit event, and its files closed. */
void recording_end(struct recording *b, struct output *p, uint64_t time_ns);

/* A mapping of the output's image came or went. */
void output_map(struct recording *b, struct output *p, struct binaries *binaries, pid_t pid,
	      const struct mapping *m);
void output_unmap(struct recording *b, struct output *p, const struct mapping *m, uint64_t time_ns);

/*
 * The uid that the output has the stack by, 0 if it has not: output_stack writes it, unless all uids
 * were used up (0). The first nkernel pcs are the kernel's, or addresses of output_pseudo_pc.
 */
uint32_t output_stack_uid(const struct output *p, uint64_t id);
uint32_t output_stack(struct recording *b, struct output *p, uint64_t id, const uint64_t *pcs, size_t npcs,
		    size_t nkernel);
/* The address of a function that stands for no code; the function is written when new. */
uint64_t output_pseudo_pc(struct recording *b, struct output *p, const char *name);
/* The uid of the stack of that one frame. */
uint32_t output_pseudo(struct recording *b, struct output *p, const char *name);
/* The name of the kernel function at this address, valid until the next such call; NULL: none. */
const char *recording_ksym_name(struct recording *b, uint64_t pc);
/* The kernel's symbols; NULL: nothing is profiled. */
const struct ksymtab *recording_ksyms(const struct recording *b);
/* A line of threads.xml, of names.xml. */
void recording_thread(struct recording *b, const char *line);
void recording_name(struct recording *b, const char *line);
/* The event run. */
uint64_t recording_start(const struct recording *b);
/* A packet of any other kind than clock packets, as expwriter_packet wants it. */
void output_packet(struct recording *b, struct output *p, enum er_packet kind, const int64_t *values);
void output_clock(struct recording *b, struct output *p, const struct clock_packet *c);

/*
 * Bring everything to disk; what is little may wait for the call after this one.
 * 0 or -errno: the recording must end.
 */
int recording_flush(struct recording *b);
uint64_t recording_bytes(const struct recording *b);
size_t recording_nsubs(const struct recording *b);
/* -L has been reached. */
bool recording_full(const struct recording *b);

#endif
