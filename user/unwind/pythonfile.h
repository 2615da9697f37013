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
 * Sets the fields python… of *ret. A file without an interpreter has python 0. The other fields are 0
 * if the release, or this build of it (PYTHON_STRANGE), is not known.
 */
void pythonfile_find(const void *elf, size_t size, struct er_unwind_file *ret);

#endif
