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
/* The CPUs online now; release with cpus_free. 0, or -errno. */
int cpus_online(struct cpu_list *ret);
/* Those that are there, online or not. */
int cpus_present(struct cpu_list *ret);
/*
 * Number of a step of CPUs that come or go, by the kernel's list of them; 0: there is none
 * of that name, or CPUs do neither here.
 */
unsigned cpus_hotplug_step(const char *name);
void cpus_free(struct cpu_list *l);

#endif
