/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/model/knownlock.h"

#include <string.h>

#include "analysis/base/glob.h"
#include "analysis/model/dataobj.h"
#include "analysis/model/source.h"

#define PYTHON_GIL "Python's interpreter lock (GIL)"

/*
 * CPython's struct _gil_runtime_state has a condition variable and a mutex for the lock, and two more
 * for a forced switch: 208 bytes with glibc. Its place in _PyRuntime is that of x86-64 builds of the
 * release, where its first word is the switch interval. From 3.12 on each interpreter has a lock.
 */
static const struct {
	const char *object; /* a pattern of file names */
	const char *variable;
	uint64_t begin, size;
	const char *name;
} known[] = {
	{ "*python3.8*", "_PyRuntime", 0x480, 208, PYTHON_GIL },
	{ "*python3.9*", "_PyRuntime", 0x160, 208, PYTHON_GIL },
	{ "*python3.10*", "_PyRuntime", 0x160, 208, PYTHON_GIL },
	{ "*python3.11*", "_PyRuntime", 0x168, 208, PYTHON_GIL },
};

const char *known_lock(const struct dataobj *variable, uint64_t offset, uint64_t *begin)
{
	if (!variable->obj)
		return NULL;
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (offset < known[i].begin || offset - known[i].begin >= known[i].size ||
		    strcmp(variable->name, known[i].variable) ||
		    !glob_match(known[i].object, base_name(variable->obj->path)))
			continue;
		*begin = known[i].begin;
		return known[i].name;
	}
	return NULL;
}
