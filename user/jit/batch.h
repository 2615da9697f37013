/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Functions of generated code, as a parser returns them. The worker fills a batch in memory that
 * it shares with the recorder, so a batch has offsets and no pointers.
 */
#ifndef USER_JIT_BATCH_H
#define USER_JIT_BATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	JIT_NAME_MAX = 1024, /* bytes; a longer name is cut */
	JIT_SIZE_MAX = 1 << 30, /* bytes of code; readers of experiments keep sizes in an int */
};

/* User addresses are below this. */
#define JIT_ADDRESS_END (1ULL << 47)

/* The formats of files with names of generated code. JIT_HOTSPOT: copies of a Java VM's memory (hotspot.h). */
enum jit_format { JIT_PERF_MAP, JIT_DUMP, JIT_HOTSPOT };

/* JIT_INTERPRETER and the last five are only in answers to JIT_HOTSPOT. */
enum jit_kind {
	JIT_FUNCTION,
	JIT_GONE,        /* since time_ns no function starts at `start`; size is 1, the name does not count */
	JIT_INTERPRETER, /* its name does not count */
	JIT_LINES,       /* of the function that follows: the name is its source, a NUL, struct jit_line[] */
	JIT_ALIAS,       /* of the function that follows: the name is another name for it */
	JIT_WANTED,      /* `start` is the address of memory that the parser needs; no name */
	JIT_LAYOUT,      /* the name is a struct hotspot_layout */
	JIT_VM,          /* the name is a struct er_hotspot */
	JIT_METHOD,      /* `start` is the id of a method, the name describes it (docs/format.md, dynscopes) */
	JIT_SCOPES,      /* of the code at `start`: from which methods it comes. No name: it has none */
};

/* From this offset of the code on, it has this line; 0: unknown, or of another source. */
struct jit_line {
	uint32_t offset, line;
};

struct jit_entry {
	uint64_t start;    /* address of the code */
	uint64_t time_ns;  /* when it was made; 0: unknown */
	uint64_t code_at;  /* offset of its code in the file; 0: the file does not have it */
	uint32_t size;     /* of the code, in bytes */
	uint32_t name;     /* offset among the names */
	uint32_t name_len; /* without a NUL */
	uint32_t kind;     /* enum jit_kind */
};

/* The caller provides the memory. */
struct jit_batch {
	struct jit_entry *entries;
	size_t n, room;
	char *names;
	size_t nnames, names_room; /* in bytes */
};

/* True if code of this size can be at this address. */
static inline bool jit_code_fits(uint64_t start, uint64_t size)
{
	return size && size <= JIT_SIZE_MAX && start && start < JIT_ADDRESS_END - size;
}

/*
 * Append a function; `e` has all but its name. The name ends at a NUL or after JIT_NAME_MAX bytes. A function without a
 * name, or whose code cannot exist, is left out. False: the batch has no room for it.
 */
bool jit_batch_add(struct jit_batch *b, const struct jit_entry *e, const char *name, size_t len);

/*
 * Append an entry of another kind than code; `name` may be anything. False: there is no room.
 */
bool jit_batch_note(struct jit_batch *b, enum jit_kind kind, uint64_t start, const void *name, size_t len);
/* The same in parts: put bytes behind the names, then make the entry, whose name begins at offset `name`. */
bool jit_batch_put(struct jit_batch *b, const void *p, size_t n);
bool jit_batch_close(struct jit_batch *b, enum jit_kind kind, uint64_t start, size_t name);

/*
 * True if the entry is a function, or says that one is gone, and jit_batch_add could have made it. `nnames` is the
 * length of all names.
 */
bool jit_entry_is_sound(const struct jit_entry *e, size_t nnames);

#endif
