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
};

_Static_assert(sizeof(struct er_hotspot) == 3 * 32 + 24, "contract");

#endif
