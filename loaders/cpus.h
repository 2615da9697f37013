/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lists of CPUs. CPU ids are below the number of possible CPUs; there may be gaps. */
#ifndef LOADERS_CPUS_H
#define LOADERS_CPUS_H

struct cpu_list {
	int *cpus;
	int n;
};

/* Parse a kernel list such as "0-3,8". Returns 0, or -EINVAL if the text is not such a list. */
int cpus_parse(const char *text, struct cpu_list *ret);
/* The CPUs online now; release with cpus_free. 0, or -errno. */
int cpus_online(struct cpu_list *ret);
/* All CPUs present in the machine, online or not; otherwise like cpus_online. */
int cpus_present(struct cpu_list *ret);
/*
 * The number of a CPU hotplug state, by its name in the kernel's list
 * (/sys/devices/system/cpu/hotplug/states); 0 if there is no such state, or no hotplug.
 */
unsigned cpus_hotplug_step(const char *name);
void cpus_free(struct cpu_list *l);

#endif
