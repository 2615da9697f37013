/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Unwind rules of a Go program by its own table (gotable.h), which says for each instruction how many
 * bytes its function's frame has. `go build -ldflags=-s -w` leaves this table, and no call frame
 * information. It also says which functions have no caller, and which change to another stack;
 * goswitch.h knows some of these. Reads tables of Go 1.18 and later. The file is untrusted.
 */
#ifndef USER_UNWIND_GOFRAMES_H
#define USER_UNWIND_GOFRAMES_H

#include <linux/types.h>
#include <stdbool.h>
#include <stdint.h>

#include "analysis/symbols/gotable.h"
#include "bpf/unwind.h"
#include "user/unwind/elftext.h"
#include "user/unwind/goswitch.h"

struct goframes {
	const struct elftext *elf;
	struct gotable table;
	struct goswitch stacks;
	uint64_t next; /* the function that goframes_next returns */
	go_depths depths;
};

/* False: it is not a Go program, or its functions are not where its table says. */
bool goframes_open(struct goframes *g, const struct elftext *e);
void goframes_close(struct goframes *g);
/* The next function, by address. False: there are no more. */
bool goframes_next(struct goframes *g, struct go_function *ret);
/* `rule` holds from the address `pc` on. */
typedef void goframes_fn(void *ctx, uint64_t pc, const struct er_unwind_rule *rule);
/*
 * Report the rules of a function by address. Returns the end of its code, without padding. There are
 * no rules for the return from a signal handler, which knowncode.h finds.
 */
uint64_t goframes_rules(struct goframes *g, const struct go_function *f, goframes_fn *found, void *ctx);

#endif
