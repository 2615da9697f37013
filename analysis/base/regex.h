/* SPDX-License-Identifier: GPL-2.0-or-later */
/* POSIX extended regular expressions whose memory is bounded. */
#ifndef BASE_REGEX_H
#define BASE_REGEX_H

#include <regex.h>

/*
 * regcomp with REG_EXTENDED | REG_NOSUB. Returns its error, or REG_ESPACE for an expression whose
 * repetitions amount to more than 20,000 characters: the C library writes them out, so that "a++++"
 * takes 16 times the memory of "a", and 30 of these more than a machine has. Free with regfree.
 */
int regex_compile(regex_t *re, const char *text);

#endif
