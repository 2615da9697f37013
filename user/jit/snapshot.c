/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "user/jit/snapshot.h"

#include <string.h>

#include "analysis/base/alloc.h"
#include "analysis/base/map.h"
#include "user/jit/batch.h"

_Static_assert(SNAPSHOT_UNITS + MEMORY_UNITS_MAX <= SNAPSHOT_SLOTS / 2, "the hash table has free slots");

/* Of a unit, or of a wanted one behind them. */
static uint64_t address_in(const struct snapshot *s, uint32_t slot)
{
	return slot <= s->n ? s->units[slot - 1].address : s->wanted[slot - 1 - s->n];
}

/* The slot of the unit, or a free one. */
static uint32_t *slot_of(struct snapshot *s, uint64_t unit)
{
	size_t at = hash64(unit) % SNAPSHOT_SLOTS;

	while (s->slots[at] && address_in(s, s->slots[at]) != unit)
		at = (at + 1) % SNAPSHOT_SLOTS;
	return &s->slots[at];
}

struct snapshot *snapshot_new(const struct memory_unit *units, size_t n)
{
	struct snapshot *s;

	if (n > SNAPSHOT_UNITS)
		return NULL;
	s = xcalloc(1, sizeof(*s));
	s->units = units;
	s->n = n;
	for (size_t i = 0; i < n; i++)
		*slot_of(s, units[i].address) = i + 1;
	return s;
}

/* NULL: it was not copied, or cannot be read. */
static const uint8_t *unit_at(struct snapshot *s, uint64_t unit)
{
	uint32_t *slot = slot_of(s, unit);

	if (*slot && *slot <= s->n)
		return s->units[*slot - 1].state == MEMORY_READ ? s->units[*slot - 1].bytes : NULL;
	s->lacking = true;
	if (!*slot && s->nwanted < MEMORY_UNITS_MAX) {
		s->wanted[s->nwanted++] = unit;
		*slot = s->n + s->nwanted;
	}
	return NULL;
}

static bool is_address(uint64_t address, size_t n)
{
	return address && address < JIT_ADDRESS_END && n < JIT_ADDRESS_END - address;
}

bool snapshot_read(struct snapshot *s, uint64_t address, void *to, size_t n)
{
	bool whole = is_address(address, n);
	size_t part;

	for (size_t done = 0; is_address(address, n) && done < n; done += part) {
		size_t in = (address + done) % MEMORY_UNIT;
		const uint8_t *bytes = unit_at(s, address + done - in);

		part = n - done < MEMORY_UNIT - in ? n - done : MEMORY_UNIT - in;
		if (bytes)
			memcpy((char *)to + done, bytes + in, part);
		whole &= !!bytes;
	}
	return whole;
}

bool snapshot_number(struct snapshot *s, uint64_t address, size_t width, uint64_t *ret)
{
	*ret = 0;
	return snapshot_read(s, address, ret, width);
}

bool snapshot_word(struct snapshot *s, uint64_t address, uint64_t *ret)
{
	return snapshot_number(s, address, sizeof(*ret), ret);
}

bool snapshot_text(struct snapshot *s, uint64_t address, char *to, size_t room)
{
	size_t part;

	for (size_t done = 0; done < room; done += part) {
		size_t left = MEMORY_UNIT - (address + done) % MEMORY_UNIT;

		part = room - done < left ? room - done : left;
		if (!snapshot_read(s, address + done, to + done, part))
			return false;
		if (memchr(to + done, 0, part))
			return true;
	}
	to[room - 1] = 0;
	return true;
}

void snapshot_expect(struct snapshot *s, uint64_t address, size_t n)
{
	bool lacking = s->lacking;

	for (uint64_t unit = address - address % MEMORY_UNIT; unit < address + n && is_address(unit, 1);
	     unit += MEMORY_UNIT)
		unit_at(s, unit);
	s->lacking = lacking;
}
