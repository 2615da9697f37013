/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The kernel's file system of trace events. Where it is not mounted, an instance of our own is used. */
#ifndef LOADERS_TRACEFS_H
#define LOADERS_TRACEFS_H

/* A descriptor of its root, for openat, which the caller closes; or -errno. */
int tracefs_open(void);

#endif
