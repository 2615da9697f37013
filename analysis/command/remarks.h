/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The lists of remark classes that scc, dcc and cc take, such as "basic:inline:hex". */
#ifndef COMMAND_REMARKS_H
#define COMMAND_REMARKS_H

#include <stdbool.h>

struct buf;
struct diag;

/*
 * Parse a list for source, for disassembly (which also has hex, nohex, src, nosrc, asrc), or for
 * both; either pointer may be NULL. An empty list turns all classes off. Returns 0, or -1 after
 * reporting, with nothing changed.
 */
int remarks_parse(const char *list, unsigned *source, unsigned *disasm, struct diag *d);
/* Append the list. */
void remarks_print(unsigned classes, bool disasm, struct buf *b);

#endif
