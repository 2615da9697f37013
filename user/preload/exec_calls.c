/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "user/preload/exec_calls.h"

#include <alloca.h>
#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "user/preload/heap_client.h"

#define EXPORT __attribute__((visibility("default")))
#define PRELOAD "LD_PRELOAD="

enum { SETTING = 128, LIBRARY = 4096 };

/* What was taken out of the environment. setting[0] is 0: nothing. */
static char setting[SETTING], library[LIBRARY];

static struct {
	int (*execve)(const char *, char *const[], char *const[]);
	int (*execvpe)(const char *, char *const[], char *const[]);
	int (*fexecve)(int, char *const[], char *const[]);
	int (*execveat)(int, const char *, char *const[], char *const[], int);
} next;

/* Where the variable is; `name` ends with '='. NULL: it is not there. */
static char *const *find(char *const *env, const char *name)
{
	for (; env && *env; env++)
		if (!strncmp(*env, name, strlen(name)))
			return env;
	return NULL;
}

static void drop(char **at)
{
	for (; at && *at; at++)
		at[0] = at[1];
}

/* The library's first mention in the list; NULL: there is none. */
static char *item(char *list)
{
	size_t n = strlen(library);

	for (char *p = list; *p; p += *p != 0) {
		size_t len = strcspn(p, ": ");

		if (len == n && !memcmp(p, library, n))
			return p;
		p += len;
	}
	return NULL;
}

/* In place: nothing may be allocated yet. */
static void take_out(void)
{
	char **preload = (char **)find(environ, PRELOAD), *list, *p, *rest;

	list = preload ? *preload + strlen(PRELOAD) : NULL;
	p = list ? item(list) : NULL;
	if (!p)
		return;
	rest = p + strlen(library);
	rest += *rest != 0;
	memmove(p, rest, strlen(rest) + 1);
	if (!*list)
		drop(preload);
}

static void remember(const char *variable)
{
	size_t n = strlen(variable);
	char *name = alloca(n + 2), **at;
	Dl_info info;

	memcpy(name, variable, n);
	memcpy(name + n, "=", 2);
	at = (char **)find(environ, name);
	if (!at || strlen(*at) >= SETTING || !dladdr((void *)exec_calls_begin, &info) ||
	    strlen(info.dli_fname) >= LIBRARY)
		return;
	strcpy(library, info.dli_fname);
	strcpy(setting, *at);
	drop(at);
}

#define RESOLVE(name) next.name = (__typeof__(next.name))dlsym(RTLD_NEXT, #name)

void exec_calls_begin(const char *variable)
{
	if (!heap_client_is_alone())
		return;
	RESOLVE(execve);
	RESOLVE(execvpe);
	RESOLVE(fexecve);
	RESOLVE(execveat);
	remember(variable);
	if (*setting)
		take_out();
}

/* --- the functions that the program calls --- */

static size_t count(char *const *list)
{
	size_t n = 0;

	while (list && list[n])
		n++;
	return n;
}

/* Bytes that extend() needs. 0: nothing is to be added, as in a child. */
static size_t extra(char *const *env)
{
	char *const *own = *setting && heap_client_is_own() ? find(env, PRELOAD) : NULL;

	if (!*setting || !heap_client_is_own())
		return 0;
	return (count(env) + 3) * sizeof(*env) + sizeof(PRELOAD) + strlen(library) + 1 + (own ? strlen(*own) : 0);
}

/* The environment and what was taken out of it, in this memory. */
static char *const *extend(char *const *env, void *memory)
{
	char **to = memory, *text = (char *)(to + count(env) + 3);
	char *const *own = find(env, PRELOAD);

	if (!memory)
		return env;
	for (size_t i = 0; env && env[i]; i++)
		if (env + i != own)
			*to++ = env[i];
	*to++ = setting;
	*to++ = text;
	*to = NULL;
	strcpy(text, PRELOAD);
	strcat(text, library);
	if (own && (*own)[strlen(PRELOAD)]) {
		strcat(text, ":");
		strcat(text, *own + strlen(PRELOAD));
	}
	return memory;
}

#define EXTENDED(env) extend(env, extra(env) ? alloca(extra(env)) : NULL)

#define NEEDS(name)                                                                                  \
	if (!next.name)                                                                              \
		RESOLVE(name);                                                                       \
	if (!next.name) {                                                                            \
		errno = ENOSYS;                                                                      \
		return -1;                                                                           \
	}

EXPORT int execve(const char *path, char *const argv[], char *const env[])
{
	NEEDS(execve)
	return next.execve(path, argv, EXTENDED(env));
}

EXPORT int execvpe(const char *file, char *const argv[], char *const env[])
{
	NEEDS(execvpe)
	return next.execvpe(file, argv, EXTENDED(env));
}

EXPORT int fexecve(int fd, char *const argv[], char *const env[])
{
	NEEDS(fexecve)
	return next.fexecve(fd, argv, EXTENDED(env));
}

EXPORT int execveat(int fd, const char *path, char *const argv[], char *const env[], int flags)
{
	NEEDS(execveat)
	return next.execveat(fd, path, argv, EXTENDED(env), flags);
}

EXPORT int execv(const char *path, char *const argv[])
{
	return execve(path, argv, environ);
}

EXPORT int execvp(const char *file, char *const argv[])
{
	return execvpe(file, argv, environ);
}

/* The arguments of a list, which ends with NULL, as an array; `list` stands behind the first one. */
#define ARRAY(argv, first, list)                                                                     \
	va_list list, again;                                                                         \
	size_t n = 1;                                                                                \
	char **argv;                                                                                 \
                                                                                                     \
	va_start(list, first);                                                                       \
	va_copy(again, list);                                                                        \
	while (va_arg(again, char *))                                                                \
		n++;                                                                                 \
	va_end(again);                                                                               \
	argv = alloca((n + 1) * sizeof(*argv));                                                      \
	argv[0] = (char *)first;                                                                     \
	for (size_t i = 1; i <= n; i++)                                                              \
		argv[i] = va_arg(list, char *);

EXPORT int execl(const char *path, const char *first, ...)
{
	ARRAY(argv, first, list)
	va_end(list);
	return execve(path, argv, environ);
}

EXPORT int execlp(const char *file, const char *first, ...)
{
	ARRAY(argv, first, list)
	va_end(list);
	return execvpe(file, argv, environ);
}

EXPORT int execle(const char *path, const char *first, ...)
{
	ARRAY(argv, first, list)
	char *const *env = va_arg(list, char *const *);

	va_end(list);
	return execve(path, argv, env);
}
