/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where CPython keeps what a stack walk needs. Both sides compile this file. Each release may move
 * everything, so there is one set of numbers for each known release: 3.11, from its headers.
 *
 * A thread's state (PyThreadState) has a list of _PyCFrame, one for each running call of the
 * interpreter's loop. Such an element lies in the C frame of that call. That shows which C frame it
 * belongs to. Its current_frame is the first of the Python frames that this call of the loop runs:
 * most calls from Python to Python do not call the loop again. The last of them has is_entry set.
 */
#ifndef ER_PYTHON_H
#define ER_PYTHON_H

/* A release: Py_Version without its last two bytes. */
enum {
	PYTHON_OLD = 0x03000000, /* older than 3.11: it has no Py_Version */
	PYTHON_3_11 = 0x030b0000,
	PYTHON_RELEASE = 0xffff0000,
};

/* struct pyruntimestate */
enum {
	PY_GILSTATE_TSTATE = 576, /* the thread that holds the GIL */
	PY_GILSTATE_KEY = 592 + 4, /* the key of pthread_getspecific() for a thread's own state */
	PY_GILSTATE_WORDS = 3,    /* from the first to the second */
};

/* struct _ts: from cframe to thread_id */
enum { PY_TSTATE_CFRAME = 56, PY_TSTATE_THREAD = 152, PY_TSTATE_WORDS = 13 };

/* struct _PyCFrame: current_frame, then previous */
enum { PY_CFRAME_CURRENT = 8 };

/* struct _PyInterpreterFrame: from f_code to owner */
enum {
	PY_FRAME_CODE = 32,
	PY_FRAME_PREVIOUS = 48,
	PY_FRAME_INSTR = 56,
	PY_FRAME_ENTRY = 64, /* the word's fifth byte is is_entry */
	PY_FRAME_WORDS = 5,
};

/* PyCodeObject: the words from ob_type to co_linetable */
enum {
	PY_CODE_TYPE = 8,
	PY_CODE_SIZE = 16,        /* in code units of two bytes */
	PY_CODE_FLAGS = 48,       /* and counters in the same word, which change */
	PY_CODE_FIRST_LINE = 72,
	PY_CODE_FILENAME = 112,
	PY_CODE_QUALNAME = 128,
	PY_CODE_LINETABLE = 136,
	PY_CODE_WORDS = 17,
	PY_CODE_INSTRS = 184,
};

/* PyUnicodeObject of the compact form, PyBytesObject */
enum {
	PY_TEXT_LENGTH = 16,
	PY_TEXT_STATE = 32,       /* bits 2 to 4: bytes of a character; 5: compact; 6: ASCII */
	PY_TEXT_ASCII = 48,       /* where characters begin if it is ASCII, */
	PY_TEXT_OTHER = 72,       /* and if not */
	PY_BYTES_LENGTH = 16,
	PY_BYTES_DATA = 32,
};

/*
 * glibc's struct pthread: the first of the pointers to blocks of 32 keys, each a sequence number
 * and the value. libthread_db's _thread_db_pthread_specific has the same numbers.
 */
enum { PTHREAD_SPECIFIC = 0x510, PTHREAD_BLOCK = 32, PTHREAD_KEY_BYTES = 16, PTHREAD_KEYS = 1024 };

#endif
