/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/symbols/opcodes.h"

#include <dlfcn.h>

#include "analysis/base/alloc.h"

static const struct opcodes own = { init_disassemble_info, disassembler,
				    disassemble_init_for_target, disassemble_free_target };

/* BINUTILS_VERSION is the version of the headers; "" if unknown. */
static bool load(const char *machine, struct opcodes *ret)
{
	__cleanup(freep) char *name =
		xasprintf("libopcodes-%s-%s.so", BINUTILS_VERSION, machine);
	void *lib = *BINUTILS_VERSION ? dlopen(name, RTLD_LAZY | RTLD_LOCAL) : NULL;

	if (!lib)
		return false;
	*(void **)&ret->init = dlsym(lib, "init_disassemble_info");
	*(void **)&ret->disassembler = dlsym(lib, "disassembler");
	*(void **)&ret->init_target = dlsym(lib, "disassemble_init_for_target");
	*(void **)&ret->free_target = dlsym(lib, "disassemble_free_target");
	if (ret->init && ret->disassembler && ret->init_target && ret->free_target)
		return true;
	dlclose(lib);
	return false;
}

bool opcodes_for(enum bfd_architecture arch, bool big, unsigned long mach, const char *debian,
		 struct opcodes *ret)
{
	const char *const machines[] = { debian, "multiarch" };

	*ret = own;
	if (ret->disassembler(arch, big, mach, NULL))
		return true;
	for (size_t i = 0; i < sizeof(machines) / sizeof(machines[0]); i++) {
		if (load(machines[i], ret) && ret->disassembler(arch, big, mach, NULL))
			return true;
	}
	return false;
}
