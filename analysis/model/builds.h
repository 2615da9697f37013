/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Load objects of which the open recordings have different builds. */
#ifndef MODEL_BUILDS_H
#define MODEL_BUILDS_H

struct session;
struct strtab;

/*
 * Add each path at which the recordings have different builds to `ret`, and "PATH and PATH" for files of one name and
 * different builds that only one of the recordings has: a program that was built in another directory. The caller frees
 * it with strtab_free.
 */
void session_rebuilt(const struct session *s, struct strtab *ret);

#endif
