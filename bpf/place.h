/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where an argument is when a probe is hit. User space finds the places before the recording
 * (user/probe/sites.h) and BPF reads them (place.bpf.h).
 */
#ifndef PLACE_H
#define PLACE_H

#ifndef __bpf__
#include <linux/types.h>
#endif

enum {
	ER_PROBE_VALUES = 4,       /* arguments of a probe that are recorded or tested */
	ER_PROBE_TESTS = 4,        /* comparisons of a filter */
	ER_PROBE_STRING = 64,      /* bytes of a string that are recorded, with the NUL */
	ER_SPAN_PARTS = 2,         /* of a function, in which an indirect jump may stay */
};

enum er_place_kind {
	ER_PLACE_NONE,     /* this site has no such argument */
	ER_PLACE_CONSTANT, /* `value` */
	ER_PLACE_REGISTER, /* register `base` */
	ER_PLACE_MEMORY,   /* user memory at `base` + `index` * `scale` + `value` */
	ER_PLACE_FIELD,    /* a tracepoint's record, at the offset `value` */
	ER_PLACE_TEXT,     /* a tracepoint's record has a string at the offset `value`, */
	ER_PLACE_LOCATED,  /* or there, in the low 16 bits, the string's offset (__data_loc) */
};

/* No such register. Registers are numbered by their word in struct pt_regs: r15 is 0, rdi 14. */
enum { ER_REGISTER_NONE = 255 };

struct er_place {
	__s64 value;
	__u8 kind;        /* enum er_place_kind */
	__u8 base, index, scale;
	__u8 size;        /* of the integer: 1, 2, 4 or 8 bytes */
	__u8 is_signed;
	__u8 is_string;   /* the value is the address of a string in user memory, unless TEXT or LOCATED */
	__u8 pad;
};

enum er_test_op { ER_TEST_EQ, ER_TEST_NE, ER_TEST_LT, ER_TEST_LE, ER_TEST_GT, ER_TEST_GE, ER_TEST_BITS };

/* A comparison of a value with a constant. ER_TEST_BITS: value & constant is not 0. */
struct er_test {
	__u64 constant;
	__u32 value; /* index of the value, below ER_PROBE_VALUES */
	__u32 op;    /* enum er_test_op */
};

#endif
