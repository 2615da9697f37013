/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "user/record/collector_attach.h"

#include <errno.h>
#include <string.h>

#include "analysis/base/diag.h"
#include "loaders/privilege.h"
#include "loaders/uprobes.h"
#include "user/probe/marks.h"
#include "user/record/collector_server.h"
#include "user/record/heap_server.h"
#include "user/record/plan.h"

/* A library calls as soon as its semaphore is raised, so the socket must be there. */
static int raise_all(pid_t pid, const struct probe_sites *sites, struct uprobes **raised)
{
	uint64_t before = privilege_take(PRIVILEGE_CAPTURE);
	int err = 0;

	vec_for_each(site, &sites->sites) {
		err = uprobes_raise(raised, &site->at, 1, pid);
		if (err)
			break;
	}
	privilege_return(before);
	return err;
}

static int attach_at(struct collector_server *s, pid_t pid, const struct probe_sites *sites)
{
	struct uprobes *raised = NULL;
	int err = collector_server_attach(s, pid);

	if (err)
		return err;
	err = raise_all(pid, sites, &raised);
	collector_server_keep(s, raised);
	return err;
}

static void attach(struct collector_server *s, pid_t pid, struct diag *d)
{
	struct probe_sites sites;
	int err;

	marks_find_collector(pid, &sites);
	err = sites.sites.len ? attach_at(s, pid, &sites) : 0;
	probe_sites_free(&sites);
	if (err == -EADDRINUSE)
		diag_warn(d, "process %d: its calls of the collector API go to another recorder", pid);
	else if (err)
		diag_warn(d, "process %d: its calls of the collector API have no effect: %s", pid, strerror(-err));
}

static bool is_first_of_process(const struct plan *plan, size_t i)
{
	for (size_t earlier = 0; earlier < i; earlier++)
		if (plan->targets.data[earlier].pid == plan->targets.data[i].pid)
			return false;
	return plan->targets.data[i].pid; /* 0: a kernel thread */
}

void collector_attach(struct collector_server *s, const struct plan *plan, struct diag *d)
{
	if (!s || !plan_profiles(plan) || plan_without_bpf(plan))
		return;
	for (size_t i = 0; i < plan->targets.len; i++) {
		if (is_first_of_process(plan, i))
			attach(s, plan->targets.data[i].pid, d);
	}
}

bool lock_attach_possible(pid_t pid)
{
	struct probe_sites sites;
	bool ret;

	marks_find_locks(pid, &sites);
	ret = sites.sites.len;
	probe_sites_free(&sites);
	return ret;
}

void lock_attach(struct heap_server *s, const struct plan *plan, struct diag *d)
{
	struct uprobes *raised = NULL;
	struct probe_sites sites;
	pid_t pid;
	int err;

	if (!s || plan->load)
		return;
	pid = plan->targets.data[0].pid;
	err = heap_server_attach(s, pid);
	marks_find_locks(pid, &sites);
	err = err ? err : raise_all(pid, &sites, &raised);
	heap_server_keep(s, raised);
	probe_sites_free(&sites);
	if (err == -EADDRINUSE)
		diag_warn(d, "-s all: process %d: another recorder counts its locks: only waits are recorded", pid);
	else if (err)
		diag_warn(d, "-s all: process %d: its locks cannot be counted: only waits are recorded: %s", pid,
			  strerror(-err));
}
