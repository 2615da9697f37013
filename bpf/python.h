/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where CPython keeps what a stack walk needs. Both sides compile this file. Each release may move
 * everything. So there is one set of numbers for each known release, from its headers. From 3.13 on
 * the interpreter's file says most of them (_Py_DebugOffsets); user/unwind/pythonfile.c compares.
 *
 * A thread's state (PyThreadState) leads to the Python frames, from callee to caller. One call of the
 * interpreter's loop runs several of them: most calls from Python to Python do not call the loop
 * again. Something in the C frame of that call marks where they end:
 *
 * 3.11: a _PyCFrame, which is in a list of its own. Its current_frame is the first of the Python frames.
 * The last one has is_entry set.
 * From 3.12 on: a Python frame of another kind, the entry frame. It is the caller of the last one.
 */
#ifndef ER_PYTHON_H
#define ER_PYTHON_H

#ifndef __bpf__
#include <linux/types.h>
#endif

/* A release: Py_Version without its last two bytes. */
enum {
	PYTHON_OLD = 0x03000000, /* older than 3.11: it has no Py_Version */
	PYTHON_3_11 = 0x030b0000,
	PYTHON_3_12 = 0x030c0000,
	PYTHON_3_13 = 0x030d0000,
	PYTHON_RELEASE = 0xffff0000,
	PYTHON_STRANGE = 1, /* added to a known release: this build of it is not known */
};

static inline int python_is_known(__u32 release)
{
	return release == PYTHON_3_11 || release == PYTHON_3_12 || release == PYTHON_3_13;
}

/*
 * 3.11, struct pyruntimestate: the thread that holds the GIL, and the key of pthread_getspecific()
 * for a thread's own state.
 */
enum { PY_GILSTATE_TSTATE = 576, PY_GILSTATE_KEY = 592 + 4 };

/* struct _PyCFrame of 3.11: current_frame, then previous. Of 3.12: current_frame is the first field. */
enum { PY_CFRAME_CURRENT = 8 };

/* struct _PyInterpreterFrame of 3.11: from f_code to owner */
enum {
	PY_FRAME_CODE = 32,
	PY_FRAME_PREVIOUS = 48,
	PY_FRAME_INSTR = 56,
	PY_FRAME_ENTRY = 64, /* the word's fifth byte is is_entry */
	PY_FRAME_WORDS = 5,
};

/* From 3.12 on: from f_code to the word of the field owner, and what owner is in an entry frame */
enum {
	PY_NEW_FRAME_CODE = 0,
	PY_NEW_FRAME_PREVIOUS = 8,
	PY_NEW_FRAME_INSTR = 56,
	PY_NEW_FRAME_OWNER = 70,
	PY_NEW_FRAME_WORDS = 9,
	PY_OWNER_ENTRY = 3,
};

/* PyCodeObject: the words from ob_type to co_linetable */
enum {
	PY_CODE_TYPE = 8,
	PY_CODE_SIZE = 16,        /* in code units of two bytes */
	PY_CODE_FLAGS = 48,       /* and counters in the same word, which change */
	PY_CODE_FIRST_LINE = 72,
	PY_NEW_CODE_FIRST_LINE = 68, /* from 3.12 on */
	PY_CODE_FILENAME = 112,
	PY_CODE_QUALNAME = 128,
	PY_CODE_LINETABLE = 136,
	PY_CODE_WORDS = 17,
};

/* What else differs between releases, in words of 8 bytes. */
struct er_python_places {
	__u8 tstate_frame;  /* PyThreadState: cframe, or from 3.13 on current_frame; */
	__u8 tstate_thread; /* thread_id */
	__u8 code_instrs;   /* PyCodeObject: co_code_adaptive */
	__u8 pad;
};

/* PyUnicodeObject of the compact form, PyBytesObject */
enum {
	PY_TEXT_LENGTH = 16,
	PY_TEXT_STATE = 32,       /* bits 2 to 4: bytes of a character; 5: compact; 6: ASCII */
	PY_TEXT_ASCII = 48,       /* where characters begin if it is ASCII, */
	PY_TEXT_OTHER = 72,       /* and if not; */
	PY_NEW_TEXT_ASCII = 40,   /* both from 3.12 on */
	PY_NEW_TEXT_OTHER = 56,
	PY_BYTES_LENGTH = 16,
	PY_BYTES_DATA = 32,
};

/*
 * glibc's struct pthread: the first of the pointers to blocks of 32 keys, each a sequence number
 * and the value. libthread_db's _thread_db_pthread_specific has the same numbers.
 */
enum { PTHREAD_SPECIFIC = 0x510, PTHREAD_BLOCK = 32, PTHREAD_KEY_BYTES = 16, PTHREAD_KEYS = 1024 };

#endif
