/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The entries of the lists of lines and pcs without their values, for code that adds up itself.
 */
#ifndef VIEWS_PLACES_H
#define VIEWS_PLACES_H

#include <stddef.h>
#include <stdint.h>

#include "analysis/views/view.h"

struct frame;
struct func;
struct place_list;

/* Release with place_list_free. */
struct place_list *place_list_new(struct view_state *v, enum place_kind kind);
/*
 * The entry of a frame, which are numbered from 0; or, if `whole` is not NULL, that of a function
 * whose load object is not shown in full.
 */
uint32_t place_list_key(struct place_list *l, const struct frame *frame, const struct func *whole);
/* The number of entries that frames have so far. */
size_t place_list_len(const struct place_list *l);
/* The entry as the list names it. The text lives as long as the list. */
const char *place_list_name(struct place_list *l, uint32_t key);
void place_list_free(struct place_list *l);

#endif
