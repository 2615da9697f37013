/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The experiments of one recording: the founder and the sub-experiments. Writes
 * what refers to something after it: a stack before the packets that name it, a
 * kernel symbol before the stack, and each once.
 */
#ifndef KERNEL_ER_BOOK_H
#define KERNEL_ER_BOOK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/experiment/expwriter.h"
#include "kernel_er/drops.h"
#include "kernel_er/plan.h"
#include "user/binaries.h"
#include "user/procmap.h"

struct diag;
struct book;
struct ksymtab;
struct page; /* one experiment */

/*
 * Make the founder `name` below dirfd. 0 or -errno after reporting; *ret is for
 * book_close. The header's strings are borrowed for good.
 */
int book_open(int dirfd, const char *name, const struct exp_header *h, const struct plan *plan,
	      struct drops *drops, struct diag *d, struct book **ret);
/* Write the exit events, flush, free. 0 or -errno, not reported. */
int book_close(struct book *b, uint64_t time_ns);
/* Free what is not written, and take the founder's directory away again. */
void book_discard(struct book *b, int dirfd, const char *name);

/*
 * Have fn called every few milliseconds while directories are made and files
 * written, which may take long: rings fill up meanwhile. fn must not use the book.
 */
void book_set_relief(struct book *b, void (*fn)(void *ctx), void *ctx);
/* Call it, if it is time: for those that write much at once. */
void book_relieve(struct book *b);

struct page *book_founder(struct book *b);
/*
 * The times off a CPU of kernel threads and of processes that have no
 * sub-experiment: made when first asked for; the founder if that fails.
 */
struct page *book_others(struct book *b);
struct expwriter *page_writer(struct page *p);
/*
 * A sub-experiment of the image, with the address space it has now, under names
 * from `binaries`. NULL, counted, when there is no room for one more.
 */
struct page *book_add(struct book *b, const struct image *im, struct binaries *binaries,
		      const char *stem);
/* The image has ended: the sub-experiment's exit event, and its files closed. */
void book_end(struct book *b, struct page *p, uint64_t time_ns);

/* A mapping of the page's image came or went. */
void page_map(struct book *b, struct page *p, struct binaries *binaries, pid_t pid,
	      const struct mapping *m);
void page_unmap(struct book *b, struct page *p, const struct mapping *m, uint64_t time_ns);

/*
 * The uid that the page has the stack by, 0 if it has not: page_stack writes it, unless all uids
 * were used up (0). The first nkernel pcs are the kernel's, or addresses of page_pseudo_pc.
 */
uint32_t page_stack_uid(const struct page *p, uint64_t id);
uint32_t page_stack(struct book *b, struct page *p, uint64_t id, const uint64_t *pcs, size_t npcs,
		    size_t nkernel);
/* The address of a function that stands for no code; the function is written when new. */
uint64_t page_pseudo_pc(struct book *b, struct page *p, const char *name);
/* The uid of the stack of that one frame. */
uint32_t page_pseudo(struct book *b, struct page *p, const char *name);
/* The name of the kernel function at this address, valid until the next such call; NULL: none. */
const char *book_ksym_name(struct book *b, uint64_t pc);
/* The kernel's symbols; NULL: nothing is profiled. */
const struct ksymtab *book_ksyms(const struct book *b);
/* A line of threads.xml. */
void book_thread(struct book *b, const char *line);
/* The event run. */
uint64_t book_start(const struct book *b);
/* A packet of any other kind than clock packets, as expwriter_packet wants it. */
void page_packet(struct book *b, struct page *p, enum er_packet kind, const int64_t *values);
void page_clock(struct book *b, struct page *p, const struct clock_packet *c);

/*
 * Bring everything to disk; what is little may wait for the call after this one.
 * 0 or -errno: the recording must end.
 */
int book_flush(struct book *b);
uint64_t book_bytes(const struct book *b);
size_t book_nsubs(const struct book *b);
/* -L has been reached. */
bool book_full(const struct book *b);

#endif
