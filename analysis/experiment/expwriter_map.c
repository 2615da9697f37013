/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/experiment/expwriter_impl.h"

#include <inttypes.h>
#include <string.h>

#include "analysis/base/alloc.h"
#include "analysis/experiment/xml.h"

/* Readers store `size` in an int. */
#define SEGMENT_MAX ((uint64_t)1 << 30)

enum { NAME_MAX_BYTES = 255, MODES_RX = 5, SEGMENTS_HELD = 64 };

/* The records of dyntext: type and size, then data. */
enum { DYN_HEADER = 1, DYN_CODE = 2, DYN_LINES = 3, DYN_SOURCE = 4, DYN_HEAD = 8, DYN_ALIGN = 16 };

static void put_segment(const struct expwriter *w, struct buf *b, const struct exp_segment *s)
{
	buf_puts(b, "<event kind=\"map\" object=\"segment\"");
	put_stamp(w, b, "tstamp", s->time_ns);
	buf_printf(b, " vaddr=\"0x%" PRIX64 "\" size=\"%" PRIu64 "\" foffset=\"+0x%" PRIX64 "\"",
		   s->vaddr, s->size, s->foffset);
	buf_printf(b, " modes=\"0x%x\"", s->modes);
	xml_attr(b, "name", s->name);
	buf_puts(b, "/>\n");
}

/* Write a segment; one larger than SEGMENT_MAX is split. */
static void write_segment(struct expwriter *w, const struct exp_segment *s)
{
	struct exp_segment part = *s;
	uint64_t left = s->size;

	for (; left > SEGMENT_MAX; left -= SEGMENT_MAX) {
		part.size = SEGMENT_MAX;
		put_segment(w, out_buf(w, OUT_MAP), &part);
		part.vaddr += SEGMENT_MAX;
		part.foffset += SEGMENT_MAX;
	}
	part.size = left;
	put_segment(w, out_buf(w, OUT_MAP), &part);
	if (s->written)
		*s->written = true;
}

/* Write a segment that is held back. */
static void release(struct expwriter *w, struct held_segment *h)
{
	if (h->written)
		return;
	h->written = true;
	write_segment(w, &h->s);
}

/* Write all segments that overlap [start, start + size). False: there are none. */
static bool release_range(struct expwriter *w, uint64_t start, uint64_t size)
{
	bool any = false;

	vec_for_each(h, &w->segments) {
		if (start - h->s.vaddr < h->s.size || h->s.vaddr - start < size) {
			release(w, h);
			any = true;
		}
	}
	return any;
}

void release_segments(struct expwriter *w, const uint64_t *pcs, size_t npcs)
{
	for (size_t i = 0; i < npcs; i++) {
		if (!release_range(w, pcs[i], 1) && pcs[i] < ER_PC_UNWIND_FAILED)
			w->strays = true;
	}
}

/*
 * Most libraries of a short-lived process never appear in a stack, so a segment is held
 * back until a stack has a pc in it. Two kinds are written at once: a segment where
 * another was mapped before, and every segment after a stack had a pc in no segment,
 * because that stack may recur and its pc may then lie in the new segment.
 */
void expwriter_segment(struct expwriter *w, const struct exp_segment *s)
{
	struct held_segment h = { .s = *s };
	bool known = release_range(w, s->vaddr, s->size);

	h.written = known || w->strays || w->segments.len >= SEGMENTS_HELD;
	if (h.written)
		write_segment(w, s);
	if (w->segments.len >= SEGMENTS_HELD)
		return;
	h.s.name = xstrdup(s->name);
	vec_push(&w->segments, h);
}

void expwriter_unmap(struct expwriter *w, uint64_t time_ns, uint64_t vaddr)
{
	struct buf *b = out_buf(w, OUT_MAP);

	release_range(w, vaddr, 1);
	buf_puts(b, "<event kind=\"unmap\"");
	put_stamp(w, b, "tstamp", time_ns);
	buf_printf(b, " vaddr=\"0x%" PRIX64 "\"/>\n", vaddr);
}

static void put_function(const struct expwriter *w, struct buf *b, const struct exp_code *c)
{
	buf_puts(b, "<event kind=\"map\" object=\"function\"");
	put_stamp(w, b, "tstamp", c->time_ns);
	buf_printf(b, " vaddr=\"0x%" PRIX64 "\" size=\"%" PRIu64 "\"", c->vaddr, c->size);
	xml_attr(b, "name", c->name);
	if (c->alias)
		xml_attr(b, "alias", c->alias);
	if (c->language)
		xml_attr(b, "language", c->language);
	buf_puts(b, "/>\n");
}

void expwriter_function(struct expwriter *w, uint64_t time_ns, uint64_t vaddr, uint64_t size,
			const char *name)
{
	const struct exp_code c = { .time_ns = time_ns, .vaddr = vaddr, .size = size, .name = name };

	put_function(w, out_buf(w, OUT_MAP), &c);
}

/* Append a record of dyntext with room for n bytes of data, which are returned. */
static unsigned char *put_dyntext(struct buf *b, uint32_t type, size_t n)
{
	unsigned char *p = buf_zero(b, DYN_HEAD + n);

	put32(p, type);
	put32(p + 4, DYN_HEAD + n);
	return p + DYN_HEAD;
}

static uint64_t since_start(const struct expwriter *w, uint64_t time_ns)
{
	return time_ns > w->start_ns ? time_ns - w->start_ns : 0;
}

/* What follows in the file belongs to this function. */
static struct buf *begin_dyntext(struct expwriter *w, uint64_t time_ns, uint64_t vaddr)
{
	struct buf *b = out_find(w, OUT_TEXTS, "dyntext");
	unsigned char *p = put_dyntext(b, DYN_HEADER, 16);

	put64(p, since_start(w, time_ns));
	put64(p + 8, vaddr);
	return b;
}

static size_t dyntext_padded(size_t n)
{
	return (n + DYN_ALIGN - 1) / DYN_ALIGN * DYN_ALIGN;
}

static void put_lines(struct buf *b, const struct exp_code *c)
{
	unsigned char *p = put_dyntext(b, DYN_LINES, c->nlines * 8);
	size_t path = strlen(c->source) + 1;

	for (size_t i = 0; i < c->nlines; i++) {
		put32(p + 8 * i, c->lines[i].offset);
		put32(p + 8 * i + 4, c->lines[i].line);
	}
	memcpy(put_dyntext(b, DYN_SOURCE, dyntext_padded(path)), c->source, path);
}

void expwriter_dynamic(struct expwriter *w, const struct exp_code *c)
{
	struct buf *b = c->source || c->ncode ? begin_dyntext(w, c->time_ns, c->vaddr) : NULL;

	if (c->source)
		put_lines(b, c);
	if (c->ncode)
		memcpy(put_dyntext(b, DYN_CODE, dyntext_padded(c->ncode)), c->code, c->ncode);
	put_function(w, out_buf(w, OUT_MAP), c);
}

/* Records of dynscopes: type, size, two words, data. */
enum { SCOPES_METHOD = 1, SCOPES_CODE = 2, SCOPES_HEAD = 24, SCOPES_ALIGN = 8 };

static void put_scopes(struct expwriter *w, uint32_t type, uint64_t first, uint64_t second, const void *data,
		       size_t n)
{
	size_t size = SCOPES_HEAD + (n + SCOPES_ALIGN - 1) / SCOPES_ALIGN * SCOPES_ALIGN;
	unsigned char *p = buf_zero(out_find(w, OUT_TEXTS, "dynscopes"), size);

	put32(p, type);
	put32(p + 4, size);
	put64(p + 8, first);
	put64(p + 16, second);
	memcpy(p + SCOPES_HEAD, data, n);
}

void expwriter_method(struct expwriter *w, uint64_t id, const void *data, size_t n)
{
	put_scopes(w, SCOPES_METHOD, id, 0, data, n);
}

void expwriter_scopes(struct expwriter *w, uint64_t time_ns, uint64_t vaddr, const void *data, size_t n)
{
	put_scopes(w, SCOPES_CODE, since_start(w, time_ns), vaddr, data, n);
}

/*
 * gprofng ignores symbols with these prefixes, as they once named data. Some are
 * functions today: event_sched_in takes CPU time. A middle dot in front prevents that.
 */
static bool is_skipped_prefix(const char *name)
{
	static const char *const prefixes[] = {
		"__crc_", "__ksymtab_", "__kcrctab_", "__kstrtab_", "__param_", "__syscall_meta__",
		"__p_syscall_meta__", "__event_", "event_", "ftrace_event_", "types__", "args__",
		"__tracepoint_", "__tpstrtab_", "__initcall_", "__setup_", "__pci_fixup_", "__dta_",
		"__dtrace_probe_",
	};

	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
		if (!strncmp(name, prefixes[i], strlen(prefixes[i])))
			return true;
	}
	return false;
}

/* Append a name as kallmodsyms allows it: no blanks, no dots, at most 255 bytes. */
static void put_ksym_name(struct buf *b, const char *name)
{
	static const char middle_dot[] = "\xc2\xb7";
	size_t end = b->len + NAME_MAX_BYTES - strlen(middle_dot);

	if (is_skipped_prefix(name))
		buf_puts(b, middle_dot);
	for (; *name && b->len < end; name++) {
		if (*name == '.')
			buf_puts(b, middle_dot);
		else if ((unsigned char)*name <= ' ' || *name == 0x7f)
			buf_puts(b, "_");
		else
			buf_add(b, name, 1);
	}
}

/* Readers find kernel functions by kallmodsyms, so the address here does not matter. */
void put_kernel(const struct expwriter *w, struct buf *b)
{
	put_segment(w, b, &(struct exp_segment){ .time_ns = w->start_ns, .size = 4096,
						 .modes = MODES_RX, .name = "LinuxKernel" });
}

bool expwriter_ksym(struct expwriter *w, uint64_t addr, uint64_t size, const char *name,
		    const char *module)
{
	struct buf *b = out_buf(w, OUT_KSYMS);
	bool fresh;

	map_put(&w->ksyms, addr, &fresh);
	if (!fresh)
		return false;
	if (!w->has_kernel)
		put_kernel(w, out_buf(w, OUT_MAP));
	w->has_kernel = true;
	buf_printf(b, "%016" PRIx64 " %" PRIx64 " t ", addr, size);
	put_ksym_name(b, name);
	if (module && strcmp(module, "vmlinux")) {
		buf_puts(b, " [");
		put_ksym_name(b, module);
		buf_puts(b, "]");
	}
	buf_puts(b, "\n");
	return true;
}
