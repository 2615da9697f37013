/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Command lines of programs, as BPF sent them when the programs began (struct er_command). The texts
 * come from recorded processes. The newest COMMANDS_MAX are kept; the others are forgotten. Not
 * thread safe.
 */
#ifndef USER_RECORD_COMMANDS_H
#define USER_RECORD_COMMANDS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include <linux/types.h>

#include "bpf/command.h"

enum { COMMANDS_MAX = 4096 };

struct commands;

struct commands *commands_new(void);
void commands_free(struct commands *c); /* NULL: nothing */
/* Keep a well-formed record. */
void commands_take(struct commands *c, const struct er_command *r);
/*
 * The first command line of the process from `begin_ns` on and before `end_ns` (0: it still runs), with
 * blanks between the arguments; valid until the next commands_take. *whole: nothing is cut off. NULL:
 * not known.
 */
const char *commands_find(const struct commands *c, pid_t pid, uint64_t start_time, uint64_t begin_ns,
			  uint64_t end_ns, bool *whole);

#endif
