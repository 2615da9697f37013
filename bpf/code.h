/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The record of a function of an interpreted program. Compiles on both sides. */
#ifndef ER_CODE_H
#define ER_CODE_H

#include "bpf/er_event.h"

enum {
	/* Functions that BPF knows. The least recently used ones are forgotten, and sent again. */
	ER_CODES_KNOWN = 16384,
	ER_CODE_NAME = 256,  /* bytes of a name; */
	ER_CODE_PATH = 512,  /* of a source file's path; */
	ER_CODE_SIGNATURE = 256, /* of a signature; */
	ER_CODE_SOURCE = 64, /* of the name of a source file; */
	ER_CODE_TABLE = 8192, /* of a line table: the rest is cut off */
};

/* Text: `n` characters of `width` bytes (1, 2 or 4). 0 of them: it has none, or it is not readable. */
struct er_code_text {
	__u16 n, width;
};

enum er_code_language { ER_CODE_PYTHON, ER_CODE_JAVA, ER_CODE_LANGUAGES };

/*
 * A function of an interpreted program, read by BPF while it ran. It is sent before the first stack
 * that has it. `number` counts from 1.
 *
 * Python: name and path of its file; the table is CPython's co_linetable. Java: name, class (as
 * path), signature, and the name of its source file, all as in a class file; the table begins with
 * HotSpot's compressed lines.
 */
struct er_code {
	struct er_header h;
	__u64 start_time;  /* of the process (group leader); with tgid it identifies the process */
	__u32 tgid;
	__u32 number;
	__s32 first_line;  /* Python */
	__u32 units;       /* instructions; Java: bytes of them */
	__u32 table_size;
	__u32 uid;         /* of the process's user; -1: its real and effective users differ */
	__u32 language;    /* enum er_code_language */
	struct er_code_text name, path, signature, source;
	__u32 bias;        /* Java: 1 if no byte of a number in its table is 0 (from Java 20 on) */
	__u8 name_bytes[ER_CODE_NAME];
	__u8 path_bytes[ER_CODE_PATH];
	__u8 signature_bytes[ER_CODE_SIGNATURE];
	__u8 source_bytes[ER_CODE_SOURCE];
	__u8 table[];
};

_Static_assert(sizeof(struct er_code) == 72 + ER_CODE_NAME + ER_CODE_PATH +
	       ER_CODE_SIGNATURE + ER_CODE_SOURCE, "ring contract");

#endif
