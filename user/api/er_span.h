/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * For programs: marks where a span begins and ends, such as a request. `--span NAME=mark` records the
 * spans of this name. Link with -lcollectorAPI. See er_span(3).
 *
 * While nobody records spans a call takes about a nanosecond. Any thread may call at any time, and a
 * signal handler, too. A span begins and ends on one thread.
 */
#ifndef USER_API_ER_SPAN_H
#define USER_API_ER_SPAN_H

#ifdef __cplusplus
extern "C" {
#endif

/* `id` is kept with the span, for filters and lists: the number of a request, its size, … */
extern void er_span_begin(const char *name, unsigned long id);
/* The newest open span of this name on this thread ends. Nothing happens if there is none. */
extern void er_span_end(const char *name);

#ifdef __cplusplus
}
#endif

#endif
