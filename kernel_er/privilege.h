/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Giving up what is no longer needed once the programs are attached. */
#ifndef KERNEL_ER_PRIVILEGE_H
#define KERNEL_ER_PRIVILEGE_H

struct diag;

/*
 * Keep, of the capabilities held, those that reading other processes' /proc,
 * the kernel's symbols and the end of the capture need; drop all others, for
 * good. A failure is reported as a warning.
 */
void privilege_drop(struct diag *d);

#endif
