/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads what a Python interpreter's file says about where the interpreter keeps its data: the debug
 * offsets with which _PyRuntime begins from 3.13 on, and the code of a function. Both are untrusted.
 */
#ifndef USER_UNWIND_PYTHONPLACES_H
#define USER_UNWIND_PYTHONPLACES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/python.h"

enum {
	PYTHON_DEBUG_WORDS = 71, /* of the debug offsets, those that are read */
	PYTHON_CODE_MAX = 256,   /* bytes of PyGILState_GetThisThreadState() */
};

/* False if these are not the debug offsets of a build that is understood. */
bool pythonplaces_read(const uint64_t *words, struct er_python_places *ret);

/*
 * Stores the address of the key of pthread_getspecific() for a thread's own state, from 3.12 on. It is
 * a field of _PyRuntime, at an offset that depends on the build. PyGILState_GetThisThreadState() refers
 * to this field and to no other of _PyRuntime. `addr` is the address of its code. False: the code
 * says nothing, or several things.
 */
bool pythonplaces_key(const unsigned char *code, size_t size, uint64_t addr, uint64_t runtime,
		      uint64_t *ret);

#endif
