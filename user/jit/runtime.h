/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The runtimes that generate code, by the binaries that their processes have mapped. */
#ifndef USER_JIT_RUNTIME_H
#define USER_JIT_RUNTIME_H

#include <stdbool.h>
#include <stdint.h>

struct image;
struct mapping;

/*
 * The pseudo function for generated code whose function is not known, such as "<JavaScript>".
 * NULL: the image runs no known runtime.
 */
const char *runtime_code(const struct image *im);
/*
 * Where the image has the beginning of libjvm.so; 0: it has none. Its code must have the same
 * addresses as offsets, as in all builds that we know.
 */
uint64_t runtime_java(const struct image *im);
/* Whether this is a mapping of libjvm.so. */
bool runtime_is_java(const struct mapping *m);

#endif
