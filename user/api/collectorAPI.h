/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * For programs: control of the recording that started this program or attached to it, with the names and
 * types of gprofng's and Sun's collector API. Link with -lcollectorAPI. See collectorAPI(3).
 *
 * Without a recorder each call returns at once. With one (collect PROGRAM, er_kernel -T PID, …) pause,
 * resume and terminate have happened when they return. Any thread may call at any time, but not a
 * signal handler. errno is not changed. Each call acts on the whole recording.
 */
#ifndef _COLLECTORAPI_H
#define _COLLECTORAPI_H

#include <pthread.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Record a usage sample with this label, of which 255 bytes count. NULL: without a label. */
extern void collector_sample(const char *name);
/* Record nothing until collector_resume. Nothing happens if the recording is paused already. */
extern void collector_pause(void);
/* Go on. Nothing happens if the recording is not paused. */
extern void collector_resume(void);
/* End the recording. The program goes on, and later calls do nothing. */
extern void collector_terminate_expt(void);

/* Out of use: they do nothing, as in gprofng. */
extern void collector_thread_pause(pthread_t tid);
extern void collector_thread_resume(pthread_t tid);

typedef struct {
	unsigned int offset; /* of code, from the begin of its function */
	unsigned int lineno;
} Lineno;

/*
 * A function was generated: `size` bytes of code at `vaddr`. Stacks that come later have its name, and
 * its code is copied now. `alias` (NULL: none) is another name, which the summary of the function shows.
 * `lntable` has `lntsize` rows in the order of offsets: from there on the code has this line of `sourcename`.
 * NULL or 0: no source is known.
 */
extern void collector_func_load(const char *name, const char *alias, const char *sourcename, void *vaddr,
				int size, int lntsize, Lineno *lntable);
/* It is gone: stacks that come later do not have its name. */
extern void collector_func_unload(void *vaddr);

#ifdef NEED_COLLECTOR_MODULE
/* They do nothing: the recorder sees by itself what the program maps. */
extern void collector_module_load(const char *modulename, void *vaddr);
extern void collector_module_unload(void *vaddr);
#endif

#ifdef __cplusplus
}
#endif

#endif
