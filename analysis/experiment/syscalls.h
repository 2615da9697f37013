/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names of system calls. We have our own tables because an experiment may come from
 * another machine.
 */
#ifndef EXPERIMENT_SYSCALLS_H
#define EXPERIMENT_SYSCALLS_H

#include <stdint.h>

/* The name of a system call; arch as in log.xml ("x86_64"). NULL: unknown. */
const char *syscall_name(const char *arch, int64_t number);
/* The number of a system call; case does not matter. -1: unknown. */
int syscall_number(const char *arch, const char *name);

#endif
