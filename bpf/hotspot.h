/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where a Java VM (HotSpot) keeps what it knows about its code. The VM's structures lead from an
 * address to the block of code that contains it, and to the size of that code's frames. User space
 * finds out where they are, once for each process (user/jit/hotspot.h). A walk reads them in the
 * process that it walks, so they are those of this moment (bpf/unwind_hotspot.h). Compiles on both
 * sides.
 */
#ifndef ER_HOTSPOT_H
#define ER_HOTSPOT_H

enum {
	ER_HOTSPOT_HEAPS = 3, /* the most that HotSpot has */
	ER_MAX_HOTSPOTS = 512,
};

/*
 * A part of the code cache, `low` up to `high`. It consists of blocks of whole segments. The map has
 * a byte for each segment: 0 where a block begins; 255: free; otherwise how many segments the
 * block's beginning, or a byte that leads there, lies before.
 */
struct er_hotspot_heap {
	__u64 low, high;
	__u64 map;
	__u32 log2; /* of the bytes of a segment */
	__u32 pad;
};

/*
 * Where the names of a method are. Each is an offset. A Method has the address of its ConstMethod.
 * The method's bytecodes are behind that, and lines behind them. It has the address of the class's
 * ConstantPool, and indexes of Symbols there. const_bytes 0: the VM does not say all of this.
 */
struct er_hotspot_method {
	__u16 constant;     /* in a Method: the address of its ConstMethod */
	__u16 const_bytes;  /* of a ConstMethod */
	__u16 pool;         /* in a ConstMethod: an address; */
	__u16 const_words;  /* 4 bytes: with all that is behind it; */
	__u16 flags, code_size, name, signature; /* 2 bytes each */
	__u16 pool_bytes;   /* of a ConstantPool; addresses of Symbols follow */
	__u16 holder, source; /* in a ConstantPool: the address of its Klass; 2 bytes */
	__u16 klass_name;   /* in a Klass: the address of a Symbol */
	__u16 length, body; /* in a Symbol: 2 bytes, and text */
	__u16 bias;         /* no offset: see struct er_code */
	__u16 pad;
};

/* The interpreter's frames in all versions of x86-64, from rbp on. */
enum {
	ER_HOTSPOT_FRAME_METHOD = -24, /* the Method */
	ER_HOTSPOT_FRAME_BYTECODE = -64, /* the address of the bytecode while the frame calls another one; */
	ER_HOTSPOT_BYTECODE_REG = 13,  /* otherwise it is in r13 */
	ER_HOTSPOT_HAS_LINES = 1,      /* in the flags of a ConstMethod */
	ER_HOTSPOT_CONST_WORDS = 8,    /* the most that a ConstMethod has */
};

/* Offsets in a block. Behind its header is the blob, which describes the code. */
struct er_hotspot {
	struct er_hotspot_heap heaps[ER_HOTSPOT_HEAPS]; /* unused ones are zero */
	__u16 blob;           /* the blob, in the block */
	__u16 name;           /* in the blob: the address of its name */
	__u16 begin, end;     /* where its code is: addresses, */
	__u16 begin_off, end_off; /* or distances from the blob, of 4 bytes; 0: this VM has none */
	__u16 frame_size;     /* 4 bytes, in words */
	__u16 frame_complete; /* bytes from the code's begin to the end of the prologue */
	__u16 complete_bytes; /* 4, or 2 */
	__u16 pad;
	__u32 tag;            /* er_space_tag of the process, set when it is published */
	struct er_hotspot_method method;
};

_Static_assert(sizeof(struct er_hotspot) == 3 * 32 + 24 + 32, "contract");

#endif
