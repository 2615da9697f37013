/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * For programs that were written for Sun's libcollector.h: the calls of collectorAPI.h, which do nothing
 * if the program is not linked with -lcollectorAPI. New programs include collectorAPI.h.
 */
#ifndef _LIBCOLLECTOR_H
#define _LIBCOLLECTOR_H

#include <collectorAPI.h>

#pragma weak collector_sample
#pragma weak collector_pause
#pragma weak collector_resume
#pragma weak collector_terminate_expt
#pragma weak collector_thread_pause
#pragma weak collector_thread_resume
#pragma weak collector_func_load
#pragma weak collector_func_unload

#define collector_sample(name) (collector_sample ? collector_sample(name) : (void)0)
#define collector_pause() (collector_pause ? collector_pause() : (void)0)
#define collector_resume() (collector_resume ? collector_resume() : (void)0)
#define collector_terminate_expt() (collector_terminate_expt ? collector_terminate_expt() : (void)0)
#define collector_thread_pause(tid) (collector_thread_pause ? collector_thread_pause(tid) : (void)0)
#define collector_thread_resume(tid) (collector_thread_resume ? collector_thread_resume(tid) : (void)0)
#define collector_func_load(name, alias, source, vaddr, size, nlines, lines)                       \
	(collector_func_load ?                                                                     \
		 collector_func_load(name, alias, source, vaddr, size, nlines, lines) :            \
		 (void)0)
#define collector_func_unload(vaddr) (collector_func_unload ? collector_func_unload(vaddr) : (void)0)

#endif
