/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What processes and threads are called: from log.xml, recorder.xml and threads.xml. */
#ifndef VIEWS_NAMES_H
#define VIEWS_NAMES_H

#include "analysis/base/map.h"
#include "analysis/model/session.h"

struct names {
	struct map by_thread;  /* founder id << 32 | tid, to const char * */
	struct map by_process; /* founder id << 32 | pid, likewise */
};

void names_init(struct names *n, const struct session *s);
void names_free(struct names *n);
/* NULL when it is not known. */
const char *names_thread(const struct names *n, const struct experiment *e, int64_t tid);
const char *names_process(const struct names *n, const struct experiment *e, int64_t pid);

/* The value of an attribute of an element of recorder.xml, or NULL. */
const char *recorder_get(const struct exp_element *el, const char *name);
int64_t recorder_int(const struct exp_element *el, const char *name);

#endif
