/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The standard streams of a program, as it finds and as it leaves them: what main()
 * of each program does first and last.
 */
#ifndef BASE_STREAMS_H
#define BASE_STREAMS_H

/*
 * er_cp 2>&-: the first file that is opened would become standard error, and a warning
 * be written into it. What is closed is /dev/null now, opened so that standard output
 * still cannot be written to; programs that are started find it closed.
 */
void streams_fill(void);

/*
 * The status; but when what was printed did not get out, 1 instead of 0, after a
 * sentence by the program (which may have said so itself, and then has another status).
 */
int streams_flush(const char *program, int status);

#endif
