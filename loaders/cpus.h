/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which CPUs there are: ids are below the number of possible ones, and may have gaps. */
#ifndef LOADERS_CPUS_H
#define LOADERS_CPUS_H

struct cpu_list {
	int *cpus;
	int n;
};

/* Read a kernel list such as "0-3,8"; -EINVAL when it is none. */
int cpus_parse(const char *text, struct cpu_list *ret);
/* The CPUs online now; release with cpus_free. */
int cpus_online(struct cpu_list *ret);
void cpus_free(struct cpu_list *l);

#endif
