// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Follows the family of a program: its threads and, with er_descend, its descendants. er_born marks
 * each new task of a marked task, before it runs for the first time. The other programs record the
 * marked tasks (thread_wanted). The mark is in the task's own storage, so it ends with the task and
 * is no process's that gets the number later.
 *
 * er_living counts the marked tasks that have not begun to exit. The recorder sets it to the number
 * of tasks that it has marked itself.
 */
#include "bpf/vmlinux.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "bpf/family.bpf.h"

char LICENSE[] SEC("license") = "GPL";

const volatile bool er_descend; /* processes, too, not only threads */

__u32 er_living;
__u32 er_unmarked; /* tasks that got no mark for lack of memory, and are not recorded */

SEC("tp_btf/task_newtask")
int BPF_PROG(er_born, struct task_struct *p)
{
	struct task_struct *parent = bpf_get_current_task_btf();

	if (!family_has(parent) && !target_has(parent->tgid, 0))
		return 0;
	if (!er_descend && p->tgid != parent->tgid)
		return 0;
	if (bpf_task_storage_get(&er_family, p, 0, BPF_LOCAL_STORAGE_GET_F_CREATE))
		__sync_fetch_and_add(&er_living, 1);
	else
		__sync_fetch_and_add(&er_unmarked, 1);
	return 0;
}

SEC("tp_btf/sched_process_exit")
int BPF_PROG(er_gone, struct task_struct *p)
{
	if (family_has(p))
		__sync_fetch_and_sub(&er_living, 1);
	return 0;
}
