/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names come from untrusted files. libiberty bounds its recursion and the length of a
 * C++ name, but with back references a short name can expand without end. So C++ and
 * Rust are demangled through a callback that jumps out once the result is too long;
 * both keep their state on the stack, so nothing leaks. D has no callback; names with
 * many back references are not demangled.
 */
#include "analysis/symbols/demangle.h"

#include <setjmp.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <libiberty/demangle.h>

#include "analysis/base/alloc.h"
#include "analysis/base/buf.h"

enum {
	RESULT_MAX = 64 * 1024,
	RUST_NAME_MAX = 4096,
	D_NAME_MAX = 1024,
	D_BACKREFS_MAX = 16, /* each can double the length */
};

struct result {
	struct buf text;
	jmp_buf too_long;
};

static void append(const char *s, size_t n, void *opaque)
{
	struct result *r = opaque;

	if (r->text.len + n > RESULT_MAX)
		longjmp(r->too_long, 1);
	buf_add(&r->text, s, n);
}

typedef int demangler(const char *name, int options, demangle_callbackref append, void *opaque);

static char *run(demangler *f, const char *name, int options)
{
	struct result r = { .text = { 0 } };

	if (!setjmp(r.too_long) && f(name, options, append, &r) && r.text.len)
		return r.text.data;
	buf_free(&r.text);
	return NULL;
}

static char *demangle_d(const char *name, int options)
{
	size_t backrefs = 0;

	if (strlen(name) > D_NAME_MAX)
		return NULL;
	for (const char *p = name; *p; p++)
		backrefs += *p == 'Q';
	return backrefs > D_BACKREFS_MAX ? NULL : dlang_demangle(name, options);
}

static bool is_rust(const char *name)
{
	return (name[0] == '_' && (name[1] == 'R' || name[1] == 'Z')) &&
	       strlen(name) <= RUST_NAME_MAX;
}

static char *demangle_symbol(const char *name, int with_params)
{
	int options = with_params ? DMGL_PARAMS | DMGL_ANSI : DMGL_NO_OPTS;
	char *s = NULL;

	if (name[0] != '_')
		return NULL;
	/* Old Rust names are C++ names that end in a hash, so try Rust first. */
	if (is_rust(name))
		s = run(rust_demangle_callback, name, options);
	if (!s && (name[1] == 'Z' || !strncmp(name, "_GLOBAL_", 8)))
		s = run(cplus_demangle_v3_callback, name, options);
	if (!s && name[1] == 'D')
		s = demangle_d(name, options);
	return s;
}

char *demangle(const char *name, int with_params)
{
	static const char plt[] = "@plt";
	size_t len = strlen(name), n = sizeof(plt) - 1;
	__cleanup(freep) char *target = NULL, *s = NULL;

	if (len <= n || strcmp(name + len - n, plt))
		return demangle_symbol(name, with_params);
	target = xstrndup(name, len - n);
	s = demangle_symbol(target, with_params);
	return s ? xasprintf("%s%s", s, plt) : NULL;
}
