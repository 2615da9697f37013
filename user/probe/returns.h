/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Knows functions whose return must not be probed. A return probe exchanges the word at the stack
 * pointer of a function's begin, as if it were the return address, and expects that this word is
 * used once. In some functions it is another word, or the program keeps a copy for later: then the
 * program would crash.
 */
#ifndef USER_PROBE_RETURNS_H
#define USER_PROBE_RETURNS_H

struct sym;

/* Why a return probe of this function would break the program, for a message; NULL: it would not.
 */
const char *returns_unsafe(const struct sym *sym);

#endif
