/* SPDX-License-Identifier: GPL-2.0-or-later */
/* er_kernel: record what the whole system does with its CPUs. */
#include <stdio.h>

#include "analysis/base/alloc.h"
#include "kernel_er/ctl_client.h"
#include "user/options/tool.h"

static int control(const struct options *o, struct diag *d)
{
	__cleanup(freep) char *request =
		xasprintf("%s%s%s", o->ctl, o->ctl_arg ? " " : "", o->ctl_arg ? o->ctl_arg : "");

	return ctl_client(request, o->ctl_pid, stdout, d);
}

int main(int argc, char **argv)
{
	const struct tool er_kernel = { .recorder = ER_KERNEL, .name = "er_kernel", .control = control };

	return tool_main(&er_kernel, argc, argv, NULL);
}
