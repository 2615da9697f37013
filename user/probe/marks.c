/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "user/probe/marks.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/base/alloc.h"
#include "analysis/base/diag.h"
#include "user/api/collector_call.h"
#include "user/api/mark.h"
#include "user/preload/heap_ring.h"

#define LIBRARY "libcollectorAPI.so"

enum { RDI = 14, ID_NUMBER = 2 };

struct er_place marks_hash_place(void)
{
	return (struct er_place){ .kind = ER_PLACE_REGISTER, .base = RDI, .index = ER_REGISTER_NONE, .size = 8 };
}

static bool has(const struct probe_sites *p, const struct probe_binary *b)
{
	vec_for_each(have, &p->binaries) {
		if (have->dev == b->dev && have->ino == b->ino)
			return true;
	}
	return false;
}

/* Take over the binaries and sites of `from`, unless they are there already. */
static void merge(struct probe_sites *to, struct probe_sites *from)
{
	vec_for_each(b, &from->binaries) {
		if (has(to, b))
			return;
	}
	vec_for_each(b, &from->binaries)
		vec_push(&to->binaries, *b);
	vec_for_each(site, &from->sites)
		vec_push(&to->sites, *site);
	from->binaries.len = from->sites.len = 0;
}

/* Add the sites of a USDT probe. Returns 0, or -1 after a report: there are none. */
static int add_usdt(const struct probe_spec *usdt, const pid_t *pids, size_t n, struct diag *d,
		    struct probe_sites *ret)
{
	struct probe_sites found;
	int err = probe_sites_find(usdt, pids, n, d, &found);

	if (!err)
		merge(ret, &found);
	probe_sites_free(&found);
	return err;
}

/* Add the marks of one binary. Returns 0, or -1 after a report: it has none. */
static int add(const struct probe_spec *s, const char *binary, const pid_t *pids, size_t n, struct diag *d,
	       struct probe_sites *ret)
{
	const struct probe_spec usdt = {
		.use = s->use, .kind = PROBE_USDT, .text = s->text, .name = s->name, .binary = (char *)binary,
		.group = (char *)MARK_PROVIDER, .first = (char *)MARK_BEGIN, .second = (char *)MARK_END,
		.values = { { .number = ID_NUMBER, .recorded = true } }, .nvalues = 1,
	};

	return add_usdt(&usdt, pids, n, d, ret);
}

/* The library that was installed with this recorder. */
static char *own_library(void)
{
	char path[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);
	char *slash;

	path[n > 0 ? n : 0] = 0;
	slash = strrchr(path, '/');
	return slash ? xasprintf("%.*s/../lib/" LIBRARY, (int)(slash - path), path) : xstrdup(LIBRARY);
}

int marks_find(const struct probe_spec *s, const char *program, const pid_t *pids, size_t n, struct diag *d,
	       struct probe_sites *ret)
{
	__cleanup(freep) char *own = own_library();
	struct diag tried = { 0 };

	*ret = (struct probe_sites){ .syscall = -1, .tracepoint = -1 };
	if (s->binary)
		return add(s, s->binary, pids, n, d, ret);
	for (size_t i = 0; i < n; i++) {
		__cleanup(freep) char *pid = xasprintf("%d", (int)pids[i]);

		add(s, pid, pids, n, &tried, ret);
	}
	if (program)
		add(s, program, NULL, 0, &tried, ret);
	add(s, LIBRARY, pids, n, &tried, ret);
	add(s, own, NULL, 0, &tried, ret);
	diag_free(&tried);
	if (ret->sites.len)
		return 0;
	return diag_error(d, "%s '%s': neither the program nor " LIBRARY " has marks: install the library, or "
			     "write %s=mark:BINARY, the program or library that has them",
			  probe_option(s), s->text, s->name);
}

/* Where a process has our probe: in its program, or in the library. */
static void find_own(pid_t pid, const char *provider, const char *probe, const char *library,
		     struct probe_sites *ret)
{
	__cleanup(freep) char *program = xasprintf("%d", (int)pid);
	struct probe_spec usdt = {
		.use = PROBE_FOR_PROBE, .kind = PROBE_USDT, .text = program, .name = (char *)probe,
		.group = (char *)provider, .first = (char *)probe,
	};
	const char *const binaries[] = { program, library };
	struct diag tried = { 0 };

	*ret = (struct probe_sites){ .syscall = -1, .tracepoint = -1 };
	for (size_t i = 0; i < 2; i++) {
		usdt.binary = (char *)binaries[i];
		add_usdt(&usdt, &pid, 1, &tried, ret);
	}
	diag_free(&tried);
}

void marks_find_collector(pid_t pid, struct probe_sites *ret)
{
	find_own(pid, COLLECTOR_PROVIDER, COLLECTOR_PROBE, LIBRARY, ret);
}

void marks_find_locks(pid_t pid, struct probe_sites *ret)
{
	find_own(pid, LOCKS_PROVIDER, LOCKS_PROBE, LOCKS_LIBRARY, ret);
}
