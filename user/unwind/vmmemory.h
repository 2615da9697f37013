/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The memory of a process that describes its Java VM's code, for walks in user space. It is read when a
 * walk needs it, by the opener (user/space/opener.h), and is kept until the next batch of stacks: the VM
 * changes it. Only the parts that bpf/unwind_hotspot.h reads can be read: stacks come from copies. What it
 * holds is hostile.
 */
#ifndef USER_UNWIND_VMMEMORY_H
#define USER_UNWIND_VMMEMORY_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include <linux/types.h>

#include "bpf/hotspot.h"

struct vm_memory;

/* Free it with vm_memory_free. `library`: where libjvm.so begins. */
struct vm_memory *vm_memory_new(pid_t pid, uint64_t library, const struct er_hotspot *vm);
void vm_memory_free(struct vm_memory *m); /* NULL: nothing */
const struct er_hotspot *vm_memory_vm(const struct vm_memory *m);
/* Whether the address belongs to these parts. */
bool vm_memory_has(const struct vm_memory *m, uint64_t at);
/* Read 8 bytes, which belong to these parts. False: they cannot be read any more, or too many others were. */
bool vm_memory_read(struct vm_memory *m, uint64_t at, uint64_t *value);

#endif
