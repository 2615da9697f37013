/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "user/unwind/pythonfile.h"

#include <stdint.h>

#include "bpf/python.h"
#include "user/unwind/elftext.h"
#include "user/unwind/pythonplaces.h"

/* What differs between the releases without debug offsets. */
static const struct er_python_places places_3_11 = { 56 / 8, 152 / 8, 184 / 8, 0 };
static const struct er_python_places places_3_12 = { 56 / 8, 136 / 8, 192 / 8, 0 };

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

/* The distance of an address from file offset 0, as the code is mapped. */
static bool distance_of(const struct elftext *e, uint64_t addr, __s32 *ret)
{
	uint64_t distance = addr - (e->segments[0].addr - e->segments[0].offset);

	*ret = distance;
	return distance <= INT32_MAX;
}

static bool find_places(const struct elftext *e, __u32 release, uint64_t runtime, struct er_python_places *ret)
{
	uint64_t words[PYTHON_DEBUG_WORDS];

	if (release == PYTHON_3_13)
		return elftext_read(e, runtime, words, sizeof(words)) && pythonplaces_read(words, ret);
	*ret = release == PYTHON_3_11 ? places_3_11 : places_3_12;
	return true;
}

/* The key's address: its offset in _PyRuntime depends on the build. */
static bool find_key(const struct elftext *e, __u32 release, uint64_t runtime, uint64_t *ret)
{
	unsigned char code[PYTHON_CODE_MAX];
	uint64_t addr, size;

	*ret = runtime + PY_GILSTATE_KEY;
	if (release == PYTHON_3_11)
		return true;
	return elftext_function(e, "PyGILState_GetThisThreadState", &addr, &size) && size <= sizeof(code) &&
	       elftext_read(e, addr, code, size) && pythonplaces_key(code, size, addr, runtime, ret);
}

static bool find_all(const struct elftext *e, __u32 release, uint64_t runtime, struct er_unwind_file *ret)
{
	uint64_t code, key;

	return elftext_variable(e, "PyCode_Type", &code) && find_key(e, release, runtime, &key) &&
	       distance_of(e, runtime, &ret->python_runtime) && distance_of(e, code, &ret->python_code) &&
	       distance_of(e, key, &ret->python_key) &&
	       find_places(e, release, runtime, &ret->python_places);
}

void pythonfile_find(const void *elf, size_t size, struct er_unwind_file *ret)
{
	struct er_unwind_file found = { 0 };
	struct elftext e;
	uint64_t runtime;

	ret->python = 0;
	if (!elftext_open(&e, elf, size) && e.nsegments == 1 && elftext_variable(&e, "_PyRuntime", &runtime)) {
		ret->python = release_of(&e);
		if (python_is_known(ret->python) && !find_all(&e, ret->python, runtime, &found)) {
			found = (struct er_unwind_file){ 0 };
			ret->python |= PYTHON_STRANGE;
		}
	}
	ret->python_runtime = found.python_runtime;
	ret->python_code = found.python_code;
	ret->python_key = found.python_key;
	ret->python_places = found.python_places;
}
