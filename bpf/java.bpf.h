/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The Java VMs that walks know, and the methods that a VM's interpreter runs. The walk steps out of
 * the interpreter by frame pointers (bpf/unwind_hotspot.h). Each frame of the interpreter has the
 * address of its method, and the VM's structures lead from there to names and lines (bpf/hotspot.h).
 *
 * A frame counts as a method's only if its bytecode lies in that method. The process may contain
 * anything: every number is checked or only compared.
 */
#ifndef JAVA_BPF_H
#define JAVA_BPF_H

#include "bpf/code.bpf.h"
#include "bpf/frame.h"
#include "bpf/hotspot.h"

/* The Java VMs whose memory is understood. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, struct er_space_key);
	__type(value, struct er_hotspot);
} er_hotspots SEC(".maps");

/*
 * Processes that have mapped a Java VM whose memory is not understood yet: user space walks their stacks, as soon
 * as it is. A process that is here by mistake, such as one after an exec, costs only copies.
 */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, __u32); /* the process */
	__type(value, __u32); /* unused */
} er_awaited SEC(".maps");

enum vm_state { VM_UNASKED, VM_NONE, VM_KNOWN };

/* A frame of the interpreter, and its method. */
struct java_walk {
	__u64 bp;       /* of the frame whose method comes next; 0: none */
	__u64 sp;       /* where the frame begins */
	__u64 bytecode; /* r13, if the frame is the leaf; otherwise 0 */
	__u64 unit;     /* of the method */
	__u64 constant; /* its ConstMethod, which is: */
	__u64 words[ER_HOTSPOT_CONST_WORDS];
};

static __always_inline bool java_read(void *to, __u32 size, __u64 at)
{
	return !bpf_probe_read_user(to, size, (void *)at);
}

static __always_inline __u64 java_word(const struct java_walk *j, __u32 offset)
{
	return j->words[offset / 8 & (ER_HOTSPOT_CONST_WORDS - 1)];
}

static __always_inline __u32 java_number(const struct java_walk *j, __u32 offset)
{
	return java_word(j, offset) >> (offset & 7) * 8 & 0xffff;
}

/* Set j->unit. False: the bytecode is not in the method. A native method has none. */
static __always_inline bool java_take_unit(struct java_walk *j, const struct er_hotspot_method *m)
{
	__u64 begin = j->constant + m->const_bytes, size = java_number(j, m->code_size), at = 0;

	j->unit = 0;
	if (!size)
		return true;
	if (j->bytecode - begin < size) {
		j->unit = j->bytecode - begin;
		return true;
	}
	if (j->bp + ER_HOTSPOT_FRAME_BYTECODE < j->sp ||
	    !java_read(&at, 8, j->bp + ER_HOTSPOT_FRAME_BYTECODE) || at - begin >= size)
		return false;
	j->unit = at - begin;
	return true;
}

/* Read the frame's method, and set the key. 0: this is no method. */
__noinline int er_java_identify(struct java_walk *j, struct code_walk *c, const struct er_hotspot *vm)
{
	__u64 method, h;

	if (!j || !c || !vm || !vm->method.const_bytes || j->bp + ER_HOTSPOT_FRAME_METHOD < j->sp ||
	    !java_read(&method, 8, j->bp + ER_HOTSPOT_FRAME_METHOD) ||
	    !java_read(&j->constant, 8, method + vm->method.constant) ||
	    !java_read(j->words, sizeof(j->words), j->constant) ||
	    !java_take_unit(j, &vm->method))
		return 0;
	h = code_mix(code_hash_begin(c), j->constant);
#pragma clang loop unroll(disable)
	for (int i = 1; i < ER_HOTSPOT_CONST_WORDS - 2; i++) /* the first word is set later */
		h = code_mix(h, j->words[i]);
	c->key.code = method;
	c->key.print = h;
	return 1;
}

/* Copy the text of a Symbol, at most `max` bytes, a power of two. Leaves ret->n 0 if it cannot be read. */
static __always_inline void java_text(const struct er_hotspot_method *m, __u64 symbol,
				      struct er_code_text *ret, __u8 *to, __u32 max)
{
	__u16 length = 0;
	__u32 n;

	if (!symbol || !java_read(&length, 2, symbol + m->length))
		return;
	n = length < max ? length : max - 1;
	barrier_var(n); /* the verifier needs the mask right before its use */
	n &= max - 1;
	if (!java_read(to, n, symbol + m->body))
		return;
	ret->n = n;
	ret->width = 1;
}

/* The Symbol with this index in the ConstantPool; 0: not readable. */
static __always_inline __u64 java_symbol(const struct er_hotspot_method *m, __u64 pool, __u32 index)
{
	__u64 symbol = 0;

	return index && java_read(&symbol, 8, pool + m->pool_bytes + index * 8) ? symbol : 0;
}

/* What is behind the bytecodes begins with the lines. */
static __always_inline void java_table(struct code_walk *c, const struct java_walk *j,
				       const struct er_hotspot_method *m)
{
	__u64 before = m->const_bytes + (__u64)java_number(j, m->code_size);
	__u64 n = (java_word(j, m->const_words) >> (m->const_words & 7) * 8 & 0xffffffff) * 8;
	union code_record *to = &c->record;

	if (!(java_number(j, m->flags) & ER_HOTSPOT_HAS_LINES) || n <= before)
		return;
	n -= before;
	if (n >= ER_CODE_TABLE)
		n = ER_CODE_TABLE - 1;
	barrier_var(n);
	n &= ER_CODE_TABLE - 1;
	if (java_read(to->bytes + sizeof(to->c), n, j->constant + before))
		to->c.table_size = n;
}

/* The class and its source file. */
__noinline int er_java_class(struct java_walk *j, struct code_walk *c, const struct er_hotspot *vm)
{
	__u64 pool, at = 0;
	__u16 source = 0;

	if (!j || !c || !vm)
		return 0;
	pool = java_word(j, vm->method.pool);
	if (java_read(&source, 2, pool + vm->method.source))
		java_text(&vm->method, java_symbol(&vm->method, pool, source), &c->record.c.source,
			  c->record.c.source_bytes, ER_CODE_SOURCE);
	if (java_read(&at, 8, pool + vm->method.holder) && java_read(&at, 8, at + vm->method.klass_name))
		java_text(&vm->method, at, &c->record.c.path, c->record.c.path_bytes, ER_CODE_PATH);
	return c->record.c.path.n;
}

/* Read and send the method in c->key. Returns its number; 0: that is not possible now. */
__noinline int er_java_define(struct java_walk *j, struct code_walk *c, const struct er_hotspot *vm)
{
	struct er_code *to;
	__u64 pool;

	if (!j || !c || !vm)
		return 0;
	to = &c->record.c;
	code_begin(c, ER_CODE_JAVA);
	to->units = java_number(j, vm->method.code_size);
	to->units += !to->units; /* a native method */
	to->bias = vm->method.bias;
	pool = java_word(j, vm->method.pool);
	java_text(&vm->method, java_symbol(&vm->method, pool, java_number(j, vm->method.name)), &to->name,
		  to->name_bytes, ER_CODE_NAME);
	java_text(&vm->method, java_symbol(&vm->method, pool, java_number(j, vm->method.signature)),
		  &to->signature, to->signature_bytes, ER_CODE_SIGNATURE);
	java_table(c, j, &vm->method);
	return to->name.n && er_java_class(j, c, vm) ? er_code_send(c) : 0;
}

/* The method of the frame at j->bp, as er_frame(); 0: its frame is no method's, or it cannot be read. */
static __always_inline __u64 java_frame(struct java_walk *j, struct code_walk *c,
					const struct er_hotspot *vm)
{
	__u32 number = 0;

	if (er_java_identify(j, c, vm)) {
		number = code_known(c);
		if (!number)
			number = er_java_define(j, c, vm);
	}
	j->bp = 0;
	return number ? er_frame(ER_CODE_FILE + number, j->unit + 1) : 0;
}

#endif
