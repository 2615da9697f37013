/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "user/unwind/pythonplaces.h"

#include <string.h>

/* --- debug offsets --- */

/*
 * _PyRuntime of 3.13 begins with these numbers of 8 bytes: a magic word, the version, whether there is
 * no GIL, and then sizes and offsets of fields in bytes.
 */
enum {
	D_MAGIC,
	D_VERSION,
	D_NO_GIL,
	D_TSTATE_FRAME = 23,
	D_TSTATE_THREAD = 24,
	D_FRAME_PREVIOUS = 29,
	D_FRAME_CODE = 30,
	D_FRAME_INSTR = 31,
	D_FRAME_OWNER = 33,
	D_CODE_FILENAME = 35,
	D_CODE_QUALNAME = 37,
	D_CODE_LINETABLE = 38,
	D_CODE_FIRST_LINE = 39,
	D_CODE_INSTRS = 43,
	D_OBJECT_TYPE = 45,
	D_BYTES_LENGTH = 65,
	D_BYTES_DATA = 66,
	D_TEXT_STATE = 68,
	D_TEXT_LENGTH = 69,
	D_TEXT_ASCII = PYTHON_DEBUG_WORDS - 1,
};

/* Offsets that all releases from 3.12 on have had so far. */
static const struct {
	uint8_t word, value;
} fixed[] = {
	{ D_NO_GIL, 0 },
	{ D_FRAME_CODE, PY_NEW_FRAME_CODE },
	{ D_FRAME_PREVIOUS, PY_NEW_FRAME_PREVIOUS },
	{ D_FRAME_INSTR, PY_NEW_FRAME_INSTR },
	{ D_FRAME_OWNER, PY_NEW_FRAME_OWNER },
	{ D_CODE_FILENAME, PY_CODE_FILENAME },
	{ D_CODE_QUALNAME, PY_CODE_QUALNAME },
	{ D_CODE_LINETABLE, PY_CODE_LINETABLE },
	{ D_CODE_FIRST_LINE, PY_NEW_CODE_FIRST_LINE },
	{ D_OBJECT_TYPE, PY_CODE_TYPE },
	{ D_BYTES_LENGTH, PY_BYTES_LENGTH },
	{ D_BYTES_DATA, PY_BYTES_DATA },
	{ D_TEXT_STATE, PY_TEXT_STATE },
	{ D_TEXT_LENGTH, PY_TEXT_LENGTH },
	{ D_TEXT_ASCII, PY_NEW_TEXT_ASCII },
};

/* An offset in bytes as a number of words. False: it does not fit. */
static bool take_place(uint64_t offset, __u8 *ret)
{
	*ret = offset / 8;
	return offset && !(offset % 8) && offset / 8 <= UINT8_MAX;
}

bool pythonplaces_read(const uint64_t *words, struct er_python_places *ret)
{
	if (memcmp(&words[D_MAGIC], "xdebugpy", 8) || (words[D_VERSION] & PYTHON_RELEASE) != PYTHON_3_13)
		return false;
	for (size_t i = 0; i < sizeof(fixed) / sizeof(fixed[0]); i++) {
		if (words[fixed[i].word] != fixed[i].value)
			return false;
	}
	ret->pad = 0;
	return take_place(words[D_TSTATE_FRAME], &ret->tstate_frame) &&
	       take_place(words[D_TSTATE_THREAD], &ret->tstate_thread) &&
	       take_place(words[D_CODE_INSTRS], &ret->code_instrs);
}

/* --- code --- */

enum {
	KEY_FIRST = 0x200, /* offsets in _PyRuntime: the key is behind the debug offsets, and */
	KEY_LAST = 0x4000, /* before the large tables */
	KEY_BYTES = 8,     /* a word that says whether the key exists, then the key */
};

struct search {
	uint64_t addr;    /* of the code */
	uint64_t runtime; /* of _PyRuntime */
	uint64_t key;     /* offset of the field that was found; 0: none yet */
	bool differs;     /* several were found */
};

static void take(struct search *s, uint64_t offset)
{
	uint64_t key = offset / KEY_BYTES * KEY_BYTES;

	if (offset < KEY_FIRST || offset >= KEY_LAST || offset % 4)
		return;
	s->differs |= s->key && s->key != key;
	s->key = key;
}

/* Bytes of an instruction behind the operand: those of a constant. */
static unsigned constant_bytes(uint8_t opcode)
{
	return opcode == 0x83 ? 1 : opcode == 0x81 ? 4 : 0;
}

/*
 * Look at the four bytes at code[at], if an operand can be there. A compiler uses one of these forms:
 * an address relative to the next instruction, an absolute one, or an offset from a register that
 * has the address of _PyRuntime.
 */
static void look(struct search *s, const unsigned char *code, size_t at)
{
	uint8_t opcode = code[at - 2], modrm = code[at - 1];
	int32_t value;

	memcpy(&value, code + at, sizeof(value));
	if ((modrm & 0xc7) == 0x05)
		take(s, s->addr + at + 4 + constant_bytes(opcode) + value - s->runtime);
	else if ((modrm & 0xc0) == 0x80 && (modrm & 7) != 4 &&
		 (opcode == 0x8d || opcode == 0x8b || opcode == 0x83)) /* lea, mov, cmp */
		take(s, value);
	else if ((modrm & 0xf8) == 0xb8) /* mov to a register */
		take(s, (uint32_t)value - s->runtime);
	else if (opcode == 0x81 && (modrm & 0xf8) == 0xc0) /* add */
		take(s, value);
}

bool pythonplaces_key(const unsigned char *code, size_t size, uint64_t addr, uint64_t runtime, uint64_t *ret)
{
	struct search s = { .addr = addr, .runtime = runtime };

	for (size_t at = 2; at + 4 <= size; at++)
		look(&s, code, at);
	*ret = runtime + s.key + 4;
	return s.key && !s.differs;
}
