/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The goroutine for which the current thread runs code of a Go program. The thread's block leads to it
 * (struct er_go_places). The process may contain anything: every address is only read.
 */
#ifndef GOROUTINE_BPF_H
#define GOROUTINE_BPF_H

#include "bpf/arch.bpf.h"
#include "bpf/space.bpf.h"

static __always_inline bool go_read(__u64 *at, __s64 distance)
{
	return *at && !bpf_probe_read_user(at, sizeof(*at), (void *)(*at + distance));
}

/*
 * Its number; 0: there is none, or it cannot be read. A function of its own: the stacks of all nested calls are
 * limited.
 */
__noinline __u64 er_goroutine(__u32 file)
{
	struct er_unwind_file *f = bpf_map_lookup_elem(&er_files, &file);
	__u64 at = arch_thread_block(bpf_get_current_task_btf());

	if (!f || !go_read(&at, f->go.g) || !go_read(&at, f->go.m) || !go_read(&at, f->go.curg) ||
	    !go_read(&at, f->go.goid))
		return 0;
	return at;
}

#endif
