/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Keeps files of writers open. Opening a file costs ten times as much as appending to
 * it, and a few hundred processes are flushed several times a second, so recently
 * written files stay open. There may be thousands of writers; they share one table of
 * slots. When all slots are used, the clock algorithm picks the one to reuse: one whose
 * file was not written since the hand last passed it.
 *
 * A file refers to its slot by index and ticket. If the slot now has another ticket, it
 * was given to another file.
 */
#include "analysis/experiment/expwriter_impl.h"

#include <sys/resource.h>
#include <unistd.h>

#include "analysis/base/alloc.h"

enum { MAX_SLOTS = 1024, SHARE = 4 /* use 1/4 of our descriptors: the rest has other uses */ };

struct slot {
	uint64_t ticket; /* 0: free */
	int fd;
	struct tail tail;
	bool recent;
};

static struct {
	VEC(struct slot) slots;
	size_t max, nused, hand;
	uint64_t tickets;
} open_files;

static size_t max_slots(void)
{
	struct rlimit l;

	if (getrlimit(RLIMIT_NOFILE, &l) < 0 || l.rlim_cur / SHARE > MAX_SLOTS)
		return MAX_SLOTS;
	return l.rlim_cur > SHARE ? l.rlim_cur / SHARE : 1;
}

static struct slot *slot_of(const struct out *o)
{
	struct slot *p;

	if (!o->ticket || o->slot >= open_files.slots.len)
		return NULL;
	p = &open_files.slots.data[o->slot];
	return p->ticket == o->ticket ? p : NULL;
}

int out_fd(const struct out *o, struct tail **tail)
{
	struct slot *p = slot_of(o);

	if (!p)
		return -1;
	p->recent = true;
	*tail = &p->tail;
	return p->fd;
}

/* If this fails the preallocated zeros stay, as after a SIGKILL. */
static int close_file(struct slot *p)
{
	int err = tail_close(&p->tail, p->fd);

	close(p->fd);
	return err;
}

static int vacate(struct slot *p)
{
	int err = close_file(p);

	p->ticket = 0;
	/* The last one frees the table, so that nothing is leaked. */
	if (!--open_files.nused) {
		vec_free(&open_files.slots);
		open_files.hand = 0;
	}
	return err;
}

/* A free slot, or one that was not used since the hand last passed. */
static size_t find_slot(void)
{
	for (;;) {
		size_t i = open_files.hand;
		struct slot *p = &open_files.slots.data[i];

		open_files.hand = (i + 1) % open_files.slots.len;
		if (!p->ticket || !p->recent)
			return i;
		p->recent = false;
	}
}

void out_keep_open(struct out *o, int fd)
{
	struct slot *p;

	if (!open_files.nused)
		open_files.max = max_slots();
	if (open_files.nused == open_files.slots.len && open_files.nused < open_files.max) {
		o->slot = open_files.slots.len;
		vec_push(&open_files.slots, (struct slot){ 0 });
	} else {
		o->slot = find_slot();
	}
	p = &open_files.slots.data[o->slot];
	if (p->ticket)
		close_file(p);
	else
		open_files.nused++;
	o->ticket = ++open_files.tickets;
	*p = (struct slot){ .ticket = o->ticket, .fd = fd, .recent = true };
}

void expwriter_close_idle(void)
{
	/* The table is freed with its last slot. */
	for (size_t i = 0; i < open_files.slots.len; i++) {
		struct slot *p = &open_files.slots.data[i];

		if (p->ticket && !p->recent)
			vacate(p);
		else
			p->recent = false;
	}
}

int out_close(struct out *o)
{
	struct slot *p = slot_of(o);

	o->ticket = 0;
	return p ? vacate(p) : 0;
}
