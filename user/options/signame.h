/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names of signals, as option arguments. */
#ifndef USER_OPTIONS_SIGNAME_H
#define USER_OPTIONS_SIGNAME_H

/*
 * The number of a signal: "USR1", "SIGUSR1", "10", "RTMIN+2", "RTMAX-1"; upper or lower case. 0: there
 * is no such signal.
 */
int signal_number(const char *name);
/*
 * What the signal means to a recorder already, so that no option may use it: "it ends the
 * recording". NULL: it is free.
 */
const char *signal_taken(int number);

#endif
