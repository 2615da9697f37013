/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Parses the values of options. A function returns false if the text is not such a value; the
 * caller then reports the error. A result is set only on success.
 */
#ifndef USER_OPTIONS_OPTION_VALUES_H
#define USER_OPTIONS_OPTION_VALUES_H

#include <stdbool.h>
#include <stdint.h>

/* A word and its value. A table of words ends with a row without a word. */
struct option_word {
	const char *word;
	uint64_t value;
};

bool option_word(const struct option_word *words, const char *arg, uint64_t *ret);

/* A whole number up to max. */
bool option_whole(const char *s, uint64_t max, uint64_t *ret);

/* A decimal number, not negative. *end points after it. */
bool option_number(const char *s, double *ret, char **end);

/* A duration: seconds (10, 1.5s) or minutes (2m), up to 1e9 s. *end points after it. */
bool option_duration(const char *s, uint64_t *ns, char **end);

/* A size of at least 1 MB with its unit: 200M, 2G. */
bool option_bytes(const char *s, uint64_t *ret);

/* A limit in whole megabytes; unlimited and none are 0 bytes. */
bool option_megabytes(const char *s, uint64_t *bytes);

#endif
