/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The functions of interpreted programs (struct er_code). BPF sends each function of each process
 * with a number. Here equal functions are one: those with the same name, file and lines. So
 * functions of different processes of one program are the same function in a pool.
 *
 * In an experiment a function has an address that no process can use, as a file in a pool has
 * (addresses.h). Its offsets count instructions. It is written when a stack first mentions it.
 *
 * Everything except the number comes from recorded processes. Memory is bounded: further functions
 * are shown as unknown. Not thread safe.
 */
#ifndef USER_RECORD_CODES_H
#define USER_RECORD_CODES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <linux/types.h>

#include "analysis/experiment/expwriter.h"
#include "bpf/code.h"

struct codes;

/* The names of functions whose names are not known. */
#define CODES_UNKNOWN "<Python>"
#define CODES_UNKNOWN_JAVA "<Java>"

struct codes *codes_new(void);
void codes_free(struct codes *c); /* NULL: nothing */

/*
 * Keep a well-formed record. Without `named` the function is shown as unknown. False: so it
 * is for lack of room.
 */
bool codes_take(struct codes *c, const struct er_code *code, bool named);
/* False if the record of the frame's function has not come yet. */
bool codes_has(const struct codes *c, uint64_t frame);
/*
 * The function of a frame with er_frame_is_code(), without its address, valid until codes_free.
 * *ret_frame is the frame with which all equal functions are written.
 */
const struct exp_code *codes_find(const struct codes *c, uint64_t frame, uint64_t *ret_frame);

#endif
