/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The lists of classes that scc, dcc and cc take (P-035 to P-040), as in "basic:inline:hex". */
#ifndef COMMAND_REMARKS_H
#define COMMAND_REMARKS_H

#include <stdbool.h>

struct buf;
struct diag;

/*
 * Parse a list into what it is for: source, disassembly (which also has hex, nohex,
 * src, nosrc, asrc), or both; either may be NULL. An empty list turns all off. 0,
 * or -1 after reporting, nothing changed.
 */
int remarks_parse(const char *list, unsigned *source, unsigned *disasm, struct diag *d);
/* Append the list. */
void remarks_print(unsigned classes, bool disasm, struct buf *b);

#endif
