/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/experiment/mstate.h"

#include "analysis/experiment/usage.h"

#define NAMES(n, u)      .name = (n), .uname = u, .metric_uname = u " Time"
#define USAGE(member)    .usage = offsetof(struct exp_usage, member##_ns)
#define ATTRS(a)         .attr = a, .count_attr = "n" a
#define SPAN(field)      .span = "SPAN" field
#define REST(function, reason)                                                                     \
	.unsampled = "<Unsampled-" function ">", .rest = reason ", between samples"

const struct mstate_desc mstate_descs[MS_COUNT] = {
	{ MS_USER, true, NAMES("USER", "User CPU"), .title = { "User", "CPU" }, .letter = 'U',
	  .metric = "user", .attr = "user", USAGE(user), SPAN("USER") },
	{ MS_SYSTEM, true, NAMES("SYSTEM", "System CPU"), .title = { "System", "CPU" },
	  .letter = 'S', .metric = "system", .attr = "system", USAGE(system),
	  SPAN("SYSTEM") },
	{ MS_TRAP, true, NAMES("TRAP", "Trap CPU"), .title = { "Trap", "CPU" }, .letter = 'T',
	  .metric = "trap", .attr = "trap", USAGE(trap) },
	{ MS_TFAULT, false, NAMES("TFAULT", "Text Page Fault"), .title = { "Text", "Fault" },
	  .letter = 't', .metric = "textpfault", .metric_alias = "text", ATTRS("tfault"),
	  REST("Text-Fault", "text fault"), USAGE(tfault), SPAN("TFAULT") },
	{ MS_DFAULT, false, NAMES("DFAULT", "Data Page Fault"), .title = { "Data", "Fault" },
	  .letter = 'd', .metric = "datapfault", .metric_alias = "data", ATTRS("dfault"),
	  REST("Data-Fault", "data fault"), USAGE(dfault), SPAN("DFAULT") },
	{ MS_KFAULT, false, NAMES("KFAULT", "Kernel Page Fault"), .title = { "Kernel", "Fault" },
	  .letter = 'k', .metric = "kernelpfault", ATTRS("kfault"),
	  REST("Kernel-Fault", "kernel fault"), USAGE(kfault), SPAN("KFAULT") },
	{ MS_USER_LOCK, false, NAMES("USER_LOCK", "User Lock"), .title = { "User", "Lock" },
	  .letter = 'L', .metric = "lock", .metric_alias = "ulock", ATTRS("lock"),
	  REST("User-Lock", "user lock"), USAGE(lock), SPAN("LOCK") },
	{ MS_SLEEP, false, NAMES("SLEEP", "Sleep"), .title = { "Sleep", "" }, .letter = '.',
	  .metric = "sleep", ATTRS("sleep"), REST("Sleep", "sleep"), USAGE(sleep), SPAN("SLEEP") },
	{ MS_WAIT_CPU, false, NAMES("WAIT_CPU", "Wait CPU"), .title = { "Wait", "CPU" },
	  .letter = 'w', .metric = "wait", ATTRS("wait"), REST("Wait-CPU", "wait for CPU"),
	  USAGE(wait), SPAN("WAITCPU") },
	{ MS_STOPPED, false, NAMES("STOPPED", "Stopped"), .title = { "Stopped", "" },
	  .letter = 'x', .metric = "stop", ATTRS("stop"), REST("Stopped", "stopped"), USAGE(stop), SPAN("STOP") },
	{ MS_LINUX_CPU, true, NAMES("LINUX_CPU", "Linux CPU"), .title = { "Linux", "CPU" },
	  .letter = 'C' },
	{ MS_KERNEL_CPU, true, NAMES("KERNEL_CPU", "Kernel CPU"), .metric = "kcpu" },
};

uint64_t *mstate_usage(struct exp_usage *u, const struct mstate_desc *desc)
{
	return (uint64_t *)((char *)u + desc->usage);
}
