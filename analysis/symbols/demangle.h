/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Readable names of C++, Rust and D symbols. */
#ifndef SYMBOLS_DEMANGLE_H
#define SYMBOLS_DEMANGLE_H

/*
 * The long name (with parameters) or the short one (without); the caller frees it.
 * NULL: not mangled.
 */
char *demangle(const char *name, int with_params);

#endif
