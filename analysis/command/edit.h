/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The keyboard: line editing, history and completion (complete.h), using libedit. It is a file of
 * its own so that only tools that need libedit link it.
 */
#ifndef COMMAND_EDIT_H
#define COMMAND_EDIT_H

struct input;

/* A line_reader (shell.h) for a terminal. */
char *edit_read_line(struct input *in, const char *prompt);

#endif
