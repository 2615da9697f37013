/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "user/record/host.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "analysis/base/alloc.h"

static void read_cpus(struct host *h)
{
	__cleanup(fclosep) FILE *f = fopen("/proc/cpuinfo", "re");
	char line[4096];
	double mhz;
	int id;

	while (f && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "processor : %d", &id) == 1)
			vec_push(&h->cpus, (struct exp_cpu){ .id = id });
		else if (h->cpus.len && sscanf(line, "cpu MHz : %lf", &mhz) == 1)
			h->cpus.data[h->cpus.len - 1].mhz = mhz + 0.5;
	}
}

void host_init(struct host *h, const char *recorder, char *const *argv, unsigned sample_s)
{
	*h = (struct host){ .cwd = getcwd(NULL, 0) };
	uname(&h->uts);
	snprintf(h->collector, sizeof(h->collector), "%s " ER_VERSION, recorder);
	snprintf(h->os, sizeof(h->os), "%s %s", h->uts.sysname, h->uts.release);
	for (char *const *a = argv; *a; a++) {
		buf_puts(&h->command, a > argv ? " " : "");
		buf_puts(&h->command, *a);
	}
	read_cpus(h);
	h->header = (struct exp_header){
		.collector = h->collector,
		.hostname = h->uts.nodename,
		.arch = h->uts.machine,
		.os = h->os,
		.pagesize = sysconf(_SC_PAGESIZE),
		.npages = sysconf(_SC_PHYS_PAGES),
		.cpus = h->cpus.data,
		.ncpus = h->cpus.len,
		.pid = getpid(),
		.ppid = getppid(),
		.pgrp = getpgrp(),
		.sid = getsid(0),
		.cwd = h->cwd ? h->cwd : "",
		.command = h->command.data,
		.wordsize = 64,
		.sample_period_s = sample_s,
	};
}

void host_fini(struct host *h)
{
	free(h->cwd);
	buf_free(&h->command);
	vec_free(&h->cpus);
}
