/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "user/probe/seccomp.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>

#include "analysis/base/diag.h"
#include "user/space/procfs.h"

struct search {
	const struct probe_sites *sites;
	pid_t pid;   /* being looked at */
	bool maps;   /* it has a binary of the sites */
	pid_t found; /* a process with a filter; 0: none */
};

bool seccomp_sees_return(const char *release)
{
	int major, minor;

	return sscanf(release, "%d.%d", &major, &minor) == 2 && major == 6 && minor >= 11 && minor < 14;
}

static bool look_at_mapping(void *ctx, const struct maps_line *l)
{
	struct search *s = ctx;

	vec_for_each (b, &s->sites->binaries)
		s->maps |= l->ino == b->ino;
	return !s->maps;
}

static bool is_filtered(pid_t pid)
{
	struct buf status = { 0 };
	bool filtered = !procfs_read(pid, "status", &status) && strstr(status.data, "\nSeccomp:\t2");

	buf_free(&status);
	return filtered;
}

bool seccomp_kills_return(pid_t pid)
{
	struct utsname un;

	return !uname(&un) && seccomp_sees_return(un.release) && is_filtered(pid);
}

static void look_at_process(void *ctx, pid_t pid)
{
	struct search *s = ctx;

	if (s->found || !is_filtered(pid))
		return;
	s->maps = false;
	procfs_code(pid, look_at_mapping, s);
	if (s->maps)
		s->found = pid;
}

bool seccomp_forbids(const struct probe_spec *spec, const struct probe_sites *p, struct diag *d)
{
	struct search s = { .sites = p };
	struct utsname un;

	if (uname(&un) || !seccomp_sees_return(un.release))
		return false;
	procfs_for_each(look_at_process, &s);
	if (s.found)
		diag_error(d, "%s '%s': process %d runs the probed file under a seccomp filter, and this kernel "
			      "(%s) would kill it at a return probe: probe the function's beginning, or use Linux "
			      "6.14", probe_option(spec), spec->text, (int)s.found, un.release);
	return s.found;
}
