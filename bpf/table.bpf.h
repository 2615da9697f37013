/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The words of unwind tables, in chunks that user space fills (user/unwind/store.h). */
#ifndef TABLE_BPF_H
#define TABLE_BPF_H

#include "bpf/er.bpf.h"
#include "bpf/unwind.h"

struct chunk {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, ER_CHUNK_WORDS * sizeof(__u32)); /* a type is too large for clang 14 */
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, 1);
	__type(key, __u32);
	__array(values, struct chunk);
} er_chunks SEC(".maps");

static __always_inline __u32 *table_word(__u32 at)
{
	__u32 slot = at / ER_CHUNK_WORDS, zero = 0;
	void *chunk = bpf_map_lookup_elem(&er_chunks, &slot);
	__u32 *words = chunk ? bpf_map_lookup_elem(chunk, &zero) : NULL;

	return words ? words + at % ER_CHUNK_WORDS : NULL;
}

/* Read a word of the tables. Returns 0, or 1 if there is none. */
__noinline int er_table_word(__u64 *ret, __u32 at)
{
	__u32 *p = table_word(at);

	if (!ret || !p)
		return 1;
	*ret = *p;
	return 0;
}

#endif
