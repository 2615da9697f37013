/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds what the breakpoints of -H do not reach in the family of a process (heap_sites.h): functions of the
 * heap in files that the process had not mapped when the recording began, such as an allocator of a program that
 * it has started, and set-user-id programs, in which the kernel removes breakpoints. Each file is looked at once.
 */
#ifndef USER_RECORD_HEAP_UNSEEN_H
#define USER_RECORD_HEAP_UNSEEN_H

struct heap_sites;
struct heap_unseen;
struct image;
struct mapping;

struct heap_unseen *heap_unseen_new(const struct heap_sites *sites); /* borrowed */
void heap_unseen_free(struct heap_unseen *u);
/* An image of the family has mapped code. The ctx is the struct heap_unseen. */
void heap_unseen_mapped(void *ctx, const struct image *im, const struct mapping *m);
/* A sentence for the user, which the caller frees; NULL: nothing was missed. */
char *heap_unseen_text(const struct heap_unseen *u);

#endif
