/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Build ids of the running kernel and its modules, from sysfs. */
#ifndef SYMBOLS_KERNELID_H
#define SYMBOLS_KERNELID_H

/*
 * The build id in hexadecimal of "vmlinux" or a module; the caller frees it. NULL: it
 * has none, or there is no such module.
 */
char *kernel_running_build_id(const char *module);

#endif
