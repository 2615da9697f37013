/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the symbol tables of a file say, as the file has them: symbols of other files included. The
 * file may be damaged; of a table that is too large only the first symbols are looked at.
 */
#ifndef USER_PROBE_RAWSYMS_H
#define USER_PROBE_RAWSYMS_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/symbols/elfsyms.h"

struct rawsyms {
	bool found;
	bool undefined; /* another file has it */
	bool ifunc;     /* chosen when the program starts */
	bool data;      /* a variable */
};

/* The symbols of a name, or those at an address, taken together. */
struct rawsyms rawsyms_named(Elf *elf, const char *name);
struct rawsyms rawsyms_at(Elf *elf, uint64_t addr);
/* Whether the name of any symbol matches one of the patterns (match.h). A NULL ends them. */
bool rawsyms_any(Elf *elf, const char *const *patterns);

#endif
