/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The experiment that is meant when none is named. */
#ifndef COMMAND_NEWEST_H
#define COMMAND_NEWEST_H

/*
 * The name of the experiment in the working directory whose log.xml was written last, of
 * several the one whose name sorts last; links are not followed. NULL: there is none. Freed
 * by the caller.
 */
char *newest_experiment(void);

#endif
