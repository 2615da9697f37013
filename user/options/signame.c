/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "user/options/signame.h"

#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* The digits of a number up to the largest signal; -1: it is not that. */
static int number(const char *s)
{
	char *end;
	long n;

	if (*s < '0' || *s > '9')
		return -1;
	n = strtol(s, &end, 10);
	return *end || n > SIGRTMAX ? -1 : (int)n;
}

/* "RTMIN", "RTMIN+2", "RTMAX-1"; 0: no real-time signal. */
static int real_time(const char *name)
{
	bool min = !strncasecmp(name, "RTMIN", 5);
	const char *rest = name + 5;
	int n;

	if (!min && strncasecmp(name, "RTMAX", 5))
		return 0;
	if (!*rest)
		return min ? SIGRTMIN : SIGRTMAX;
	n = *rest == (min ? '+' : '-') ? number(rest + 1) : -1;
	if (n < 0 || n > SIGRTMAX - SIGRTMIN)
		return 0;
	return min ? SIGRTMIN + n : SIGRTMAX - n;
}

int signal_number(const char *name)
{
	int n = number(name);

	if (n >= 0)
		return n < SIGRTMIN && !sigabbrev_np(n) ? 0 : n;
	if (!strncasecmp(name, "SIG", 3))
		name += 3;
	for (n = 1; n < SIGRTMIN; n++) {
		const char *abbreviation = sigabbrev_np(n);

		if (abbreviation && !strcasecmp(abbreviation, name))
			return n;
	}
	return real_time(name);
}

const char *signal_taken(int number)
{
	static const struct {
		int number;
		const char *why;
	} rows[] = {
		{ SIGINT, "it ends the recording" },   { SIGTERM, "it ends the recording" },
		{ SIGQUIT, "it ends the recording" },  { SIGKILL, "no program can take it" },
		{ SIGSTOP, "no program can take it" }, { SIGCHLD, "every child that ends sends it" },
		{ SIGPIPE, "failed writes send it" },  { SIGXFSZ, "failed writes send it" },
		{ SIGSEGV, "faults send it" },	       { SIGBUS, "faults send it" },
		{ SIGFPE, "faults send it" },	       { SIGILL, "faults send it" },
		{ SIGTRAP, "faults send it" },	       { SIGSYS, "faults send it" },
		{ SIGABRT, "faults send it" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (rows[i].number == number)
			return rows[i].why;
	}
	return NULL;
}
