/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by the rules of findings.h: the type of a row in their table, and functions. */
#ifndef FINDINGS_RULES_H
#define FINDINGS_RULES_H

#include "analysis/findings/facts.h"
#include "analysis/findings/findings.h"

struct buf;
struct hit;

struct finder {
	struct facts facts;
	struct arena *arena; /* texts of findings */
	finding_vec found;
};

struct rule {
	const char *name;
	enum holdup holdup;  /* for find_holdup */
	/*
	 * Thresholds. of_program: a share of the time that the program ran or was held up; for a
	 * chain, of the time that the first thread waited for messages; for stolen time, of the
	 * time that threads had a CPU. of_whole: a share of the time that the data cover; for
	 * losses, of the clock samples. For spans, of_program is a share of the time that slow calls
	 * take beyond the others' mean, and the time of all slow calls is compared with of_whole.
	 */
	double of_program, of_whole;
	void (*find)(struct finder *f, const struct rule *r);
};

/* Each adds its findings; none if the thresholds are not passed. */
void find_losses(struct finder *f, const struct rule *r);
void find_holdup(struct finder *f, const struct rule *r);
void find_stolen(struct finder *f, const struct rule *r);
void find_chain(struct finder *f, const struct rule *r);
void find_spans(struct finder *f, const struct rule *r);
void find_computing(struct finder *f, const struct rule *r);

/* Append the packet's wait, if it is one for a message that a thread ended. */
void add_message_wait(message_waits *ret, const struct hit *h);
/*
 * Add a finding. The texts are copied; command must not be NULL. error_ns 0: the figure is exact.
 */
void finder_add(struct finder *f, const struct rule *r, const char *text, int64_t figure_ns,
		double error_ns, const char *command, const char *filter);
/* Append a time in a form for people: "6.1 s", "12 ms", "3 us". */
void put_time(struct buf *b, double ns);
/* Append a share with its standard error: "31 %", "31 % (+-2 %)". */
void put_share(struct buf *b, double share, double error);

#endif
