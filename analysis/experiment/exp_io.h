/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The files of I/O packets. */
#ifndef EXPERIMENT_EXP_IO_H
#define EXPERIMENT_EXP_IO_H

#include <stdint.h>

struct experiment;
struct packet;

/*
 * The subject of I/O packets: one opening of a file, or one of the fixed entries below
 * ("<stdin>", "<Other IO activity>", …).
 */
struct exp_io_file {
	const char *name;
	int64_t fd; /* -1: none */
};

/* Indexes into io_files: the fixed entries, and the first file. 0: no I/O. */
enum { IO_FILE_STDIN = 1, IO_FILE_OTHER = 4, IO_FILE_FIRST = 10 };

/* The file of an I/O packet, as an index into e->io_files; 0 for other packets. */
uint32_t experiment_io_file(struct experiment *e, const struct packet *p);

#endif
