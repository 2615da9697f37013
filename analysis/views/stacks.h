/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What reports by call stack have in common. */
#ifndef VIEWS_STACKS_H
#define VIEWS_STACKS_H

#include <stdint.h>

struct table;
struct view_state;

/*
 * Add a row for each frame of a stack, leaf first, in the table's last column. `group` is the row's group. A
 * frame without code of its own, such as <Truncated-stack>, is shown without a location.
 */
void put_stack_frames(struct view_state *v, struct table *t, uint32_t stack, int group);

#endif
