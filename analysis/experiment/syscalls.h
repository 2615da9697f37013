/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names of system calls. The table is ours: an experiment may come from another machine. */
#ifndef EXPERIMENT_SYSCALLS_H
#define EXPERIMENT_SYSCALLS_H

#include <stdint.h>

/* arch as log.xml names it ("x86_64"). NULL: no call of that number is known there. */
const char *syscall_name(const char *arch, int64_t number);
/* In either case of letters; -1 not known. */
int syscall_number(const char *arch, const char *name);

#endif
