/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Iterates over the call frame information of one section, .eh_frame or .debug_frame.
 * It tells which code each FDE covers, and where its instructions and its CIE's are; it
 * does not decode them.
 *
 * The section is a buffer of untrusted bytes. Nothing outside it is read, nothing is
 * allocated and nothing is reported; the work is linear in its size. Entries that are
 * damaged or of an unknown form are counted and skipped. A length that reaches beyond
 * the section ends the iteration. The module needs cursor.h and no library, so an
 * unprivileged process can use it.
 */
#ifndef SYMBOLS_EHFRAME_H
#define SYMBOLS_EHFRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A section and the bases of its pointers. Addresses are the file's own (p_vaddr). */
struct ehframe_section {
	const unsigned char *data;
	size_t size;
	uint64_t addr;	    /* address of data[0]; base of DW_EH_PE_pcrel */
	uint64_t data_base; /* base of DW_EH_PE_datarel; 0: such pointers are errors */
	bool debug_frame;   /* has the form of .debug_frame, not of .eh_frame */
	bool swap;	    /* the file has the other byte order */
	unsigned addr_size; /* by the file's class: 4 or 8 */
};

/* Bytes inside the section: [p, p + size). */
struct ehframe_bytes {
	const unsigned char *p;
	size_t size;
};

struct ehframe_cie {
	size_t offset; /* of its length field, from the start of the section */
	uint64_t code_align;
	int64_t data_align;
	uint64_t return_reg;
	unsigned addr_size;    /* of absolute pointers and of DW_CFA_set_loc */
	unsigned char pointer; /* 'R': DW_EH_PE_… encoding of the FDEs' pointers */
	unsigned char lsda;    /* 'L': the same for LSDA pointers; DW_EH_PE_omit: none */
	bool sized;	       /* 'z': FDEs have augmentation data with its length */
	bool signal_frame;     /* 'S': the caller's pc is the interrupted instruction's */
	bool b_key;	       /* 'B': return addresses are signed with AArch64's key B */
	bool mte;	       /* 'G': the stack frame is tagged (AArch64 MTE) */
	bool personality;      /* 'P' */
	struct ehframe_bytes instructions; /* initial ones, executed before each FDE's */
};

struct ehframe_fde {
	const struct ehframe_cie *cie; /* valid until the next call */
	size_t offset;		       /* of its length field, from the start of the section */
	uint64_t pc_begin, pc_end;     /* code [pc_begin, pc_end), never empty */
	struct ehframe_bytes instructions;
};

/* An iteration. Only nbad and cut are public. */
struct ehframe {
	const struct ehframe_section *section;
	size_t next; /* offset of the next entry */
	size_t nbad; /* entries skipped as damaged or unknown */
	bool cut;    /* a length reached beyond the section and ended the iteration */
	bool has_cie;
	struct ehframe_cie cie; /* the last CIE used */
};

/* Start at the first entry. The section must outlive the iteration. */
void ehframe_begin(struct ehframe *e, const struct ehframe_section *s);
/*
 * The next FDE that covers code; false at the end. Skips empty FDEs, which linkers
 * leave for discarded sections. The order is the file's; it is often, but not always,
 * sorted by address.
 */
bool ehframe_next(struct ehframe *e, struct ehframe_fde *ret);
/*
 * The FDE whose length field is at this offset, taken from a row of .eh_frame_hdr.
 * False, and nothing is counted, if no FDE with code is there. Does not move the
 * iteration.
 */
bool ehframe_at(struct ehframe *e, size_t offset, struct ehframe_fde *ret);

/* The contents of .eh_frame_hdr, for files without section headers. */
struct ehframe_hdr {
	uint64_t eh_frame; /* its address */
	size_t nfdes;	   /* rows of the table, all inside the section; 0: no table */
	size_t table;	   /* offset of the table; a row is two 4-byte numbers */
};

/* Read the header. False: damaged, or of a form that linkers do not write. */
bool ehframe_hdr_read(const struct ehframe_section *hdr, struct ehframe_hdr *ret);
/*
 * Get row i < nfdes of the sorted table: the address where the code begins, and the
 * address of its FDE. Both are stored relative to the section's addr.
 */
void ehframe_hdr_row(const struct ehframe_section *hdr, const struct ehframe_hdr *h, size_t i,
		     uint64_t *pc_begin, uint64_t *fde);

/*
 * Read a pointer with `encoding` (DW_EH_PE_…) at offset *at of the section, and move
 * *at behind it. Used for DW_CFA_set_loc and other parts of the section. False:
 * damaged, indirect, aligned, or relative to an unknown base.
 */
bool ehframe_pointer(const struct ehframe_section *s, unsigned char encoding, unsigned addr_size,
		     size_t *at, uint64_t *ret);

#endif
