/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Unwind tables: how to find a caller's frame from any instruction of a file's code. User space
 * builds a table from the file's .eh_frame; BPF walks stacks with it. Compiles on both sides; sizes
 * are asserted. unwind_step.h reads the tables.
 *
 * A table belongs to the content of one file and all processes share it. It is addressed by file
 * offset, so no load bias is needed:
 *
 * 	offset = pc - (start of the mapping) + (file offset of the mapping)
 *
 * A caller's frame is looked up with its return address - 1, which lies inside the call
 * instruction. The leaf, and a frame that a signal interrupted, are looked up with the pc itself.
 *
 * Storage. All tables share one space of 32-bit words. It is cut into chunks of ER_CHUNK_WORDS;
 * each chunk is a mmapable BPF array with one element, in slot WORD / ER_CHUNK_WORDS of an array of
 * maps. A part of a table (index, rows, rules) lies in consecutive words and may continue in the
 * next chunk. A word or a rule is aligned to its size, so it never crosses the end of a chunk.
 *
 * One file has three parts, at the word positions that its er_unwind_file gives:
 *
 * 	index  blocks + 1 words. Word i is the number of rows that begin before block
 * 	       i, and a block is ER_BLOCK_BYTES of text. So the rows that begin inside
 * 	       block i are index[i] .. index[i + 1] - 1, and the row in effect at its
 * 	       start is index[i] - 1, unless index[i] is 0: then the text has no entry.
 * 	rows   sorted; the low 16 bits of the file offset at which the row begins, and
 * 	       the number of its rule << 16. A row holds until the next one. The end of
 * 	       a function is a row with ER_RULE_NO_ENTRY, unless another function
 * 	       begins there.
 * 	rules  struct er_unwind_rule, each once. Rule 0 is ER_RULE_NO_ENTRY.
 *
 * A reader trusts nothing here: it checks each number before use.
 */
#ifndef ER_UNWIND_H
#define ER_UNWIND_H

#include "bpf/python.h"

enum {
	ER_CHUNK_WORDS = 1 << 19, /* 2 MiB */
	ER_BLOCK_BYTES = 1024,    /* text for one word of the index */
	ER_BLOCK_ROWS = ER_BLOCK_BYTES, /* the most rows that a block can have */
	ER_BLOCK_STEPS = 11,      /* of a binary search in so many rows */
	ER_RULE_WORDS = 4,
	ER_RULE_MAX = 1 << 16,    /* rules of one file */
	ER_RULE_NO_ENTRY = 0,
	ER_UNWIND_USUAL = 512,    /* frames of the deepest walk, */
	ER_UNWIND_FRAMES = 1536,  /* if more are not asked for; up to here */
};

/* Where the canonical frame address (CFA) is. It is the caller's stack pointer after the return. */
enum er_cfa {
	ER_CFA_NO_ENTRY, /* no unwind information for this code */
	ER_CFA_SP,       /* sp + cfa_off */
	ER_CFA_FP,       /* rbp + cfa_off */
	ER_CFA_DEREF_SP, /* *(sp + cfa_off) + cfa_add */
	ER_CFA_DEREF_FP, /* *(rbp + cfa_off) + cfa_add: a realigned stack */
	ER_CFA_PLT,      /* sp + cfa_off, 8 more where (pc & 15) >= cfa_add */
	ER_CFA_REG,      /* register `reg` + cfa_off: only where the register is known */
	ER_CFA_INDEX,    /* *(sp + cfa_off + 8 * register `reg`) + cfa_add: likewise */
	ER_CFA_GO,       /* on another stack, which Go's runtime has records of: see below */
	ER_CFA_BAD,      /* unwind information that no rule here can express */
	ER_CFA_COUNT
};

/* Where the caller's rbp is. */
enum er_bp {
	ER_BP_SAME, /* still in rbp */
	ER_BP_CFA,  /* *(CFA + bp_off) */
	ER_BP_FP,   /* *(rbp + bp_off) */
	ER_BP_SP,   /* *(sp + bp_off) */
	ER_BP_REG,  /* in register `bp_off`; possible only where registers are known */
	ER_BP_LOST, /* nowhere: the caller must not need it */
	ER_BP_COUNT
};

/* Where the return address is. */
enum er_ra {
	ER_RA_CFA,  /* *(CFA + ra_off), which is -8 in nearly all code */
	ER_RA_SP,   /* *(sp + ra_off): a signal frame */
	ER_RA_FP,   /* *(rbp + ra_off) */
	ER_RA_REG,  /* in register `reg`: libc's vfork */
	ER_RA_NONE, /* undefined: the outermost frame */
	ER_RA_COUNT
};

/*
 * Flags. Only files that need rbx have rules for it: the dynamic loader finds the frame of its lazy
 * binding by rbx. Bits 2 to 7 then say where rbx is saved: *(CFA - 8 * bits); 0: not saved.
 */
enum er_rule_flags {
	ER_RULE_SIGNAL = 1 << 0,  /* the kernel made this frame for a signal handler's return */
	ER_RULE_BX_SAME = 1 << 1, /* the caller's rbx is still in rbx */
	ER_RULE_BX_SHIFT = 2,
};

/* Registers by their DWARF number for x86-64: rax rdx rcx rbx rsi rdi rbp rsp r8 .. r15, rip. */
enum er_dwarf_reg { ER_DWARF_RBX = 3, ER_DWARF_RBP = 6, ER_DWARF_RSP = 7, ER_DWARF_RIP = 16, ER_DWARF_COUNT };

/*
 * The runtime's functions that call others on the thread's own stack. Where ER_CFA_GO holds, `reg` is
 * one of these, and distances are in cfa_off (thread block to g), bp_off (g to m; << 16 from m to
 * curg) and cfa_add (curg, or for ER_GO_CLOCK m, to the stack pointer). See unwind_go.h.
 */
enum er_go_switch {
	ER_GO_CALLED, /* systemstack and asmcgocall: the return address is at the stack pointer */
	ER_GO_GREW,   /* morestack: the return address is behind the stack pointer's record */
	ER_GO_CLOCK,  /* reading a clock: the stack pointer is the CFA */
};

struct er_unwind_rule {
	__s32 cfa_off;
	__s32 bp_off;
	__s16 ra_off;
	__s16 cfa_add;
	__u8 cfa;     /* enum er_cfa */
	__u8 bp : 4;  /* enum er_bp */
	__u8 ra : 4;  /* enum er_ra */
	__u8 reg;     /* low 4 bits: register of the CFA; high 4 bits: register of ER_RA_REG */
	__u8 flags;   /* enum er_rule_flags, and where rbx is */
};

/*
 * How a thread that runs Go leads to the number of the goroutine that it runs code for: from the thread block
 * to g, which may be the thread's own, to m, to the goroutine. See unwind_go.h.
 */
struct er_go_places {
	__s32 g;     /* distance from the thread block; 0: numbers of goroutines are not known */
	__u16 m;     /* distance in g, */
	__u16 curg;  /* in m, */
	__u16 goid;  /* and in curg */
	__u16 maker; /* version of Go, major << 8 | minor; GO_UNKNOWN_MAKER; 0: the file is no Go program */
};

enum { GO_UNKNOWN_MAKER = 0xffff };

enum er_file_state {
	ER_FILE_UNKNOWN,
	ER_FILE_PENDING, /* no table yet: it is being built */
	ER_FILE_READY,
	ER_FILE_NO_CFI,  /* has no unwind information, or none that can be read */
	ER_FILE_EVICTED, /* had a table that was dropped to save memory */
};

/*
 * The table of a file. User space writes the parts first and `state` last. Before it overwrites a
 * part it takes `state` back from READY, and waits until every walk that may have seen READY has
 * ended. File 0 does not exist. Its `generation` counts the files that were forgotten: their
 * numbers may belong to other files later.
 */
struct er_unwind_file {
	__u64 first;      /* file offset of the first block, a multiple of ER_BLOCK_BYTES */
	__u32 blocks;
	__u32 nrows;
	__u32 nrules;
	__u32 index;      /* word positions */
	__u32 rows;
	__u32 rules;      /* a multiple of ER_RULE_WORDS */
	__u32 state;      /* enum er_file_state */
	__u32 generation; /* counts the tables that this slot has had */
	__u32 used;       /* time of the last walk that needed it, in the walker's unit */
	/*
	 * If the file has a Python interpreter: its release (bpf/python.h), and the distances of
	 * its variables from the address of file offset 0.
	 */
	__u32 python;     /* 0: it has none */
	union {
		struct {
			__s32 python_runtime; /* _PyRuntime */
			__s32 python_code;    /* PyCode_Type */
			__s32 python_key;     /* the key of pthread_getspecific() for a thread's own state */
			struct er_python_places python_places;
		};
		struct er_go_places go; /* if it has none */
	};
};

/* Why a walk ended. Only ER_END_PROVEN says that the stack is complete. */
enum er_end {
	ER_END_NOT,        /* the walk goes on */
	ER_END_PROVEN,     /* the return address is undefined, or a known entry point */
	ER_END_FP_ZERO,    /* a frame pointer of 0: probably complete */
	ER_END_NO_MAPPING, /* the pc is in no mapping of a file */
	ER_END_BUSY,       /* the mapping could not be looked up at this moment */
	ER_END_NO_TABLE,   /* the table of the file is not built yet */
	ER_END_EVICTED,    /* the table was dropped */
	ER_END_NO_CFI,     /* no entry for this code, and no frame pointer that holds */
	ER_END_BAD_RULE,   /* a table that contradicts itself, or ER_CFA_BAD */
	ER_END_REGISTER,   /* needs a register that is known at the leaf only */
	ER_END_FAULT,      /* the stack could not be read */
	ER_END_NOT_RISING, /* the caller's frame would lie below its callee's */
	ER_END_RA_ZERO,    /* the return address is 0 */
	ER_END_DEPTH,      /* more frames than the limit */
	ER_END_SHORT,      /* the copy of the stack is too short */
	ER_END_NO_VM,      /* code of a Java VM whose structures were not known at that moment */
	ER_END_COUNT
};

_Static_assert(sizeof(struct er_unwind_rule) == ER_RULE_WORDS * 4, "unwind contract");
_Static_assert(sizeof(struct er_unwind_file) == 64, "unwind contract");
_Static_assert(ER_CHUNK_WORDS % ER_RULE_WORDS == 0, "a rule never crosses a chunk");
_Static_assert(1 << (ER_BLOCK_STEPS - 1) >= ER_BLOCK_ROWS, "the search reaches each row");
_Static_assert(ER_CFA_REG < 16 && ER_DWARF_RIP <= 16, "a rule's registers have 4 bits");

#endif
