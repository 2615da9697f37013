/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the parser of a SPEC's target (spec.c) shares with that of its arguments and tests (spec_values.c). */
#ifndef USER_PROBE_SPEC_IMPL_H
#define USER_PROBE_SPEC_IMPL_H

#include "user/probe/spec.h"

/* Report that the SPEC is wrong: -1. */
int spec_bad(const struct probe_spec *s, struct diag *d, const char *why);
/* The text behind blanks. */
char *spec_skip(char *p);

/*
 * The "(...)" at the end of text that is a list of arguments, not the parameters of a C++ function:
 * it begins with a number or ret, and a colon. NULL: there is none. The ) is cut off.
 */
char *spec_argument_list(char *text);
/* Whether a parenthesis was left open. In a pattern such as "f(int*" it may be. */
bool spec_is_unclosed(const char *text);
/*
 * Parentheses at the end that are meant as a filter, or that name arguments: what to write instead. NULL:
 * neither. The parameters of a C++ function look like neither.
 */
const char *spec_misread(char *text);
/* Parse "1:str,2:int", or "arg1 > 4096 && ret == 0". They return 0, or -1 after a report. */
int spec_arguments(struct probe_spec *s, char *list, struct diag *d);
int spec_tests(struct probe_spec *s, char *p, struct diag *d);
/* What spec_tests says of a text that is none. */
extern const char spec_not_tests[];

#endif
