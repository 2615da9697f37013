/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/base/interrupt.h"

#include <signal.h>

static volatile sig_atomic_t noted;
static struct sigaction before;
static bool armed;

static void note(int sig)
{
	noted = 1;
}

void interrupt_arm(void)
{
	struct sigaction once = { .sa_handler = note, .sa_flags = SA_RESTART | SA_RESETHAND };

	noted = 0;
	armed = !sigaction(SIGINT, NULL, &before) && before.sa_handler != SIG_IGN &&
		!sigaction(SIGINT, &once, NULL);
}

bool interrupt_disarm(void)
{
	bool ret;

	if (armed)
		sigaction(SIGINT, &before, NULL);
	armed = false;
	ret = noted;
	noted = 0;
	return ret;
}

bool interrupt_pending(void)
{
	return noted;
}
