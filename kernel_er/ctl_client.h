/* SPDX-License-Identifier: GPL-2.0-or-later */
/* er_kernel --ctl: sends a request to a running recorder. */
#ifndef KERNEL_ER_CTL_CLIENT_H
#define KERNEL_ER_CTL_CLIENT_H

#include <stdio.h>

struct diag;

/*
 * `which` selects a recorder: a process ID, the name of its experiment, or the path of its socket.
 * NULL: the only one of the caller's. The request "status" then asks all of them. Prints replies to
 * `out`. Returns 0; or 1 after a report: the recorder refused, or there is none.
 */
int ctl_client(const char *request, const char *which, FILE *out, struct diag *d);

#endif
