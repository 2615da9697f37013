/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/symbols/debuginfod.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/diag.h"

/*
 * The functions we use of libdebuginfod.so.1. It is loaded at run time, because it
 * depends on a network library and is rarely installed.
 */
struct client {
	void *(*begin)(void);
	int (*find)(void *client, const unsigned char *build_id, int len, char **path);
	int (*find_executable)(void *client, const unsigned char *build_id, int len, char **path);
	void (*end)(void *client);
};

static const struct client *load_client(void)
{
	static struct client c;
	static bool tried;
	void *lib;

	if (tried)
		return c.find ? &c : NULL;
	tried = true;
	lib = dlopen("libdebuginfod.so.1", RTLD_LAZY | RTLD_LOCAL);
	if (!lib)
		return NULL;
	*(void **)&c.begin = dlsym(lib, "debuginfod_begin");
	*(void **)&c.find = dlsym(lib, "debuginfod_find_debuginfo");
	*(void **)&c.find_executable = dlsym(lib, "debuginfod_find_executable");
	*(void **)&c.end = dlsym(lib, "debuginfod_end");
	if (!c.begin || !c.end || !c.find_executable)
		c.find = NULL;
	return c.find ? &c : NULL;
}

static int ask(const char *build_id, bool executable, struct diag *d)
{
	const char *urls = getenv("DEBUGINFOD_URLS");
	const struct client *c;
	void *client;
	int fd;

	if (!urls || !*urls || !build_id)
		return -1;
	c = load_client();
	client = c ? c->begin() : NULL;
	if (!client) {
		diag_warn(d, "DEBUGINFOD_URLS is set, but there is no libdebuginfod.so.1 to ask: "
			     "install libdebuginfod1");
		return -1;
	}
	/* 0: the id is text */
	fd = (executable ? c->find_executable : c->find)(client, (const unsigned char *)build_id, 0,
							 NULL);
	c->end(client);
	if (fd < 0 && fd != -ENOENT)
		diag_warn(d, "debuginfod: build id %s: %s", build_id, strerror(-fd));
	return fd < 0 ? -1 : fd;
}

int debuginfod_open(const char *build_id, struct diag *d)
{
	return ask(build_id, false, d);
}

int debuginfod_open_executable(const char *build_id, struct diag *d)
{
	return ask(build_id, true, d);
}
