/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes hwc.1.er, as er_kernel -h records: a founder with a followed process. Cycles, instructions
 * and faults were counted in both modes, switches in kernel mode only. Some overflows were lost,
 * some were never seen, and one counter took turns with others.
 */
#include <stdio.h>

#include "tests/fixtures/exp_builder.h"

enum { CYCLES, K_CYCLES, INSTS, K_INSTS, FAULTS, K_FAULTS, SWITCHES };

static const struct exp_counter_desc counters[] = {
	{ CYCLES, "cycles", "PERF_COUNT_HW_CPU_CYCLES~system=0", "CPU Cycles", 9999991, true, false },
	{ K_CYCLES, "K_cycles", "PERF_COUNT_HW_CPU_CYCLES~user=0", "Kernel CPU Cycles", 9999991, true, false },
	{ INSTS, "insts", "PERF_COUNT_HW_INSTRUCTIONS~system=0", "Instructions Executed", 9999991, false, false },
	{ K_INSTS, "K_insts", "PERF_COUNT_HW_INSTRUCTIONS~user=0", "Kernel Instructions Executed",
	  9999991, false, false },
	{ FAULTS, "page-faults", "PERF_COUNT_SW_PAGE_FAULTS~system=0", "Page Faults", 1, false, false },
	{ K_FAULTS, "K_page-faults", "PERF_COUNT_SW_PAGE_FAULTS~user=0", "Kernel Page Faults", 1, false, false },
	{ SWITCHES, "context-switches", "PERF_COUNT_SW_CONTEXT_SWITCHES", "Context Switches", 101, false, false },
};

enum { NCOUNTERS = sizeof(counters) / sizeof(counters[0]) };

static void overflow(struct exp_builder *b, int thread, int cpu, const char *stack, int tag, uint32_t seq)
{
	const int64_t values[] = { thread, thread, cpu, exp_builder_now(b), exp_builder_stack(b, stack),
				   tag, counters[tag].interval, seq };

	expwriter_packet(exp_builder_writer(b), ER_PKT_HWC, values, NULL);
	exp_builder_sleep(b, 1000000);
}

int main(int argc, char **argv)
{
	static const char account[] =
		"<recorder version=\"1\" pid=\"4711\" state=\"closed\"/>\n"
		"<ring cpu=\"0\" produced=\"1\" recorded=\"1\" lost=\"0\"/>\n"
		"<counterring cpu=\"0\" produced=\"8\" recorded=\"6\" lost=\"2\"/>\n"
		"<counterring cpu=\"1\" produced=\"5\" recorded=\"5\" lost=\"0\"/>\n"
		"<counter name=\"cycles\" interval=\"9999991\" events=\"45000000\" seen=\"39999964\" "
		"enabled_ns=\"1000\" running_ns=\"1000\"/>\n"
		"<counter name=\"insts\" interval=\"9999991\" events=\"31000000\" seen=\"29999973\" "
		"enabled_ns=\"1000\" running_ns=\"500\"/>\n"
		"<counter name=\"page-faults\" interval=\"1\" events=\"10\" seen=\"5\" "
		"enabled_ns=\"1000\" running_ns=\"1000\"/>\n"
		"<counter name=\"context-switches\" interval=\"101\" events=\"150\" seen=\"101\" "
		"enabled_ns=\"1000\" running_ns=\"1000\"/>\n"
		"<loss second=\"0\" pid=\"12\" tid=\"12\" kind=\"counter\" count=\"2\"/>\n";
	struct exp_builder *b, *sub;

	if (argc != 2) {
		fprintf(stderr, "usage: make_counters DIR\n");
		return 2;
	}
	b = exp_builder_new_kernel(argv[1], "hwc.1.er");
	expwriter_counter_profile(exp_builder_writer(b), ER_PKT_HWC, counters, NCOUNTERS);
	exp_builder_profile(b, 0, "k:kswapd", MS_KERNEL_CPU, 10);
	overflow(b, 0, 0, "k:kswapd>k:shrink", K_CYCLES, 0);
	overflow(b, 0, 0, "k:schedule", SWITCHES, 1);
	sub = exp_builder_sub(b, "_work_PID_12.1.er", "./work", 12);
	expwriter_counter_profile(exp_builder_writer(sub), ER_PKT_HWC, counters, NCOUNTERS);
	overflow(sub, 12, 0, "main>work", CYCLES, 2);
	overflow(sub, 12, 0, "main>work", CYCLES, 5);
	overflow(sub, 12, 0, "main>work", INSTS, 6);
	overflow(sub, 12, 0, "main>rest", INSTS, 7);
	overflow(sub, 13, 1, "main>k:vfs_read", K_CYCLES, 0);
	overflow(sub, 13, 1, "main>k:vfs_read", K_INSTS, 1);
	overflow(sub, 13, 1, "main>work", FAULTS, 2);
	overflow(sub, 13, 1, "main>work", FAULTS, 3);
	overflow(sub, 13, 1, "main>k:vfs_read", K_FAULTS, 4);
	expwriter_replace(exp_builder_writer(b), "recorder.xml", account);
	exp_builder_close(sub);
	exp_builder_close(b);
	return 0;
}
