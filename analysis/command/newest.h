/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The experiment that is used if the user names none. */
#ifndef COMMAND_NEWEST_H
#define COMMAND_NEWEST_H

/*
 * The name of the experiment in the working directory whose log.xml was written last. If several
 * were written at that time, it is the one whose name sorts last. Links are not followed. NULL if
 * there is none. The caller frees it.
 */
char *newest_experiment(void);

#endif
