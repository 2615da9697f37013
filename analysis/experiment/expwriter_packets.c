/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/experiment/expwriter_impl.h"

#include <string.h>

/* The size field of a packet (tsize) has 16 bits. */
enum { PACKET_MAX = 65528 };

static void put_value(unsigned char *packet, const struct field_desc *f, int64_t value)
{
	if (!f->offset)
		return; /* packets of this kind lack it */
	if (er_type_size(f->type) == 4)
		put32(packet + f->offset, value);
	else
		put64(packet + f->offset, value);
}

static unsigned char *new_packet(struct expwriter *w, const struct packet_desc *d, size_t size)
{
	unsigned char *p;

	if (!w->has_stacks)
		put_no_stack(w);
	/* gprofng accepts clock packets in any file, other kinds only in their own. */
	p = buf_zero(w->founder && is_clock_kind(d->kind) ? out_buf(w, OUT_FRAMES) :
							     out_find(w, OUT_PACKETS, d->fname), size);
	put16(p, size);
	put16(p + 2, d->kind);
	return p;
}

void expwriter_packet(struct expwriter *w, enum er_packet kind, const int64_t *values,
		      const char *string)
{
	const struct packet_desc *d = packet_desc(kind);
	size_t len = string ? strnlen(string, PACKET_MAX - d->size - 1) : 0;
	size_t size = string ? (d->size + len + 1 + 7) & ~(size_t)7 : d->size;
	unsigned char *p = new_packet(w, d, size);

	for (size_t i = 0; i < d->nfields; i++) {
		if (d->fields[i].type == ER_STRING)
			memcpy(p + d->fields[i].offset, string ? string : "", len);
		else
			put_value(p, &d->fields[i], values[i]);
	}
}

/* The shortest kind with room for all that is known. */
static enum er_packet kind_of(const struct clock_packet *p, const struct wait_info *i)
{
	bool woken = i->waker || i->waker_pid || i->waker_stack, held = i->holder || i->holder_pid;
	bool main = p->lwp == p->thread && i->waker == i->waker_pid && i->holder == i->holder_pid;

	if (p->goroutine)
		return ER_PKT_GO_WAIT;
	if (i->object)
		return ER_PKT_WAIT;
	return (main ? ER_PKT_MAIN_WAIT : ER_PKT_THREAD_WAIT) + PACKED_WOKEN * woken + PACKED_HELD * held;
}

static enum er_packet kind_on_cpu(const struct clock_packet *p)
{
	if (p->goroutine)
		return p->state == MS_USER ? ER_PKT_GO_USER : ER_PKT_GO;
	if (p->lwp == p->thread)
		return p->state == MS_USER ? ER_PKT_USER : ER_PKT_MAIN;
	return p->state == MS_USER ? ER_PKT_THREAD_USER : ER_PKT_CLOCK;
}

static void put_clock(struct expwriter *w, const struct clock_packet *p, uint32_t nticks)
{
	static const struct wait_info none = { .syscall = -1 };
	const struct wait_info *i = p->wait ? p->wait : &none;
	const int64_t values[] = {
		p->lwp, p->thread, p->cpu, p->time_ns, p->stack, p->state, nticks, p->seq,
		i->reason, i->syscall + 1, i->flags, i->length_ns, i->waker, i->waker_pid,
		i->waker_stack, i->holder, i->holder_pid, i->object, p->goroutine,
	};

	expwriter_packet(w, w->has_waits && p->wait ? kind_of(p, i) : kind_on_cpu(p), values, NULL);
}

void expwriter_clock(struct expwriter *w, const struct clock_packet *p)
{
	uint32_t left = p->nticks;

	/* NTICK is a signed field. */
	do {
		uint32_t n = left > INT32_MAX ? INT32_MAX : left;

		put_clock(w, p, n);
		left -= n;
	} while (left);
}
