/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Python frames of the current thread (bpf/python.h). A walk of user frames that meets an
 * interpreter's file calls er_python_begin(). From then on it compares each C frame with the
 * address of the innermost mark: a _PyCFrame, or from 3.12 on an entry frame. If the C frame contains it,
 * er_python_frame() gives the Python frames of that call of the loop, one each time.
 *
 * The thread's state: with 3.11, if the thread that holds the GIL is this one, it is that thread's
 * state. This is true whenever Python code runs, also in an interpreter other than the main one. A
 * thread that waits has mostly released the GIL. Then it is the value of the key that
 * PyGILState_Ensure() uses. From 3.12 on the key always has the state that the thread used last. Both
 * are checked: the state has the address of its thread's block.
 *
 * The process may contain anything: every number is checked or only compared.
 */
#ifndef PYTHON_BPF_H
#define PYTHON_BPF_H

#include "bpf/arch.bpf.h"
#include "bpf/code.bpf.h"
#include "bpf/python.h"

enum {
	PYTHON_UNITS = 1 << 24, /* the most instructions of a function */
	PYTHON_DEEP = 4096,     /* the most frames of a call of the loop that are searched for its mark */
};

/* What a walk knows of the thread's Python frames. */
struct python_walk {
	__u64 base;       /* address of the interpreter's file offset 0; 0: no interpreter was met */
	__s64 code_type;  /* distance of PyCode_Type from there */
	__u32 release;
	struct er_python_places places;
	__u64 sp;         /* of the C frame in progress */
	__u64 mark;       /* the innermost one that was not passed yet; 0: there is none */
	__u64 current;    /* the first Python frame of its call of the loop */
	__u64 previous;   /* the mark before it; from 3.12 on, the first frame of the call before */
	__u64 at;         /* the next Python frame; 0: continue with C frames */
	__u64 frame;      /* the last one, as er_frame(); 0: it is the interpreter's own */
	bool lost;        /* some frames could not be read */
	__u32 nunnamed;
	__u64 words[PY_CODE_WORDS]; /* that were read last */
	__u64 f[PY_NEW_FRAME_WORDS];
};

static __always_inline bool python_read(void *to, __u32 size, __u64 at)
{
	return !bpf_probe_read_user(to, size, (void *)at);
}

static __always_inline bool python_is_new(const struct python_walk *py)
{
	return py->release != PYTHON_3_11;
}

static __always_inline bool python_read_cframe(struct python_walk *py, __u64 at)
{
	py->mark = 0;
	if (!at || !python_read(py->words, 16, at + PY_CFRAME_CURRENT))
		return false;
	py->mark = at;
	py->current = py->words[0];
	py->previous = py->words[1];
	return true;
}

/* On 6.1 what bpf_loop() passes on must be on the stack. */
struct python_search {
	struct python_walk *py;
};

/* Look at a frame of the call of the loop whose first frame is py->current. Stops at its entry frame. */
static long python_search(__u32 i, struct python_search *s)
{
	struct python_walk *py = s->py;
	__u64 at = py->at, caller;

	if (!at || at & 7 || !python_read(py->f, sizeof(py->f), at))
		return 1;
	caller = py->f[PY_NEW_FRAME_PREVIOUS / 8];
	py->at = caller;
	if ((py->f[PY_NEW_FRAME_OWNER / 8] >> PY_NEW_FRAME_OWNER % 8 * 8 & 0xff) != PY_OWNER_ENTRY)
		return 0;
	if (at == py->current) { /* a call without a frame of its own yet */
		py->current = caller;
		return !caller;
	}
	py->mark = at;
	py->previous = caller;
	return 1;
}

/* From 3.12 on: find the mark of the call of the loop whose first frame is `current`. */
__noinline int er_python_search(struct python_walk *py, __u64 current)
{
	struct python_search s = { py };

	if (!py)
		return 0;
	py->mark = 0;
	py->at = py->current = current;
	bpf_loop(PYTHON_DEEP, python_search, &s, 0);
	py->at = 0;
	py->lost |= !py->mark && py->current;
	return 0;
}

/* Read the thread's state, check whose it is, and store its field for frames in *ret. */
static __always_inline bool python_take_state(struct python_walk *py, __u64 tstate, __u64 block, __u64 *ret)
{
	return tstate && python_read(&py->words[0], 8, tstate + py->places.tstate_thread * 8) &&
	       py->words[0] == block && python_read(ret, 8, tstate + py->places.tstate_frame * 8);
}

/* The thread's own state, as pthread_getspecific() would find it. */
static __always_inline __u64 python_own_state(__u64 block, __u32 key)
{
	__u64 at = 0;

	if (key >= PTHREAD_KEYS ||
	    !python_read(&at, 8, block + PTHREAD_SPECIFIC + key / PTHREAD_BLOCK * 8) || !at ||
	    !python_read(&at, 8, at + key % PTHREAD_BLOCK * PTHREAD_KEY_BYTES + 8))
		return 0;
	return at;
}

/* Find the thread's state. Returns false if it has none: then it runs no Python code. */
static __always_inline bool python_find_state(struct python_walk *py, __s64 runtime, __s64 key_at, __u64 *ret)
{
	__u64 block = arch_thread_block(bpf_get_current_task_btf()), holder = 0;
	__u32 key = 0;

	if (!python_read(&key, 4, py->base + key_at) ||
	    (!python_is_new(py) && !python_read(&holder, 8, py->base + runtime + PY_GILSTATE_TSTATE))) {
		py->lost = true;
		return false;
	}
	return python_take_state(py, holder, block, ret) ||
	       python_take_state(py, python_own_state(block, key), block, ret);
}

/* Find the innermost mark. */
__noinline int er_python_begin(struct python_walk *py, __s64 runtime, __s64 key_at)
{
	__u64 frames = 0;

	if (!py)
		return 0;
	py->mark = py->at = 0;
	if (!python_find_state(py, runtime, key_at, &frames))
		return 0;
	if (!python_is_new(py))
		py->lost |= !python_read_cframe(py, frames);
	else if (py->release == PYTHON_3_12 && !python_read(&frames, 8, frames))
		py->lost = true;
	else
		er_python_search(py, frames);
	return 0;
}

/*
 * Read the code object's fields, and set the key. 0: this is no code object. A function of its own,
 * because on 6.1 the stack has no room for it together with er_python_define().
 */
__noinline int er_python_identify(struct python_walk *py, struct code_walk *c, __u64 code)
{
	__u64 h;

	if (!py || !c || code & 7 || !python_read(py->words, sizeof(py->words), code + PY_CODE_TYPE) ||
	    py->words[0] != py->base + py->code_type)
		return 0;
	h = code_hash_begin(c);
#pragma clang loop unroll(disable)
	for (int i = 0; i < PY_CODE_WORDS; i++) {
		if (i != (PY_CODE_FLAGS - PY_CODE_TYPE) / 8)
			h = code_mix(h, py->words[i]);
	}
	c->key.code = code;
	c->key.print = h;
	return 1;
}

static __always_inline __u64 python_word(const struct python_walk *py, __u32 offset)
{
	return py->words[(offset - PY_CODE_TYPE) / 8];
}

/* Copy a text of at most `max` bytes, a power of two. Leaves ret->n 0 if it cannot be read. */
static __always_inline void python_text(struct python_walk *py, __u64 at, struct er_code_text *ret,
					__u8 *to, __u32 max)
{
	__u32 state = 0, width, bytes;
	__u64 n = 0, is_new = python_is_new(py);

	if (!at || !python_read(&n, 8, at + PY_TEXT_LENGTH) ||
	    !python_read(&state, 4, at + PY_TEXT_STATE) || !(state & 1 << 5))
		return;
	width = state >> 2 & 7;
	if (width != 1 && width != 2 && width != 4)
		return;
	if (n > (max - 4) / width)
		n = (max - 4) / width;
	bytes = n * width;
	if (state & 1 << 6)
		at += is_new ? PY_NEW_TEXT_ASCII : PY_TEXT_ASCII;
	else
		at += is_new ? PY_NEW_TEXT_OTHER : PY_TEXT_OTHER;
	barrier_var(bytes); /* the verifier needs the mask right before its use */
	bytes &= max - 1;
	if (!python_read(to, bytes, at))
		return;
	ret->n = n;
	ret->width = width;
}

static __always_inline void python_table(union code_record *c, __u64 at)
{
	__u64 n = 0;

	if (!at || !python_read(&n, 8, at + PY_BYTES_LENGTH))
		return;
	if (n >= ER_CODE_TABLE)
		n = ER_CODE_TABLE - 1;
	barrier_var(n);
	n &= ER_CODE_TABLE - 1;
	if (python_read(c->bytes + sizeof(c->c), n, at + PY_BYTES_DATA))
		c->c.table_size = n;
}

/* Read the function whose fields are in py->words. False: not readable now. */
static __always_inline bool python_take_code(struct python_walk *py, struct code_walk *w)
{
	struct er_code *c = &w->record.c;

	code_begin(w, ER_CODE_PYTHON);
	c->first_line = python_is_new(py) ? python_word(py, PY_NEW_CODE_FIRST_LINE) >> 32 :
					    python_word(py, PY_CODE_FIRST_LINE);
	c->units = python_word(py, PY_CODE_SIZE);
	python_text(py, python_word(py, PY_CODE_QUALNAME), &c->name, c->name_bytes, ER_CODE_NAME);
	python_text(py, python_word(py, PY_CODE_FILENAME), &c->path, c->path_bytes, ER_CODE_PATH);
	python_table(&w->record, python_word(py, PY_CODE_LINETABLE));
	return c->name.n && c->path.n && c->units && c->units <= PYTHON_UNITS;
}

/* Read and send the function in c->key. Returns its number; 0: that is not possible now. */
__noinline int er_python_define(struct python_walk *py, struct code_walk *c)
{
	return py && c && python_take_code(py, c) ? er_code_send(c) : 0;
}

/* The number of the function in c->key; 0: not known. */
static __always_inline __u32 python_number(struct python_walk *py, struct code_walk *c)
{
	__u32 known = code_known(c);

	return known ? known : er_python_define(py, c);
}

/* The other Python frames cannot be read. */
static __always_inline void python_give_up(struct python_walk *py)
{
	py->lost = true;
	py->at = py->mark = 0;
}

/* Continue after the last frame of this call of the loop, whose caller is known. */
static __always_inline void python_next_call(struct python_walk *py, __u64 caller)
{
	py->at = 0;
	if (python_is_new(py))
		er_python_search(py, py->previous);
	else if (!python_read_cframe(py, py->previous) || py->current != caller)
		python_give_up(py);
}

/* Forget the walk before this one. */
static __always_inline void python_reset(struct python_walk *py)
{
	py->base = py->mark = py->at = 0;
	py->lost = false;
	py->nunnamed = 0;
}

/* True if some Python frames could not be read, or the walk of C frames ended before them. */
static __always_inline bool python_is_lost(const struct python_walk *py)
{
	return py->lost || py->at || (py->mark && py->current);
}

/* The field of the frame in py->f at this offset. */
static __always_inline __u64 python_field(const struct python_walk *py, __u32 old, __u32 new)
{
	return python_is_new(py) ? py->f[(new - PY_NEW_FRAME_CODE) / 8] : py->f[(old - PY_FRAME_CODE) / 8];
}

/* Set py->frame for the code and the instruction of py->f. */
static __always_inline void python_name(struct python_walk *py, struct code_walk *c)
{
	__u64 code = python_field(py, PY_FRAME_CODE, PY_NEW_FRAME_CODE), unit;
	__u32 number = 0;

	if (er_python_identify(py, c, code)) {
		/* A frame that the interpreter puts around __init__(): its file is the name. */
		if (python_is_new(py) && python_word(py, PY_CODE_FILENAME) == python_word(py, PY_CODE_QUALNAME)) {
			py->frame = 0;
			return;
		}
		number = python_number(py, c);
	}
	if (!number)
		py->nunnamed++;
	unit = (python_field(py, PY_FRAME_INSTR, PY_NEW_FRAME_INSTR) - code - py->places.code_instrs * 8) / 2;
	if (unit >= PYTHON_UNITS) /* before its first instruction */
		unit = 0;
	py->frame = er_frame(ER_CODE_FILE + number, number ? unit + 1 : 1);
}

/* Set py->frame to the Python frame at py->at, and py->at to its caller. */
__noinline int er_python_frame(struct python_walk *py, struct code_walk *c)
{
	__u64 caller;

	if (!py || !c)
		return 0;
	py->frame = er_frame(ER_CODE_FILE, 1);
	if (!python_read(py->f, sizeof(py->f), py->at + (python_is_new(py) ? PY_NEW_FRAME_CODE : PY_FRAME_CODE))) {
		python_give_up(py);
		py->nunnamed++;
		return 0;
	}
	python_name(py, c);
	caller = python_field(py, PY_FRAME_PREVIOUS, PY_NEW_FRAME_PREVIOUS);
	if (python_is_new(py) ? caller == py->mark :
				py->f[(PY_FRAME_ENTRY - PY_FRAME_CODE) / 8] >> 32 & 0xff)
		python_next_call(py, caller);
	else if (!(py->at = caller))
		python_give_up(py);
	return 0;
}

#endif
