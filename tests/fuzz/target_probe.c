/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A binary in which places for probes are looked for; or, if the first byte is odd, the text of a
 * SPEC, of a USDT note's arguments, and of a tracepoint's format.
 */
#include "tests/fuzz/target.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "analysis/base/alloc.h"
#include "analysis/base/diag.h"
#include "tests/fuzz/report.h"
#include "user/probe/sites.h"
#include "user/probe/tracepoint.h"
#include "user/probe/usdt.h"
#include "user/space/procfs.h"

/* No process is looked at here. */
int procfs_code(pid_t pid, bool (*fn)(void *ctx, const struct maps_line *l), void *ctx)
{
	return -ESRCH;
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	report_quietly();
	return 0;
}

static void try_text(const char *text)
{
	struct probe_spec s;
	struct er_place p;
	struct diag d = { 0 };

	for (int use = PROBE_FOR_PROBE; use <= PROBE_FOR_SPAN; use++) {
		probe_spec_parse(use, text, &d, &s);
		probe_spec_free(&s);
	}
	for (unsigned i = 1; i < 8; i++) {
		usdt_place(text, i, &p);
		tracepoint_field(text, 0, i, &p);
	}
	diag_free(&d);
}

static void try_binary(int fd)
{
	static const char *const specs[] = { "%s:*", "%s:work", "%s:twice", "%s:none", "%s:small.c:1",
					     "%s:work%return", "usdt:%s:*:*(1:str,2:int)", "x=%s:*" };

	for (size_t i = 0; i < sizeof(specs) / sizeof(*specs); i++) {
		__cleanup(freep) char *path = xasprintf("/proc/self/fd/%d", fd), *text = NULL;
		struct probe_spec s;
		struct probe_sites p;
		struct diag d = { 0 };
		const char *mark = strstr(specs[i], "%s");

		text = xasprintf("%.*s%s%s", (int)(mark - specs[i]), specs[i], path, mark + 2);
		if (probe_spec_parse(*text == 'x' ? PROBE_FOR_SPAN : PROBE_FOR_PROBE, text, &d, &s))
			abort();
		probe_sites_find(&s, NULL, 0, &d, &p);
		probe_sites_free(&p);
		probe_spec_free(&s);
		diag_free(&d);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	__cleanup(freep) char *text = NULL;
	int fd;

	if (!size)
		return 0;
	text = xstrndup((const char *)data + 1, size - 1);
	if (*data & 1) {
		try_text(text);
		return 0;
	}
	fd = memfd_create("fuzz", MFD_CLOEXEC);
	if (fd < 0 || write(fd, data + 1, size - 1) != (ssize_t)size - 1)
		abort();
	try_binary(fd);
	close(fd);
	return 0;
}
