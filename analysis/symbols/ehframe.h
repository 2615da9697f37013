/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Iterate over the call frame information of one section, .eh_frame or .debug_frame:
 * which code each FDE covers, and where its instructions and its CIE's lie. The
 * instructions themselves are not decoded here.
 *
 * The section is a buffer of untrusted bytes. Nothing outside it is read, nothing is
 * allocated, nothing is reported, and the work is linear in its size. An entry that
 * is damaged or of an unknown form is counted and skipped; a length that reaches out
 * of the section ends the iteration. The module needs cursor.h and no library, so a
 * process without privileges can use it.
 */
#ifndef SYMBOLS_EHFRAME_H
#define SYMBOLS_EHFRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A section and what its pointers are relative to. Addresses are the file's own (p_vaddr). */
struct ehframe_section {
	const unsigned char *data;
	size_t size;
	uint64_t addr;	    /* where data[0] is linked; for DW_EH_PE_pcrel */
	uint64_t data_base; /* for DW_EH_PE_datarel; 0: such pointers are an error */
	bool debug_frame;   /* the form of .debug_frame, else that of .eh_frame */
	bool swap;	    /* the file's byte order is not this machine's */
	unsigned addr_size; /* of the file's class: 4 or 8 */
};

/* Bytes inside the section: [p, p + size). */
struct ehframe_bytes {
	const unsigned char *p;
	size_t size;
};

struct ehframe_cie {
	size_t offset; /* of its length field, in the section */
	uint64_t code_align;
	int64_t data_align;
	uint64_t return_reg;
	unsigned addr_size;    /* of absolute pointers and of DW_CFA_set_loc's */
	unsigned char pointer; /* 'R': DW_EH_PE_… of the FDEs' pointers */
	unsigned char lsda;    /* 'L': likewise of the LSDA's; DW_EH_PE_omit: none */
	bool sized;	       /* 'z': FDEs have augmentation data with a length */
	bool signal_frame;     /* 'S': the caller's pc is of the interrupted instruction */
	bool b_key;	       /* 'B': AArch64 signs return addresses with its second key */
	bool mte;	       /* 'G': AArch64 tags the stack frame */
	bool personality;      /* 'P' */
	struct ehframe_bytes instructions; /* initial ones, run before each FDE's */
};

struct ehframe_fde {
	const struct ehframe_cie *cie; /* valid until the next call */
	size_t offset;		       /* of its length field, in the section */
	uint64_t pc_begin, pc_end;     /* code [pc_begin, pc_end); never empty or backwards */
	struct ehframe_bytes instructions;
};

/* An iteration. Its fields but nbad and cut are private. */
struct ehframe {
	const struct ehframe_section *section;
	size_t next; /* the offset of the next entry */
	size_t nbad; /* entries that were skipped: damaged, or of an unknown form */
	bool cut;    /* the iteration ended at a length that reaches out of the section */
	bool has_cie;
	struct ehframe_cie cie; /* the last one that was used */
};

/* Begin with the first entry. The section must stay as long as the iteration. */
void ehframe_begin(struct ehframe *e, const struct ehframe_section *s);
/*
 * The next FDE that covers code; false at the end. FDEs of nothing, as linkers leave
 * them for sections that they discarded, are passed over. The order is the file's, which is
 * often, but not always, that of addresses.
 */
bool ehframe_next(struct ehframe *e, struct ehframe_fde *ret);
/*
 * The FDE whose length field is at this offset, as a row of .eh_frame_hdr says; false, and
 * nothing counted, when there is none that covers code. The iteration stays where it is.
 */
bool ehframe_at(struct ehframe *e, size_t offset, struct ehframe_fde *ret);

/* What .eh_frame_hdr says, for files whose section headers are gone. */
struct ehframe_hdr {
	uint64_t eh_frame; /* the address of .eh_frame */
	size_t nfdes;	   /* rows of its table, all inside the section; 0: it has none */
	size_t table;	   /* offset of the table, rows of two 4-byte numbers */
};

/* Read the header; false when it is damaged or of a form that no linker writes. */
bool ehframe_hdr_read(const struct ehframe_section *hdr, struct ehframe_hdr *ret);
/*
 * Row i < nfdes of the sorted table: where the code begins and at which address its FDE
 * is. The section's addr is the base of both.
 */
void ehframe_hdr_row(const struct ehframe_section *hdr, const struct ehframe_hdr *h, size_t i,
		     uint64_t *pc_begin, uint64_t *fde);

/*
 * Read one pointer encoded as `encoding` (DW_EH_PE_…) at *at, an offset into the section,
 * and step over it. For DW_CFA_set_loc and for readers of other parts of the section.
 * False: damaged, or indirect, aligned, or relative to what the section does not say.
 */
bool ehframe_pointer(const struct ehframe_section *s, unsigned char encoding, unsigned addr_size,
		     size_t *at, uint64_t *ret);

#endif
