/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The name of a Java method as HotSpot's own perf map has it: "long Calls.burn(long)". So a method
 * has the same name however it came to us.
 */
#ifndef USER_JIT_JAVANAME_H
#define USER_JIT_JAVANAME_H

#include <stddef.h>

struct java_symbol {
	const char *text; /* without a NUL */
	size_t n;
};

/*
 * Write the name and a NUL to `to`; a longer one is cut. If the signature is malformed the name is
 * "Class.method". Returns the length without the NUL.
 */
size_t javaname_method(struct java_symbol class, struct java_symbol method, struct java_symbol signature,
		       char *to, size_t room);

/*
 * Write the path of the class's source below the directory of all sources, and a NUL: sources lie in
 * directories named like the packages, "java/lang/String.java". Empty if the name of the file is.
 * Returns the length without the NUL.
 */
size_t javaname_source(struct java_symbol class, struct java_symbol file, char *to, size_t room);

#endif
