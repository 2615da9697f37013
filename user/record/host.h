/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Collects what the header of an experiment says about this machine and this command. */
#ifndef USER_RECORD_HOST_H
#define USER_RECORD_HOST_H

#include <sys/utsname.h>

#include "analysis/base/buf.h"
#include "analysis/base/vec.h"
#include "analysis/experiment/expwriter.h"

/* Owns the strings that its header points to. */
struct host {
	struct utsname uts;
	char collector[32];
	char os[2 * sizeof(((struct utsname *)0)->release)];
	char *cwd;
	struct buf command;
	VEC(struct exp_cpu) cpus;
	struct exp_header header;
};

/* `recorder` is the name of the program that records, `argv` the command of the experiment. */
void host_init(struct host *h, const char *recorder, char *const *argv, unsigned sample_s);
void host_fini(struct host *h);

#endif
