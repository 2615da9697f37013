/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Recognizes a file with a Python interpreter, such as /usr/bin/python3.11 or libpython3.11.so, by
 * the variables that it exports. The file is untrusted, and the numbers are used only to read
 * memory of processes that map it.
 */
#ifndef USER_UNWIND_PYTHONFILE_H
#define USER_UNWIND_PYTHONFILE_H

#include <linux/types.h>
#include <stddef.h>

#include "bpf/unwind.h"

/*
 * Sets python, python_runtime and python_code of *ret. A file without an interpreter, or whose
 * numbers do not fit, has python 0. The distances of a release that is not known are 0.
 */
void pythonfile_find(const void *elf, size_t size, struct er_unwind_file *ret);

#endif
