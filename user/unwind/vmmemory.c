/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "user/unwind/vmmemory.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "analysis/base/alloc.h"
#include "analysis/base/file.h"
#include "analysis/base/map.h"
#include "analysis/base/vec.h"
#include "user/space/memory.h"
#include "user/space/opener.h"

enum {
	LIBRARY_BYTES = 64 << 20, /* has the names of blobs; the largest library we know has 24 MiB */
	GROUP = 8,                /* units that are read together: others in them follow soon */
	GROUP_BYTES = GROUP * MEMORY_UNIT,
	GROUPS_MAX = 256,         /* of a batch */
};

struct group {
	struct memory_unit units[GROUP];
};

struct vm_memory {
	pid_t pid;
	uint64_t library;
	struct er_hotspot vm;
	int fd; /* a file for one group; -1: there is none */
	struct map places; /* a group's address to its index */
	VEC(struct group *) groups;
};

struct vm_memory *vm_memory_new(pid_t pid, uint64_t library, const struct er_hotspot *vm)
{
	struct vm_memory *m = xcalloc(1, sizeof(*m));

	m->pid = pid;
	m->library = library;
	m->vm = *vm;
	m->fd = memfd_create("memory", MFD_CLOEXEC);
	return m;
}

void vm_memory_free(struct vm_memory *m)
{
	if (!m)
		return;
	closep(&m->fd);
	vec_for_each(g, &m->groups)
		free(*g);
	vec_free(&m->groups);
	map_free(&m->places);
	free(m);
}

const struct er_hotspot *vm_memory_vm(const struct vm_memory *m)
{
	return &m->vm;
}

/* A heap, or its map, which has a byte for each segment. */
static bool heap_has(const struct er_hotspot_heap *h, uint64_t at)
{
	return at - h->low < h->high - h->low || at - h->map < (h->high - h->low) >> (h->log2 & 31);
}

bool vm_memory_has(const struct vm_memory *m, uint64_t at)
{
	for (int i = 0; i < ER_HOTSPOT_HEAPS; i++)
		if (heap_has(&m->vm.heaps[i], at))
			return true;
	return at - m->library < LIBRARY_BYTES;
}

/* Units that cannot be read stay what they are: MEMORY_WANTED. */
static void fetch(struct vm_memory *m, struct group *g, uint64_t address)
{
	uint64_t wanted[GROUP];
	struct group got;

	for (size_t i = 0; i < GROUP; i++)
		wanted[i] = address + i * MEMORY_UNIT;
	if (m->fd < 0 || memory_want(m->fd, 0, wanted, GROUP) || opener_memory(m->pid, m->fd, 0, GROUP) ||
	    pread(m->fd, &got, sizeof(got), 0) != (ssize_t)sizeof(got))
		return;
	*g = got;
}

/* NULL: it cannot be read. */
static const uint8_t *unit_at(struct vm_memory *m, uint64_t address)
{
	uint64_t first = address - address % GROUP_BYTES, *place;
	const struct memory_unit *u;
	bool fresh;

	if (m->groups.len >= GROUPS_MAX && !map_get(&m->places, first))
		return NULL;
	place = map_put(&m->places, first, &fresh);
	if (fresh) {
		*place = m->groups.len;
		vec_push(&m->groups, xcalloc(1, sizeof(struct group)));
		fetch(m, m->groups.data[*place], first);
	}
	u = &m->groups.data[*place]->units[(address - first) / MEMORY_UNIT];
	return u->state == MEMORY_READ ? u->bytes : NULL;
}

bool vm_memory_read(struct vm_memory *m, uint64_t at, uint64_t *value)
{
	uint8_t bytes[sizeof(*value)];

	for (size_t i = 0, part; i < sizeof(bytes); i += part) {
		size_t in = (at + i) % MEMORY_UNIT, left = MEMORY_UNIT - in;
		const uint8_t *unit = unit_at(m, at + i - in);

		part = sizeof(bytes) - i < left ? sizeof(bytes) - i : left;
		if (!unit)
			return false;
		memcpy(bytes + i, unit + in, part);
	}
	memcpy(value, bytes, sizeof(bytes));
	return true;
}
