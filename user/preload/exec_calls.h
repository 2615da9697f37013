/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The environment of a program of which only the process itself is recorded (collect -F off). The program and its
 * children see the environment that the user gave: without this library in LD_PRELOAD, and without the library's
 * variable. If the process itself executes another program, by a function of the exec family, that one gets
 * both again.
 */
#ifndef USER_PRELOAD_EXEC_CALLS_H
#define USER_PRELOAD_EXEC_CALLS_H

/* Call it in the library's constructor, after heap_client has asked for a ring. */
void exec_calls_begin(const char *variable);

#endif
