/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The spans of a recording (--span): finds the places that their SPECs name, and writes spans.xml,
 * the sums of each name. span_packets.c writes the packets.
 */
#ifndef USER_RECORD_SPAN_SET_H
#define USER_RECORD_SPAN_SET_H

#include <stdbool.h>
#include <stddef.h>

struct buf;
struct capture;
struct capture_spans;
struct diag;
struct expwriter;
struct plan;
struct span_set;

/*
 * Find all places. Returns 0, or -1 after one sentence with the remedy. *ret is NULL if the plan has
 * no spans. It borrows the plan. Release it with span_set_free.
 */
int span_set_open(const struct plan *plan, struct diag *d, struct span_set **ret);
/* For the capture's plan; borrowed. NULL for NULL. */
const struct capture_spans *span_set_capture(const struct span_set *s);
/*
 * After capture_open: report functions that the kernel refused. Returns 0, or -1 after one sentence with the remedy, if
 * a name has none left or no wildcards. NULL is allowed.
 */
int span_set_refused(struct span_set *s, struct diag *d);
/* Rewrite spans.xml in the founder: the sums up to now. NULL: writes nothing. */
void span_set_write(const struct span_set *s, const struct capture *c, struct expwriter *founder);
/*
 * Append to recorder.xml what went wrong with calls of all names together, if anything did: <spanloss
 * missed= vanished=>. Vanished calls are known after the stop only, for the whole recording. NULL: nothing.
 */
void span_set_losses(const struct span_set *s, const struct capture *c, bool stopped, struct buf *b);
/* A segment follows: its sums count from the last span_set_write on. NULL is allowed. */
void span_set_restart(struct span_set *s, const struct capture *c);
void span_set_free(struct span_set *s); /* NULL is allowed */

#endif
