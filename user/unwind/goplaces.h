/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where a Go program keeps the number of the goroutine that a thread runs (struct er_go_places). The runtime's
 * records differ between versions of Go, so the distances in them are read from the program's code:
 * goswitch.h finds the way to the goroutine, and the function that creates goroutines has the place of the
 * number. Only an exact match counts. The file is untrusted, and what is found is used only to read memory of
 * processes that map it.
 */
#ifndef USER_UNWIND_GOPLACES_H
#define USER_UNWIND_GOPLACES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/unwind.h"

/* A file that is no Go program has all fields 0; one whose goroutines' numbers are not found has `maker` only. */
void goplaces_find(const void *elf, size_t size, struct er_go_places *ret);

/* The distance of the number in a goroutine's record, from the code of runtime.newproc1. 0: not found. */
uint16_t goplaces_number(const unsigned char *p, size_t n);

#endif
