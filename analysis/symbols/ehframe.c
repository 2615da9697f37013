/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An entry is length, id, content. An FDE's id locates its CIE. FDEs of one CIE are
 * mostly adjacent, so the last CIE is kept, and another one is read again when it is
 * needed. Reading a CIE takes bounded time, so the whole stays linear.
 */
#include "analysis/symbols/ehframe.h"

#include <dwarf.h>
#include <string.h>

#include "analysis/base/cursor.h"

enum {
	AUGMENTATION_MAX = 16,
	LENGTH_64 = 0xffffffff, /* escape: the length is in the next 8 bytes */
	HDR_VERSION = 1,
	HDR_ROW = 8,
	FORMAT = 0x0f,
	RELATIVE_TO = 0x70,
};

/* The content of an entry after its id. */
struct entry {
	struct cursor c;
	size_t offset, id_offset, next;
	uint64_t id;
	bool is_cie;
};

static struct cursor section_cursor(const struct ehframe_section *s, size_t from, size_t to)
{
	return (struct cursor){ .p = s->data + from, .end = s->data + to, .swap = s->swap };
}

static size_t offset_of(const struct ehframe_section *s, const struct cursor *c)
{
	return c->p - s->data;
}

/* --- pointers --- */

static uint64_t absolute(struct cursor *c, unsigned addr_size)
{
	return addr_size == 8 ? cursor_u64(c) : cursor_u32(c);
}

/* Read a number in one of the formats. False: unknown format or no more data. */
static bool read_number(struct cursor *c, unsigned format, unsigned addr_size, uint64_t *ret)
{
	switch (format) {
	case DW_EH_PE_absptr:
	case DW_EH_PE_signed:
		*ret = absolute(c, addr_size);
		break;
	case DW_EH_PE_uleb128:
		*ret = cursor_uleb(c);
		break;
	case DW_EH_PE_udata2:
		*ret = cursor_u16(c);
		break;
	case DW_EH_PE_udata4:
		*ret = cursor_u32(c);
		break;
	case DW_EH_PE_udata8:
	case DW_EH_PE_sdata8:
		*ret = cursor_u64(c);
		break;
	case DW_EH_PE_sleb128:
		*ret = cursor_sleb(c);
		break;
	case DW_EH_PE_sdata2:
		*ret = (int16_t)cursor_u16(c);
		break;
	case DW_EH_PE_sdata4:
		*ret = (int32_t)cursor_u32(c);
		break;
	default:
		return false;
	}
	return !c->bad;
}

/* The base of a pointer at this offset. False: unknown. */
static bool read_base(const struct ehframe_section *s, unsigned char encoding, size_t at,
		      uint64_t *ret)
{
	switch (encoding & (RELATIVE_TO | DW_EH_PE_indirect)) {
	case DW_EH_PE_absptr:
		*ret = 0;
		return true;
	case DW_EH_PE_pcrel:
		*ret = s->addr + at;
		return true;
	case DW_EH_PE_datarel:
		*ret = s->data_base;
		return s->data_base;
	default:
		return false;
	}
}

static uint64_t cut_to(uint64_t addr, unsigned addr_size)
{
	return addr_size == 8 ? addr : (uint32_t)addr;
}

/* A relative pointer that reads as 0 is null, not its base. */
static bool read_pointer(const struct ehframe_section *s, struct cursor *c, unsigned char encoding,
			 unsigned addr_size, uint64_t *ret)
{
	uint64_t base, number;

	if (!read_base(s, encoding, offset_of(s, c), &base) ||
	    !read_number(c, encoding & FORMAT, addr_size, &number))
		return false;
	*ret = number ? cut_to(base + number, addr_size) : 0;
	return true;
}

bool ehframe_pointer(const struct ehframe_section *s, unsigned char encoding, unsigned addr_size,
		     size_t *at, uint64_t *ret)
{
	struct cursor c;

	if (*at > s->size)
		return false;
	c = section_cursor(s, *at, s->size);
	if (!read_pointer(s, &c, encoding, addr_size, ret))
		return false;
	*at = offset_of(s, &c);
	return true;
}

/* --- entries --- */

/*
 * Read the head of an entry. False: the section ends before or inside it. An entry of
 * length 0 is an end mark for readers that do not know the section's size; other
 * entries may follow it.
 */
static bool read_entry(const struct ehframe_section *s, size_t offset, struct entry *ret)
{
	struct cursor c = section_cursor(s, offset, s->size);
	uint64_t length = cursor_u32(&c);
	bool wide = length == LENGTH_64;
	size_t content;

	if (wide)
		length = cursor_u64(&c);
	content = offset_of(s, &c);
	if (c.bad || length > s->size - content)
		return false;
	*ret = (struct entry){ .offset = offset, .id_offset = content, .next = content + length };
	ret->c = section_cursor(s, content, ret->next);
	/* In .eh_frame ids always have 4 bytes. */
	wide &= s->debug_frame;
	ret->id = wide ? cursor_u64(&ret->c) : cursor_u32(&ret->c);
	ret->is_cie = ret->id == (!s->debug_frame ? 0 : wide ? UINT64_MAX : UINT32_MAX);
	return true;
}

/* --- CIEs --- */

/* Read the data of augmentation letters. False: unknown letter. */
static bool read_augmentation(const struct ehframe_section *s, struct ehframe_cie *cie,
			      const char *letters, struct cursor *c)
{
	uint64_t number;
	unsigned char encoding;

	for (; *letters && !c->bad; letters++) {
		switch (*letters) {
		case 'R':
			cie->pointer = cursor_u8(c);
			break;
		case 'L':
			cie->lsda = cursor_u8(c);
			break;
		case 'P':
			cie->personality = true;
			encoding = cursor_u8(c);
			/* Aligned pointers have padding before them. */
			if ((encoding & RELATIVE_TO) == DW_EH_PE_aligned ||
			    !read_number(c, encoding & FORMAT, s->addr_size, &number))
				return false;
			break;
		case 'S':
			cie->signal_frame = true;
			break;
		case 'B':
			cie->b_key = true;
			break;
		case 'G':
			cie->mte = true;
			break;
		default:
			return false;
		}
	}
	return !c->bad;
}

/* Read the sizes that version 4 has. False: unsupported, such as segment selectors. */
static bool read_sizes(struct ehframe_cie *cie, unsigned version, struct cursor *c)
{
	if (version < 4)
		return true;
	cie->addr_size = cursor_u8(c);
	return !cursor_u8(c) && (cie->addr_size == 4 || cie->addr_size == 8);
}

static bool read_cie(const struct ehframe_section *s, struct entry *e, struct ehframe_cie *cie)
{
	struct cursor *c = &e->c, data;
	unsigned version = cursor_u8(c);
	char letters[AUGMENTATION_MAX + 1];
	size_t n = 0, size;

	*cie = (struct ehframe_cie){ .offset = e->offset,
				     .addr_size = s->addr_size,
				     .lsda = DW_EH_PE_omit };
	while ((letters[n] = cursor_u8(c)) && n < AUGMENTATION_MAX)
		n++;
	if (letters[n] || (version != 1 && version != 3 && version != 4))
		return false;
	cie->sized = letters[0] == 'z';
	if (!read_sizes(cie, version, c) || (*letters && !cie->sized))
		return false;
	cie->code_align = cursor_uleb(c);
	cie->data_align = cursor_sleb(c);
	cie->return_reg = version == 1 ? cursor_u8(c) : cursor_uleb(c);
	if (cie->sized) {
		size = cursor_uleb(c);
		data = *c;
		if (!cursor_bytes(c, size))
			return false;
		data.end = c->p;
		if (!read_augmentation(s, cie, letters + 1, &data))
			return false;
	}
	cie->instructions = (struct ehframe_bytes){ c->p, cursor_left(c) };
	return !c->bad;
}

/* The offset of an FDE's CIE. False: outside the section. */
static bool cie_offset(const struct ehframe_section *s, const struct entry *fde, size_t *ret)
{
	*ret = s->debug_frame ? fde->id : fde->id_offset - fde->id;
	return *ret < s->size;
}

/* Set e->cie to the FDE's CIE. */
static bool find_cie(struct ehframe *e, const struct entry *fde)
{
	struct entry at;
	size_t offset;

	if (!cie_offset(e->section, fde, &offset))
		return false;
	if (e->has_cie && e->cie.offset == offset)
		return true;
	e->has_cie = read_entry(e->section, offset, &at) && at.is_cie &&
		     read_cie(e->section, &at, &e->cie);
	return e->has_cie;
}

/* --- FDEs --- */

/* False: damaged. An empty FDE has pc_begin == pc_end. */
static bool read_fde(struct ehframe *e, struct entry *entry, struct ehframe_fde *fde)
{
	const struct ehframe_cie *cie = &e->cie;
	struct cursor *c = &entry->c;
	uint64_t size;

	if (!find_cie(e, entry) ||
	    !read_pointer(e->section, c, cie->pointer, cie->addr_size, &fde->pc_begin) ||
	    !read_number(c, cie->pointer & FORMAT, cie->addr_size, &size))
		return false;
	/* Linkers set discarded code to address 0. */
	if (!fde->pc_begin)
		size = 0;
	fde->pc_end = fde->pc_begin + size;
	if (fde->pc_end < fde->pc_begin || cut_to(fde->pc_end, cie->addr_size) != fde->pc_end)
		return false;
	if (cie->sized)
		cursor_bytes(c, cursor_uleb(c));
	fde->cie = cie;
	fde->offset = entry->offset;
	fde->instructions = (struct ehframe_bytes){ c->p, cursor_left(c) };
	return !c->bad;
}

void ehframe_begin(struct ehframe *e, const struct ehframe_section *s)
{
	*e = (struct ehframe){ .section = s };
}

bool ehframe_next(struct ehframe *e, struct ehframe_fde *ret)
{
	struct entry entry;

	while (e->next < e->section->size) {
		if (!read_entry(e->section, e->next, &entry)) {
			e->cut = true;
			e->next = e->section->size;
			return false;
		}
		e->next = entry.next;
		if (entry.next == entry.id_offset)
			continue; /* length 0 */
		if (!entry.c.bad && entry.is_cie)
			continue;
		if (entry.c.bad || !read_fde(e, &entry, ret))
			e->nbad++;
		else if (ret->pc_begin < ret->pc_end)
			return true;
	}
	return false;
}

bool ehframe_at(struct ehframe *e, size_t offset, struct ehframe_fde *ret)
{
	struct entry entry;

	return offset < e->section->size && read_entry(e->section, offset, &entry) &&
	       !entry.c.bad && !entry.is_cie && read_fde(e, &entry, ret) &&
	       ret->pc_begin < ret->pc_end;
}

/* --- .eh_frame_hdr --- */

bool ehframe_hdr_read(const struct ehframe_section *hdr, struct ehframe_hdr *ret)
{
	struct cursor c = section_cursor(hdr, 0, hdr->size);
	unsigned char version = cursor_u8(&c), frame = cursor_u8(&c), count = cursor_u8(&c);
	unsigned char table = cursor_u8(&c);
	uint64_t n = 0;

	*ret = (struct ehframe_hdr){ 0 };
	if (c.bad || version != HDR_VERSION ||
	    !read_pointer(hdr, &c, frame, hdr->addr_size, &ret->eh_frame) || !ret->eh_frame)
		return false;
	if (count == DW_EH_PE_omit || table != (DW_EH_PE_datarel | DW_EH_PE_sdata4))
		return true;
	if (!read_pointer(hdr, &c, count, hdr->addr_size, &n))
		return false;
	ret->table = offset_of(hdr, &c);
	ret->nfdes = n < cursor_left(&c) / HDR_ROW ? n : cursor_left(&c) / HDR_ROW;
	return true;
}

void ehframe_hdr_row(const struct ehframe_section *hdr, const struct ehframe_hdr *h, size_t i,
		     uint64_t *pc_begin, uint64_t *fde)
{
	struct cursor c = section_cursor(hdr, h->table + i * HDR_ROW, hdr->size);

	*pc_begin = cut_to(hdr->addr + (int32_t)cursor_u32(&c), hdr->addr_size);
	*fde = cut_to(hdr->addr + (int32_t)cursor_u32(&c), hdr->addr_size);
}
