/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Parses the operands of USDT notes, as in "-4@%edi 8@-16(%rbp) 8@$5". */
#ifndef USER_PROBE_USDT_H
#define USER_PROBE_USDT_H

#include "bpf/place.h"

/*
 * The place of argument `number`, from 1, in the text of a note. Returns 0; -ENOENT if there are
 * fewer arguments; -EINVAL if the operand has a form that is not known (a float, a symbol).
 */
int usdt_place(const char *arguments, unsigned number, struct er_place *ret);

#endif
