/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/symbols/framestarts.h"

#include <string.h>

#include "analysis/base/buf.h"
#include "analysis/base/cursor.h"
#include "analysis/symbols/ehframe.h"

enum { FRAMES_SIZE_MAX = 256 * 1024 * 1024 }; /* the largest one seen has 20 MB */

static bool section_of_data(Elf *elf, Elf_Data *d, uint64_t addr, struct ehframe_section *ret)
{
	if (!d || !d->d_buf)
		return false;
	*ret = (struct ehframe_section){
		.data = d->d_buf,
		.size = d->d_size,
		.addr = addr,
		.swap = elf_getident(elf, NULL)[EI_DATA] !=
			(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB),
		.addr_size = gelf_getclass(elf) == ELFCLASS64 ? 8 : 4,
	};
	return true;
}

/* Get the section's content. False: it has none. */
static bool find_section(Elf *elf, const char *name, struct ehframe_section *ret)
{
	Elf_Scn *scn = elf_section(elf, name);
	GElf_Shdr sh;

	return scn && gelf_getshdr(scn, &sh) && !(sh.sh_flags & SHF_COMPRESSED) &&
	       sh.sh_size <= FRAMES_SIZE_MAX &&
	       section_of_data(elf, elf_rawdata(scn, NULL), sh.sh_addr, ret);
}

static void add_range(const elf_regions *regions, uint64_t start, uint64_t end, elf_regions *ret)
{
	if (start < end && elf_find_region(regions, start))
		vec_push(ret, (struct elf_region){ start, end });
}

static void add_frames(const struct ehframe_section *s, const elf_regions *regions,
		       elf_regions *ret)
{
	struct ehframe_fde f;
	struct ehframe e;

	for (ehframe_begin(&e, s); ehframe_next(&e, &f);)
		add_range(regions, f.pc_begin, f.pc_end, ret);
}

/* Add the FDEs in the rows of .eh_frame_hdr, which are sorted; .eh_frame often is not. */
static void add_rows(const struct ehframe_section *header, const struct ehframe_hdr *h,
		     const struct ehframe_section *frames, const elf_regions *regions,
		     elf_regions *ret)
{
	struct ehframe_fde f;
	struct ehframe e;
	uint64_t pc, fde;

	ehframe_begin(&e, frames);
	for (size_t i = 0; i < h->nfdes; i++) {
		ehframe_hdr_row(header, h, i, &pc, &fde);
		if (ehframe_at(&e, fde - frames->addr, &f))
			add_range(regions, f.pc_begin, f.pc_end, ret);
	}
}

static void add_by_sections(Elf *elf, const elf_regions *regions, elf_regions *ret)
{
	struct ehframe_section header, frames;
	struct ehframe_hdr h;

	if (!find_section(elf, ".eh_frame", &frames))
		return;
	if (find_section(elf, ".eh_frame_hdr", &header) && ehframe_hdr_read(&header, &h) && h.nfdes)
		add_rows(&header, &h, &frames, regions, ret);
	else
		add_frames(&frames, regions, ret);
}

/* --- without section headers --- */

/* The bytes from an address to the end of its segment. */
static bool segment_from(Elf *elf, uint64_t vaddr, struct ehframe_section *ret)
{
	size_t n = 0;
	GElf_Phdr ph;

	if (elf_getphdrnum(elf, &n) < 0)
		return false;
	for (size_t i = 0; i < n; i++) {
		uint64_t skip, size;

		if (!gelf_getphdr(elf, i, &ph) || ph.p_type != PT_LOAD ||
		    vaddr - ph.p_vaddr >= ph.p_filesz)
			continue;
		skip = vaddr - ph.p_vaddr;
		size = ph.p_filesz - skip;
		return size <= FRAMES_SIZE_MAX &&
		       section_of_data(
			       elf, elf_getdata_rawchunk(elf, ph.p_offset + skip, size, ELF_T_BYTE),
			       vaddr, ret);
	}
	return false;
}

/* Find .eh_frame_hdr through its program header. */
static bool find_header(Elf *elf, struct ehframe_section *ret)
{
	size_t n = 0;
	GElf_Phdr ph;

	if (elf_getphdrnum(elf, &n) < 0)
		return false;
	for (size_t i = 0; i < n; i++) {
		if (gelf_getphdr(elf, i, &ph) && ph.p_type == PT_GNU_EH_FRAME)
			return segment_from(elf, ph.p_vaddr, ret);
	}
	return false;
}

/* The size of .eh_frame is unknown here, so use the rows of .eh_frame_hdr. */
static void add_by_segments(Elf *elf, const elf_regions *regions, elf_regions *ret)
{
	struct ehframe_section header, frames;
	struct ehframe_hdr h;

	if (find_header(elf, &header) && ehframe_hdr_read(&header, &h) &&
	    segment_from(elf, h.eh_frame, &frames))
		add_rows(&header, &h, &frames, regions, ret);
}

/* --- in symbol files --- */

static void put_uleb(struct buf *b, uint64_t v)
{
	unsigned char byte;

	do {
		byte = v & 0x7f;
		v >>= 7;
		byte |= v ? 0x80 : 0;
		buf_add(b, &byte, 1);
	} while (v);
}

/* Each range is stored as its distance from the end of the previous one, and its size. */
void framestarts_pack(const struct elf_region *ranges, size_t n, struct buf *b)
{
	uint64_t at = 0;

	for (size_t i = 0; i < n; i++) {
		put_uleb(b, ranges[i].start - at);
		put_uleb(b, ranges[i].end - ranges[i].start);
		at = ranges[i].end;
	}
}

static void add_packed(const struct ehframe_section *s, const elf_regions *regions,
		       elf_regions *ret)
{
	struct cursor c = { .p = s->data, .end = s->data + s->size };
	uint64_t at = 0;

	while (cursor_left(&c) && !c.bad) {
		uint64_t start = at + cursor_uleb(&c);

		at = start + cursor_uleb(&c);
		if (!c.bad)
			add_range(regions, start, at, ret);
	}
}

/* --- all --- */

static int range_cmp(const void *pa, const void *pb)
{
	const struct elf_region *a = pa, *b = pb;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return (a->end < b->end) - (a->end > b->end);
}

static bool is_sorted(const elf_regions *r)
{
	for (size_t i = 1; i < r->len; i++) {
		if (range_cmp(&r->data[i - 1], &r->data[i]) > 0)
			return false;
	}
	return true;
}

/*
 * Make ranges disjoint: of those with the same start keep the longest; each ends where
 * the next begins.
 */
static void make_apart(elf_regions *r)
{
	size_t n = 0;

	if (!is_sorted(r))
		vec_sort(r, range_cmp);
	for (size_t i = 0; i < r->len; i++) {
		if (n && r->data[i].start == r->data[n - 1].start)
			continue;
		if (n && r->data[i].start < r->data[n - 1].end)
			r->data[n - 1].end = r->data[i].start;
		r->data[n++] = r->data[i];
	}
	r->len = n;
}

void framestarts_read(Elf *elf, const elf_regions *regions, elf_regions *ret)
{
	struct ehframe_section s;
	size_t n = 0;

	add_by_sections(elf, regions, ret);
	if (find_section(elf, ".debug_frame", &s)) {
		s.debug_frame = true;
		add_frames(&s, regions, ret);
	}
	if (find_section(elf, FRAMESTARTS_SECTION, &s))
		add_packed(&s, regions, ret);
	if (elf_getshdrnum(elf, &n) == 0 && !n)
		add_by_segments(elf, regions, ret);
	make_apart(ret);
}
