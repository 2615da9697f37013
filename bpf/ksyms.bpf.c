// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Names kernel addresses. User space puts addresses into er_ksyms, runs the program, and reads
 * "name+0xoffset/0xsize [module]" there. The kernel's whole list has five megabytes; a recording
 * needs a few hundred lines of it.
 */
#include "bpf/vmlinux.h"

#include <bpf/bpf_helpers.h>

#include "bpf/er_ksym.h"

char LICENSE[] SEC("license") = "GPL";

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, ER_KSYMS);
	__type(key, __u32);
	__type(value, struct er_ksym);
} er_ksyms SEC(".maps");

static long name_one(__u32 i, void *ctx)
{
	struct er_ksym *k = bpf_map_lookup_elem(&er_ksyms, &i);

	if (!k || !k->addr)
		return 1;
	BPF_SNPRINTF(k->text, sizeof(k->text), "%pS", k->addr);
	return 0;
}

SEC("syscall")
int er_name(void *ctx)
{
	bpf_loop(ER_KSYMS, name_one, NULL, 0); /* the verifier would walk a plain loop to its end */
	return 0;
}
