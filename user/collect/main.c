/* SPDX-License-Identifier: GPL-2.0-or-later */
/* collect: record what one program and its descendants do. */
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>

#include "user/options/tool.h"

/* The options, the counters, and what intervals the clock has. */
static int summary(void)
{
	options_usage(COLLECT, stdout);
	putchar('\n');
	tool_list_counters();
	printf("\nClock intervals (-p): 0.01 to 1000 milliseconds, in steps of 0.001.\n");
	return 0;
}

/* A shell learns of the signal that ended the program as if it had started the program itself. */
static void end_like_program(int signal_number)
{
	const struct rlimit no_core = { 0 };
	sigset_t set;

	setrlimit(RLIMIT_CORE, &no_core);
	signal(signal_number, SIG_DFL);
	sigemptyset(&set);
	sigaddset(&set, signal_number);
	raise(signal_number);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
}

int main(int argc, char **argv)
{
	const struct tool collect = { .recorder = COLLECT, .name = "collect", .summary = summary };
	int load_signal = 0, status = tool_main(&collect, argc, argv, &load_signal);

	if (load_signal)
		end_like_program(load_signal);
	return status;
}
