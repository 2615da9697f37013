/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The files that writers have open. To open a file costs ten times what it costs
 * to append to it, and a few hundred processes are flushed several times a second:
 * what was written to lately stays open. All writers share the slots, because
 * there may be thousands of them; whoever wants one takes it from the file that
 * was not written to since the hand came by (the clock algorithm).
 *
 * A file holds the ticket of its slot, not a pointer, and the slot the ticket of
 * its file: when they differ, the slot is another file's by now.
 */
#include "analysis/experiment/expwriter_impl.h"

#include <sys/resource.h>
#include <unistd.h>

#include "analysis/base/alloc.h"

enum { MAX_SLOTS = 1024, SHARE = 4 /* of the descriptors we may have: the others have uses, too */ };

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

/* Failing, it leaves zeros, as if we had been killed. */
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
	/* With the last one the list goes, too: nothing is left behind. */
	if (!--open_files.nused) {
		vec_free(&open_files.slots);
		open_files.hand = 0;
	}
	return err;
}

/* A slot that is free, or was not used for a round. */
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

int out_close(struct out *o)
{
	struct slot *p = slot_of(o);

	o->ticket = 0;
	return p ? vacate(p) : 0;
}
