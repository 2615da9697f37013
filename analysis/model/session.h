/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a tool has open: the experiments, and the objects that they share. Load objects,
 * functions and frames exist once for all experiments: a libc function in fifty
 * processes is one function. Ids are dense and start at 0, so that other data can be
 * kept in arrays.
 */
#ifndef MODEL_SESSION_H
#define MODEL_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/base/alloc.h"
#include "analysis/base/map.h"
#include "analysis/base/vec.h"
#include "analysis/experiment/experiment.h"

/*
 * How an object's functions are shown: one by one, as one line, or only where other
 * objects call into it.
 */
enum show { SHOW_ALL, SHOW_HIDE, SHOW_API };

struct loadobj {
	uint32_t id;
	const char *path; /* as recorded; pseudo objects: "<Total>", "LinuxKernel", … */
	/*
	 * Where several recordings have different builds of one path, each build is an object:
	 * the archived build id, and the founder whose archive has it. NULL: not told apart.
	 */
	const char *build;
	const struct experiment *recording;
	bool met_again; /* another recording has this build at this path, too */
	const char *name; /* in lists: "<libc.so.6>", or the pseudo name */
	bool pseudo;
	bool kernel;
	enum show show;
	struct func *hidden;  /* the line for a hidden object; created when needed */
	struct symtab *symtab;
	struct lineinfo *lines; /* source.h */
	struct code *code;
	bool lines_tried, code_tried;
	const char *opened_as; /* the file that symbols were read from; NULL: none */
	struct diag diag;      /* warnings; `objects` shows them */
	bool tried;             /* symbols were looked for */
	size_t nsyms;
	size_t nsyms_met;      /* symbols, from the first one, that have functions */
	struct map by_name; /* outline.c: hash of a name, to index of the symbol + 1 */
};

enum func_flags {
	FUNC_PSEUDO = 1 << 0, /* not code: <Total>, <Unknown>, <Truncated-stack>, … */
	FUNC_STATIC = 1 << 1, /* <static>@0x…: code without a symbol */
	FUNC_INLINED = 1 << 2, /* inlined calls of a function; has no code of its own */
	FUNC_INTERPRETED = 1 << 3, /* an interpreter runs it; its offsets are not machine code's */
};

/* About a part that was split off a function; filled by outline.h. */
struct outline {
	struct func *parent; /* NULL: unknown */
	const char *names[2]; /* short, long; NULL: not needed yet */
	bool known;	      /* the parent was looked for */
};

struct func {
	uint32_t id;
	struct loadobj *obj;
	const char *name;       /* `name short`: demangled, without parameters */
	const char *long_name;  /* fully demangled */
	const char *mangled;
	const char *aliases;    /* NULL: none */
	const char *srcfile;    /* of an inlined function: its declaration's file; NULL: unknown */
	uint64_t addr, size;    /* in the object's own address space */
	unsigned flags;
	struct outline *outline; /* NULL: not a part of another function */
};

/* The offset of a frame whose call no instruction made: a call of outlined code. */
static const uint64_t FRAME_OUTLINED = UINT64_MAX;

/*
 * A location in code; stacks consist of frames. Interned: equal frames have one id. If
 * calls were inlined at a location and are shown, it has several frames: one for the
 * function whose code it is (its body), and one for each inlined call around it.
 */
struct frame {
	struct func *func;
	struct func *body; /* the code's function: func, or the one that func was inlined into */
	uint64_t offset;   /* from the start of body, or FRAME_OUTLINED */
	uint32_t depth;	   /* 0: func's own code; n: the n-th level of inlined calls in body */
};

/*
 * A frame as it is kept: there may be ten million. frame_at and frame_func (below) read it. Most
 * frames are a function's own code; the rest of the others is in an array.
 */
struct kept_frame {
	uint32_t func;    /* id */
	uint32_t inlined; /* 0: own code; else index into session.inlined + 1 */
	uint64_t offset;
};

struct kept_inlined {
	struct func *body;
	uint32_t depth;
};

/* A resolved stack, interned over all experiments. Frames are leaf first. */
struct stack {
	uint32_t first; /* index into session.stack_frames, which has frame ids */
	uint32_t n;
};

struct session {
	VEC(struct experiment *) experiments; /* founders and subs, by id - 1; owned */
	VEC(const char *) groups; /* names; each session_add makes a group, for comparison */
	VEC(struct loadobj *) objects;
	VEC(struct func *) funcs;
	VEC(struct kept_frame) frames;
	VEC(struct kept_inlined) inlined;
	VEC(struct stack) stacks;
	VEC(uint32_t) stack_frames;
	struct func *total, *unknown, *truncated, *unwind_failed;
	struct strtab names;
	struct arena arena;
	struct diag *diag;            /* the tool's; borrowed */
	struct session_impl *impl;    /* intern tables, search path */
};

static inline struct func *frame_func(const struct session *s, uint32_t id)
{
	return s->funcs.data[s->frames.data[id].func];
}

static inline struct frame frame_at(const struct session *s, uint32_t id)
{
	const struct kept_frame *k = &s->frames.data[id];
	struct func *f = s->funcs.data[k->func];
	const struct kept_inlined *in;

	if (!k->inlined)
		return (struct frame){ .func = f, .body = f, .offset = k->offset };
	in = &s->inlined.data[k->inlined - 1];
	return (struct frame){ .func = f, .body = in->body, .offset = k->offset,
			       .depth = in->depth };
}

struct session *session_new(struct diag *d);
void session_free(struct session *s);

/*
 * Set which sub-experiments session_add opens from now on: "on" all, "off" none,
 * "=REGEX" those whose lineage (the name without its suffix) or program name matches.
 * 0, or -1 after reporting.
 */
int session_descendants(struct session *s, const char *which, struct diag *d);
/*
 * Open an experiment, with its sub-experiments, or a group file. 0, or -1 after
 * reporting; experiments opened before the error stay.
 */
int session_add(struct session *s, const char *path);
/*
 * Set the origins (experiment.h) of all experiments: segments of one recording get the same, but not those
 * in different groups if groups are compared. session_add keeps what was said last. (segments.c)
 */
void session_join(struct session *s, bool compared);
/* Whether two experiments are the same segment, as two dumps of a flight recorder may have. Finds the first pair. */
bool session_has_copies(const struct session *s, const struct experiment **one, const struct experiment **other);
/* How many nanoseconds of recordings lie between segments that are open: other segments have them. */
int64_t session_missing_ns(const struct session *s);

/*
 * Resolve stack `index` of e at time_ns (relative to e's start). Returns an id into
 * s->stacks. A stack is resolved once for each state of the address map. Index -1 gives
 * the stack <Unknown>.
 */
uint32_t session_resolve(struct session *s, struct experiment *e, int64_t index, int64_t time_ns);

/* The id of the stack <Unknown>, which has one frame. */
uint32_t session_no_stack(const struct session *s);
/*
 * Resolve a stack that a packet of another process refers to. It is looked for in the
 * experiments of process pid in the same recording, then in the experiment of all
 * processes that were not followed, then in the founder. time_ns is absolute. <Unknown>
 * if it is not found or uid is 0.
 */
uint32_t session_resolve_in_process(struct session *s, const struct experiment *founder, int64_t pid,
				    uint64_t uid, int64_t time_ns);

/*
 * The functions with this name (short, long or mangled), by id, in all recorded stacks;
 * the caller frees the vector with vec_free.
 */
typedef VEC(struct func *) func_vec;
void session_find_funcs(struct session *s, const char *name, func_vec *ret);
/* An object by path or by name, with or without angle brackets; NULL: none. */
struct loadobj *session_find_object(struct session *s, const char *name);
/* Create all load objects that the maps name, not only those with samples. */
void session_load_objects(struct session *s);
/*
 * Open a recorded file. -1 with *why ("no such file") if it cannot be opened, or was
 * modified after the last experiment ended.
 */
int session_open_recorded(const struct session *s, const char *path, const char **why);
/* Add an object that no experiment names, with all its functions. Problems go into its diag. */
struct loadobj *session_add_object(struct session *s, const char *path);
/* Where source files are searched (search.h). */
struct search_path *session_search(struct session *s);
/*
 * Show outlined code as called by the function that it was split off, under a name that
 * says so (outline.h); or as recorded. On by default. Tallies made before become
 * invalid.
 */
void session_show_outlined(struct session *s, bool on);
bool session_shows_outlined(const struct session *s);
/*
 * Show frames of inlined calls. Off by default: it needs the DWARF of all objects in
 * stacks, which may have to be downloaded. Tallies made before become invalid.
 */
void session_show_inlined(struct session *s, bool on);
bool session_shows_inlined(const struct session *s);
/* Which frames are shown in stacks that have interpreted functions. */
enum interpreted_shown {
	INTERPRETED_ONLY,        /* all but those of the interpreter's own object; the default */
	INTERPRETED_AND_MACHINE, /* all */
	INTERPRETED_HIDDEN,      /* machine code only */
};
/* Tallies made before become invalid. */
void session_show_interpreted(struct session *s, enum interpreted_shown shown);
/* The function that represents a hidden object in lists. */
struct func *session_hidden_func(struct session *s, struct loadobj *o);

#endif
