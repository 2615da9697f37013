/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "user/unwind/pythonfile.h"

#include <stdint.h>

#include "bpf/python.h"
#include "user/unwind/elftext.h"

/* Py_Version exists since 3.11. */
static __u32 release_of(const struct elftext *e)
{
	uint64_t addr;
	uint32_t version;

	if (!elftext_variable(e, "Py_Version", &addr) ||
	    !elftext_read(e, addr, &version, sizeof(version)))
		return PYTHON_OLD;
	return version & PYTHON_RELEASE;
}

/* The distance of a variable from file offset 0, as the code is mapped. */
static bool distance_of(const struct elftext *e, const char *name, __s32 *ret)
{
	uint64_t addr, zero = e->segments[0].addr - e->segments[0].offset;

	if (!elftext_variable(e, name, &addr) || addr - zero > INT32_MAX)
		return false;
	*ret = addr - zero;
	return true;
}

void pythonfile_find(const void *elf, size_t size, struct er_unwind_file *ret)
{
	struct elftext e;
	uint64_t addr;

	ret->python = ret->python_runtime = ret->python_code = 0;
	if (elftext_open(&e, elf, size) || e.nsegments != 1 ||
	    !elftext_variable(&e, "_PyRuntime", &addr))
		return;
	ret->python = release_of(&e);
	if (ret->python == PYTHON_3_11 && (!distance_of(&e, "_PyRuntime", &ret->python_runtime) ||
					   !distance_of(&e, "PyCode_Type", &ret->python_code)))
		ret->python = 0;
}
