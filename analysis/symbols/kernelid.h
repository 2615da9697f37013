/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The build ids that the running kernel tells of itself and its modules, in sysfs. */
#ifndef SYMBOLS_KERNELID_H
#define SYMBOLS_KERNELID_H

/* Of "vmlinux" or a module, in hexadecimal, malloc'ed; NULL: it has none, or no such module. */
char *kernel_running_build_id(const char *module);

#endif
