/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds the instructions at which a function returns. Breakpoints on them see the end of a call
 * where a return probe would end the program: it exchanges the return address on the stack, and an
 * exception that is thrown through such a frame finds no handler. If the thread switches its stack inside such a
 * function, as coroutines do, the kernel takes the call for one that longjmp left, and sends another one to its caller.
 *
 * A jump to another function ends the call, too (a tail call). Parts that the compiler put elsewhere
 * (NAME.cold, or code with call frame information but without a symbol) belong to the function.
 */
#ifndef USER_PROBE_ENDS_H
#define USER_PROBE_ENDS_H

#include <stdbool.h>

#include "user/probe/image.h"

struct sym;
struct symtab;

/* True if exceptions may pass through functions of this binary: it catches some, or cleans up. */
bool ends_unwound(const struct image_file *im);
/* True if threads switch their stacks in functions of this binary, by a way that is known. */
bool ends_switched(const struct image_file *im);
/*
 * Append the ends of the function. Returns 0, or -1 if it cannot be decoded with certainty: then
 * *ret is empty.
 */
int ends_find(const struct image_file *im, const struct symtab *t, const struct sym *function,
	      probe_ends *ret);

#endif
