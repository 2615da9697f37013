/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The record of a command line. Compiles on both sides. */
#ifndef ER_COMMAND_H
#define ER_COMMAND_H

#include "bpf/er_event.h"

enum { ER_COMMAND_TEXT = 256 }; /* bytes of a command line */

/* A program's command line, sent when the program begins. */
struct er_command {
	struct er_header h;
	__u64 start_time;  /* of the process (group leader); with tgid it identifies the process */
	__u32 tgid;
	__u16 n;           /* bytes of text; each argument ends with a NUL */
	__u8 whole;        /* the text is all of it */
	__u8 pad;
	char text[ER_COMMAND_TEXT];
};

_Static_assert(sizeof(struct er_command) == 32 + ER_COMMAND_TEXT, "ring contract");

#endif
